"""Rows of the table, put together from series, wherever these were read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["GpuRow", "MigRow", "NodeRows", "Point", "read_rows"]


class Point(NamedTuple):
    """One series with its present value."""

    name: str
    labels: dict[str, str]
    value: float


@dataclass(slots=True)
class MigRow:
    """A MIG instance; ``None`` is what nobody knows."""

    uuid: str
    profile: str
    gi: int
    ci: int = 0
    sm: float | None = None
    tensor: float | None = None
    memory_used: float | None = None
    memory_total: float | None = None


@dataclass(slots=True)
class GpuRow:
    """A GPU; ``None`` is what nobody knows. Ratios 0-1, bytes, watts, °C."""

    index: int
    uuid: str
    model: str = ""
    up: bool = False
    reason: str = ""
    utilization: float | None = None
    sm: float | None = None
    tensor: float | None = None
    memory_used: float | None = None
    memory_total: float | None = None
    power: float | None = None
    power_limit: float | None = None
    temperature: float | None = None
    xids: dict[str, int] = field(default_factory=dict)
    recovery_action: str = ""
    held_down_by: list[str] = field(default_factory=list)
    mig: dict[str, MigRow] = field(default_factory=dict)


@dataclass(slots=True)
class NodeRows:
    """A machine: its GPUs, and what is wrong when it has none to show."""

    node: str
    gpus: dict[str, GpuRow] = field(default_factory=dict)
    problem: str = ""
    driver: str = ""

    def ordered(self) -> list[GpuRow]:
        """GPUs by index."""
        return sorted(self.gpus.values(), key=lambda row: (row.index, row.uuid))


_GPU = {
    "gpuscope_gpu_utilization_ratio": "utilization",
    "gpuscope_gpu_sm_active_ratio": "sm",
    "gpuscope_gpu_tensor_active_ratio": "tensor",
    "gpuscope_gpu_memory_used_bytes": "memory_used",
    "gpuscope_gpu_memory_total_bytes": "memory_total",
    "gpuscope_gpu_power_watts": "power",
}
_MIG = {
    "gpuscope_mig_sm_active_ratio": "sm",
    "gpuscope_mig_tensor_active_ratio": "tensor",
    "gpuscope_mig_memory_used_bytes": "memory_used",
    "gpuscope_mig_memory_total_bytes": "memory_total",
}
_NOT_THROTTLING = {"idle", "applications_clocks_setting"}


def read_rows(points: Iterable[Point]) -> list[NodeRows]:
    """Builds the rows of every node.

    Args:
        points: series of any number of agents; the label ``node`` tells machines apart.
    """
    nodes: dict[str, NodeRows] = {}
    for point in points:
        name, labels, value = point
        node = nodes.setdefault(labels.get("node", ""), NodeRows(labels.get("node", "")))
        if name == "gpuscope_driver_info":
            node.driver = labels["driver_version"]
        elif name == "gpuscope_driver_unavailable_info":
            node.problem = f"no driver: {labels['reason']}"
        elif "mig_uuid" in labels:
            _read_mig(_gpu(node, labels), name, labels, value)
        elif "uuid" in labels:
            _read_gpu(_gpu(node, labels), name, labels, value)
    return [nodes[name] for name in sorted(nodes)]


def _gpu(node: NodeRows, labels: dict[str, str]) -> GpuRow:
    uuid = labels["uuid"]
    if uuid not in node.gpus:
        node.gpus[uuid] = GpuRow(int(labels["gpu"]), uuid)
    return node.gpus[uuid]


def _read_mig(gpu: GpuRow, name: str, labels: dict[str, str], value: float) -> None:
    uuid = labels["mig_uuid"]
    row = gpu.mig.setdefault(uuid, MigRow(uuid, labels["profile"], int(labels["gi"])))
    if name in _MIG:
        setattr(row, _MIG[name], value)
    elif name == "gpuscope_mig_info":
        row.ci = int(labels["ci"])


def _read_gpu(row: GpuRow, name: str, labels: dict[str, str], value: float) -> None:
    match name:
        case "gpuscope_gpu_info":
            row.model = labels["model"]
        case "gpuscope_gpu_up":
            row.up = bool(value)
        case "gpuscope_gpu_failure_info":
            row.reason = labels["reason"]
        case "gpuscope_gpu_temperature_celsius" if labels["sensor"] == "gpu":
            row.temperature = value
        case "gpuscope_gpu_power_limit_watts" if labels["limit"] == "enforced":
            row.power_limit = value
        case "gpuscope_gpu_xid_errors_total" if value:
            row.xids[labels["xid"]] = row.xids.get(labels["xid"], 0) + int(value)
        case "gpuscope_gpu_recovery_action" if value and labels["action"] != "none":
            row.recovery_action = labels["action"]
        case "gpuscope_gpu_clock_event_active" if value and labels["reason"] not in _NOT_THROTTLING:
            row.held_down_by.append(labels["reason"])
        case _ if name in _GPU:
            setattr(row, _GPU[name], value)
