"""Rows of the table, put together from series, wherever these were read."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["GpuRow", "MigRow", "NodeRows", "Point", "read_rows", "use_of"]


class Point(NamedTuple):
    """One series with its present value."""

    name: str
    labels: dict[str, str]
    value: float


@dataclass(slots=True)
class MigRow:
    """A MIG instance; ``None`` is what nobody knows.

    ``holders`` are pods and jobs; ``allocations`` counts them, 0 for a device that is known to be free.
    """

    uuid: str
    profile: str
    gi: int
    ci: int = 0
    sm: float | None = None
    tensor: float | None = None
    memory_used: float | None = None
    memory_total: float | None = None
    activity: float | None = None
    holders: list[str] = field(default_factory=list)
    allocations: int | None = None


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
    activity: float | None = None
    holders: list[str] = field(default_factory=list)
    allocations: int | None = None
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
_ACTIVITY = {
    "gpuscope_gpu_utilization_ratio",
    "gpuscope_gpu_graphics_active_ratio",
    "gpuscope_gpu_sm_active_ratio",
    "gpuscope_mig_graphics_active_ratio",
    "gpuscope_mig_sm_active_ratio",
}
_HOLDERS = {
    "gpuscope_allocations",
    "gpuscope_pod_allocation_info",
    "gpuscope_job_allocation_info",
}
_BUSY_FROM = 0.01
_NOT_THROTTLING = {"idle", "applications_clocks_setting"}


def read_rows(points: Iterable[Point]) -> list[NodeRows]:
    """Builds the rows of every node.

    Args:
        points: series of any number of agents; the label ``node`` tells machines apart.
    """
    nodes: dict[str, NodeRows] = {}
    held: list[Point] = []
    for point in points:
        name, labels, value = point
        node = nodes.setdefault(labels.get("node", ""), NodeRows(labels.get("node", "")))
        if name == "gpuscope_driver_info":
            node.driver = labels["driver_version"]
        elif name == "gpuscope_driver_unavailable_info":
            node.problem = f"no driver: {labels['reason']}"
        elif name in _HOLDERS:
            held.append(point)
        elif labels.get("mig_uuid"):
            _read_mig(_gpu(node, labels), name, labels, value)
        elif "uuid" in labels:
            _read_gpu(_gpu(node, labels), name, labels, value)
    for point in held:
        _read_holder(nodes[point.labels.get("node", "")], point)
    return [nodes[name] for name in sorted(nodes)]


def use_of(row: GpuRow | MigRow) -> str:
    """``busy``, ``idle`` (held, and doing nothing), ``free``, or empty where that is not known."""
    if row.activity is not None and row.activity >= _BUSY_FROM:
        return "busy"
    if row.activity is None or (row.allocations is None and not row.holders):
        return ""
    return "idle" if row.holders or row.allocations else "free"


def _read_holder(node: NodeRows, point: Point) -> None:
    name, labels, value = point
    gpu = node.gpus.get(labels["uuid"])
    mig_uuid = labels.get("mig_uuid", "")  # Prometheus drops labels that are empty
    row = gpu if gpu is None or not mig_uuid else gpu.mig.get(mig_uuid)
    if row is None:
        return  # a GPU that is lost has no MIG instances to show
    if name == "gpuscope_allocations":
        row.allocations = int(value)
        return
    job = labels.get("job_id")
    who = f"job {job}" if job else f"{labels.get('namespace', '')}/{labels.get('pod', '')}"
    if labels.get("user"):
        who += f" ({labels['user']})"
    if who not in row.holders:
        row.holders.append(who)


def _gpu(node: NodeRows, labels: dict[str, str]) -> GpuRow:
    uuid = labels["uuid"]
    if uuid not in node.gpus:
        node.gpus[uuid] = GpuRow(int(labels["gpu"]), uuid)
    return node.gpus[uuid]


def _read_mig(gpu: GpuRow, name: str, labels: dict[str, str], value: float) -> None:
    uuid = labels["mig_uuid"]
    if "profile" not in labels:
        return
    row = gpu.mig.setdefault(uuid, MigRow(uuid, labels["profile"], int(labels["gi"])))
    _note_activity(row, name, value)
    if name in _MIG:
        setattr(row, _MIG[name], value)
    elif name == "gpuscope_mig_info":
        row.ci = int(labels["ci"])


def _note_activity(row: GpuRow | MigRow, name: str, value: float) -> None:
    if name in _ACTIVITY:
        row.activity = max(value, row.activity or 0.0)


def _read_gpu(row: GpuRow, name: str, labels: dict[str, str], value: float) -> None:
    _note_activity(row, name, value)
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
