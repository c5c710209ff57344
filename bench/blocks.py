"""A day of recorded series as blocks of a store: the label sets that a cluster of a given size has, and their samples."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuscope_generator.promql import Series

__all__ = ["LARGE", "SMALL", "Size", "label_sets", "write_blocks"]

GPUS_A_NODE = 8
WINDOW_S = 7200
"""A block of Prometheus; each is written by a run of promtool of its own, so that neither text nor memory grows."""
BYTES_A_LINE = 260
ROWS = {
    "cluster:nodes:count": ("total", "ready", "cordoned", "not_ready", "unknown"),
    "cluster:gpus:count": ("expected", "present", "healthy", "allocatable", "allocated", "idle", "missing"),
    "node:gpus:count": (
        *(
            "installed",
            "expected",
            "allocatable",
            "present",
            "missing",
            "healthy",
            "broken",
            "scheduled",
            "allocated",
            "idle",
        ),
    ),
    "workload:gpus:count": ("allocated", "idle"),
}
"""The states of each series that has several at once; of the others one is true at a time."""
SEVERAL = {
    "phase": ("Running", "Pending", "Failed", "Succeeded"),
    "what": ("compute", "sm", "tensor", "memory_bandwidth"),
    "source": ("gpuscope", "kubernetes", "cadvisor", "node"),
    "event": ("created", "scheduled", "ready"),
}
MODELS = ("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA L40S")


@dataclass(frozen=True)
class Size:
    """How large a cluster is."""

    nodes: int
    workloads: int
    teams: int
    models: int


SMALL = Size(nodes=1, workloads=1, teams=1, models=1)
LARGE = Size(nodes=1250, workloads=300, teams=40, models=3)


def _owner(size: Size, number: int) -> dict[str, str]:
    team = f"team-{number % size.teams:02}"
    kind = ("PyTorchJob", "JobSet", "Deployment", "StatefulSet")[number % 4]
    queue = f"queue-{number % 8}"
    return {"namespace": team, "workload_kind": kind, "workload": f"train-{number:04}", "team": team, "queue": queue}


def _node(size: Size, number: int) -> dict[str, str]:
    place = number % size.models
    facts = {"pool": f"pool-{place}", "instance_type": f"type-{place}", "model": MODELS[place], "vendor": "nvidia"}
    fixed = {"state": "ready", "reason": "", "driver": "580.95.05"}
    return {"node": f"gpu-{number:04}", **facts, **fixed}


def _gpus(row: dict[str, str]) -> Iterator[dict[str, str]]:
    for gpu in range(GPUS_A_NODE):
        yield row | {"gpu": str(gpu), "uuid": f"GPU-{row['node']}-0000-0000-00000000000{gpu}"}


def label_sets(series: Series, size: Size) -> Iterator[dict[str, str]]:
    """Every label set of a recorded series in a cluster of that size.

    A pod stands on each node and holds all of its GPUs; a workload has as many pods as there are nodes for it.
    """
    labels = series.labels
    rows: list[dict[str, str]] = [{}]
    if "pod" in labels or "job_id" in labels:
        rows = [
            _node(size, n) | _owner(size, n % size.workloads) | {"pod": f"train-{n:04}-0", "job_id": ""}
            for n in range(size.nodes)
        ]
    elif "workload" in labels:
        rows = [_owner(size, number) | {"class": "saturated"} for number in range(size.workloads)]
    elif "node" in labels:
        rows = [_node(size, number) for number in range(size.nodes)]
    elif "model" in labels:
        rows = [{"model": model} for model in MODELS[: size.models]]
    if "uuid" in labels:
        rows = [one for row in rows for one in _gpus(row)]
    several = SEVERAL | ({"state": ROWS[series.name]} if series.name in ROWS else {})
    for row in rows:
        known = [{"cluster": "bench"} | {label: value for label, value in row.items() if label in labels}]
        for label in labels:
            if label in several or label not in known[0]:
                known = [one | {label: value} for one in known for value in several.get(label, (f"some-{label}",))]
        yield from known


def write_blocks(promtool: Path, folder: Path, read: Sequence[Series], size: Size, span: range) -> tuple[int, int]:
    """Writes the samples of all series, one block for each two hours, and returns how many series and samples.

    Args:
        promtool: makes the blocks.
        folder: where they come to lie, in ``data``; the text of one block lies beside it meanwhile.
        read: what to write.
        size: of the cluster.
        span: the moments, in Unix seconds.

    Raises:
        SystemExit: the disk has no room for the text of one block.
    """
    heads: list[tuple[str, list[str]]] = []
    for series in read:
        inner = (
            ",".join(f'{label}="{value}"' for label, value in labels.items()) for labels in label_sets(series, size)
        )
        heads.append((f"# TYPE {series.name} gauge\n", [f"{series.name}{{{one}}} " for one in inner]))
    count = sum(len(lines) for _, lines in heads)
    needed = 2 * count * (WINDOW_S // span.step) * BYTES_A_LINE
    if needed > shutil.disk_usage(folder).free:
        raise SystemExit(f"{folder}: {needed / 1e9:.1f} GB of room are needed for the text of a block")
    written = 0
    for begin in range(span.start // WINDOW_S * WINDOW_S, span.stop, WINDOW_S):
        moments = [t for t in range(begin, begin + WINDOW_S, span.step) if t in span]
        if moments:
            _write_block(promtool, folder, heads, moments)
            written += count * len(moments)
    return count, written


def _write_block(promtool: Path, folder: Path, heads: list[tuple[str, list[str]]], moments: Sequence[int]) -> None:
    # A few courses of values, written out once: to format each sample would take longer than to store it.
    courses = [[f"{phase + math.sin(t / 3600 + phase):.2f} {t}\n" for t in moments] for phase in range(1, 8)]
    text = folder / "samples.om"
    with text.open("w") as out:
        for kind, lines in heads:
            out.write(kind)
            for number, head in enumerate(lines):
                out.writelines([head + ending for ending in courses[number % len(courses)]])
        out.write("# EOF\n")
    command = [promtool, "tsdb", "create-blocks-from", "openmetrics", "-q", text, folder / "data"]
    subprocess.run(command, check=True, timeout=1800)
    text.unlink()
