"""Nodes with GPUs as our agent and the schedulers tell of them, for tests of alerts; one sample a minute."""

from collections.abc import Mapping, Sequence

LONG = "1x200"
NOTHING: Mapping[str, str] = {}
STATES = ("ready", "draining", "drained", "down", "maintenance", "unknown")


def series(name: str, values: str, /, **labels: str) -> dict[str, str]:
    """One input series of promtool."""
    inner = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return {f"{name}{{{inner}}}": values}


def agent(
    node: str, *, up: str = LONG, told: str = LONG, gpus: int = 2, cluster: str = "c", more: Mapping[str, str] = NOTHING
) -> dict[str, str]:
    """An agent and its GPUs.

    Args:
        node: where it runs.
        up: whether it answers its scrape.
        told: samples of all that it tells; end them with ``stale`` where a scrape fails.
        gpus: how many GPUs it tells of.
        cluster: of the node.
        more: samples in place of ``told``, by the name of a metric without ``gpuscope_``.
    """
    at = {"cluster": cluster, "job": "gpuscope", "instance": f"{node}:9836"}
    found = series("up", up, **at)
    at["node"] = node

    def put(name: str, **labels: str) -> None:
        found.update(series(f"gpuscope_{name}", more.get(name, told), **at, **labels))

    put("up")
    put("ready")
    found |= series("gpuscope_gpus_expected", more.get("gpus_expected", told.replace("1x", f"{gpus}x")), **at)
    for index in range(gpus):
        of_gpu = {"gpu": str(index), "uuid": f"{node}-{index}"}
        put("gpu_info", **of_gpu, model="NVIDIA H100 80GB HBM3", serial=f"sn-{node}-{index}")
        put("gpu_up", **of_gpu)
    return found


def slurm_node(node: str, state: str = "ready", *, held: int = 0, gpus: int = 2, cluster: str = "c") -> dict[str, str]:
    """A node as our collector sees it in Slurm; ``state`` may be samples by state, such as ``ready:10 down:50``."""
    at = {"cluster": cluster, "job": "collector", "instance": "head:9837", "scheduler": "slurm", "exported_node": node}
    spans = [part.split(":") for part in state.split()] if ":" in state else [[state, "200"]]
    found: dict[str, str] = {}
    for each in STATES:
        values = " ".join(f"{int(word == each)}x{int(length) - 1}" for word, length in spans)
        found |= series("gpuscope_scheduler_node_state", values, **at, state=each)
    found |= series("gpuscope_scheduler_node_gpus", f"{gpus}x200", **at, kind="total")
    return found | series("gpuscope_scheduler_node_gpus", f"{held}x200", **at, kind="allocated")


def together(*parts: Mapping[str, str]) -> dict[str, str]:
    """All of them; no series may be told twice."""
    found: dict[str, str] = {}
    for part in parts:
        assert not found.keys() & part.keys(), found.keys() & part.keys()
        found |= part
    return found


def fired(name: str, severity: str, nodes: Sequence[str], cluster: str = "c") -> list[str]:
    """An alert of each of these nodes."""
    return [f'{name}{{cluster="{cluster}",node="{node}",severity="{severity}"}}' for node in nodes]
