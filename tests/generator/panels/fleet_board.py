"""A small fleet for the Cluster board, as normalized series: two clusters in which a node has the same name.

In ``c``: n1 holds work on both GPUs, one of them idle; n2 has one GPU held; n3 is cordoned and lost a GPU; n4 is dead
and has no series of a GPU at all; n5 is free. In ``e`` there is an n1 with two healthy GPUs.
"""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.promql import Expression
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Panel, Table

GIB = 2**30
LONG = "x20"
LEVELS = ("level-node", "level-fleet", "level-cluster")
ALL_CHOSEN: dict[str, str | list[str]] = {"node_pool": ".*", "gpu_model": ".*", "cluster": "c"}
STATES = ("ready", "cordoned", "not_ready", "unknown")
MODELS = {"n1": "H100", "n2": "H100", "n3": "A100", "n5": "H100"}
POOLS = {"n1": "train", "n2": "train", "n3": "old", "n4": "train", "n5": "train"}


def shown(panel: Panel, index: int = 0) -> Expression:
    return panel.queries[index].expression


def column(table: Table, title: str) -> Expression:
    return next(one.expression for one in table.values if one.title == title)


def _gpu(node: str, index: int, *, cluster: str = "c", active: float | None, held: int) -> dict[str, str]:
    at = f'cluster="{cluster}",node="{node}",gpu="{index}",uuid="GPU-{cluster}-{node}-{index}"'
    up = int(active is not None)
    found = {
        f'gpu:info:union{{{at},vendor="nvidia",model="{MODELS[node]}"}}': "1",
        f"gpu:up:bool{{{at}}}": f"{up}",
        f"gpu:healthy:bool{{{at}}}": f"{up}",
    }
    if active is not None:
        found |= {
            f"gpu:allocated:ratio_union{{{at}}}": f"{held}",
            f"gpu:idle:bool{{{at}}}": f"{int(held and not active)}",
            f"gpu:compute_active:ratio_union{{{at}}}": f"{active}",
            f"gpu:tensor_active:ratio_union{{{at}}}": f"{active / 2}",
            f"gpu:memory_used_bytes:union{{{at}}}": f"{20 * GIB}",
            f"gpu:memory_total_bytes:union{{{at}}}": f"{80 * GIB}",
            f"gpu:power_watts:union{{{at}}}": f"{300 + 100 * index}",
            f"gpu:power_limit_watts:union{{{at}}}": "700",
            f"gpu:temperature_headroom_celsius:union{{{at}}}": f"{20 + index}",
        }
    if held:
        found[f'gpu:owner:union{{{at},namespace="ml",workload="job-{index}"}}'] = "1"
    return {series: value + LONG for series, value in found.items()}


def _node(node: str, state: str, *, cluster: str = "c", reason: str = "") -> dict[str, str]:
    at = f'cluster="{cluster}",node="{node}"'
    found = {f'node:state:bool{{{at},state="{each}"}}': f"{int(each == state)}" for each in STATES}
    found |= {
        f'node:info:union{{{at},pool="{POOLS[node]}",instance_type="p5"}}': "1",
        f'node:gpus:count{{{at},state="expected"}}': "2",
        f"node:ready:bool{{{at}}}": f"{int(state in ('ready', 'cordoned'))}",
        f"node:cordoned:bool{{{at}}}": f"{int(state == 'cordoned')}",
    }
    if state == "ready":
        found[f'node:gpus:count{{{at},state="allocatable"}}'] = "2"
    if reason:
        found[f'node:reason:union{{{at},reason="{reason}"}}'] = "1"
    return {series: value + LONG for series, value in found.items()}


def fleet() -> dict[str, str]:
    """The samples."""
    return {
        **_node("n1", "ready"),
        **_node("n2", "ready"),
        **_node("n3", "cordoned", reason="bad GPU"),
        **_node("n4", "not_ready"),
        **_node("n5", "ready"),
        **_gpu("n1", 0, active=1.0, held=1),
        **_gpu("n1", 1, active=0.0, held=1),
        **_gpu("n2", 0, active=0.5, held=1),
        **_gpu("n2", 1, active=0.0, held=0),
        **_gpu("n3", 0, active=0.0, held=0),
        **_gpu("n3", 1, active=None, held=0),
        **_gpu("n5", 0, active=0.0, held=0),
        **_gpu("n5", 1, active=0.0, held=0),
        **_node("n1", "ready", cluster="e"),
        **_gpu("n1", 0, cluster="e", active=1.0, held=1),
        **_gpu("n1", 1, cluster="e", active=1.0, held=1),
        'node:version:union{cluster="c",node="n1",component="driver",version="590.48"}': f"1{LONG}",
        'node:version:union{cluster="c",node="n2",component="driver",version="590.48"}': f"1{LONG}",
        'node:version:union{cluster="c",node="n3",component="driver",version="570.10"}': f"1{LONG}",
    }


def on_board(
    folder: Path,
    samples: dict[str, str],
    expected: dict[str | Expression, dict[str, float] | None],
    *,
    at: str = "2m",
    every: str = "30s",
    only: tuple[str, ...] = LEVELS,
    settings: Settings | None = None,
    **chosen: str | list[str],
) -> None:
    """What the panels give, all of cluster ``c`` chosen where nothing else is.

    Without rule files the samples are what rules record.
    """
    expect(
        folder,
        samples,
        expected,
        at=at,
        every=every,
        only=only,
        rules=bool(only),
        settings=settings,
        variables=ALL_CHOSEN | chosen,
    )
