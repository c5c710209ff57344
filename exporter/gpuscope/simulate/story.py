"""What each happening of a scenario does to a simulated machine."""

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.event_set import NO_INSTANCE
from gpuscope.simulate.happening import mig_plans
from gpuscope.simulate.status import LOST, NOT_LOADED, RESET_REQUIRED

if TYPE_CHECKING:
    from gpuscope.simulate.node import Node

__all__ = ["ACTIONS"]

_XID, _MIG_CHANGE, _RECOVERY_ACTION = 0x8, 0x100, 0x8000


def _lost(node: "Node", gpu: SimGpu) -> None:
    gpu.lost = LOST


def _reset_required(node: "Node", gpu: SimGpu) -> None:
    gpu.lost = RESET_REQUIRED


def _recovered(node: "Node", gpu: SimGpu) -> None:
    """A reset: the GPU answers again, and what waited for a reset is done."""
    gpu.lost = 0
    gpu.recovery_action = 0
    gpu.rows[2] = 0
    gpu.repair = [0, 0]


def _wedge(node: "Node", gpu: SimGpu, calls: list[str] | None = None) -> None:
    gpu.unwedge()
    gpu.wedged_calls = frozenset(calls or ())
    gpu.wedged = threading.Event()


def _unwedge(node: "Node", gpu: SimGpu) -> None:
    gpu.unwedge()


def _xid(
    node: "Node",
    gpu: SimGpu,
    code: int,
    gi: int | None = None,
    ci: int | None = None,
    times: int = 1,
    message: str = "",
) -> None:
    node.log.xid(node.moment, gpu.bus, code, gi, message, times)
    # The driver collapses a burst into one event; the log keeps every line.
    node.emit(gpu, _XID, code, NO_INSTANCE if gi is None else gi, NO_INSTANCE if ci is None else ci)


def _sxid(node: "Node", switch: int = 0, code: int = 0, fatal: bool = False, message: str = "") -> None:
    node.log.sxid(node.moment, switch, code, fatal, message)


def _heat(node: "Node", gpu: SimGpu, celsius: float) -> None:
    gpu.heat = celsius


def _power_brake(node: "Node", gpu: SimGpu, active: bool) -> None:
    gpu.brake = active


def _row_remap(node: "Node", gpu: SimGpu, rows: int = 0, pending: bool = False, failed: bool = False) -> None:
    gpu.rows = [gpu.rows[0], gpu.rows[1] + rows, int(pending), int(failed)]


def _repair(node: "Node", gpu: SimGpu, channel: bool = False, tpc: bool = False) -> None:
    gpu.repair = [int(channel), int(tpc)]


def _ecc(
    node: "Node",
    gpu: SimGpu,
    corrected: int = 0,
    uncorrected: int = 0,
    sram: int = 0,
    gi: int | None = None,
    rate: float | None = None,
) -> None:
    """``uncorrected`` counts DRAM errors, ``sram`` uncorrected errors of the L2 cache, ``rate`` corrected a second."""
    for kind, count in (("corrected", corrected), ("uncorrected", uncorrected), ("sram", sram)):
        gpu.ecc[kind] += count
        gpu.lifetime[kind] += count
    for instance in gpu.mig:
        if instance.gi == gi:
            instance.sram_errors += sram
    if rate is not None:
        gpu.ecc_rate = rate


def _nvlink(node: "Node", gpu: SimGpu, error: str, link: int = 0, count: int = 1) -> None:
    gpu.nvlink_errors[error, link] = gpu.nvlink_errors.get((error, link), 0) + count


def _pcie_replay(node: "Node", gpu: SimGpu, count: int = 1) -> None:
    gpu.pcie_replays += count


def _recovery_action(node: "Node", gpu: SimGpu, action: int) -> None:
    gpu.recovery_action = action
    node.emit(gpu, _RECOVERY_ACTION, action)


def _nvml_event(node: "Node", gpu: SimGpu, type: int) -> None:  # noqa: A002 - the scenario's word
    node.emit(gpu, type)


def _mig(node: "Node", gpu: SimGpu, instances: list[Any], mode: bool | None = None) -> None:
    gpu.partition(mig_plans(instances, gpu.model.profiles), mode=mode)
    node.emit(gpu, _MIG_CHANGE)


def _job(node: "Node", gpu: SimGpu, kind: str) -> None:
    gpu.kind = kind
    for tenant in gpu.tenants:
        tenant.kind = kind


def _mount_hangs(node: "Node", mountpoint: str) -> None:
    node.hanging_mounts.add(mountpoint)


def _mount_answers(node: "Node", mountpoint: str) -> None:
    node.hanging_mounts.discard(mountpoint)


def _kubelet_stops(node: "Node") -> None:
    if node.kubelet is not None:
        node.kubelet.go_away(True)


def _kubelet_starts(node: "Node") -> None:
    if node.kubelet is not None:
        node.kubelet.go_away(False)


def _kubelet_refuses(node: "Node", calls: int) -> None:
    if node.kubelet is not None:
        node.kubelet.exhaust(calls)


def _driver_unloaded(node: "Node") -> None:
    node.present = False
    node.sessions = 0
    node.interrupt(NOT_LOADED)


def _driver_mismatch(node: "Node") -> None:
    node.present = True
    node.mismatch = True
    node.sessions = 0
    node.interrupt(NOT_LOADED)


def _driver_loaded(node: "Node", version: str) -> None:
    node.sessions = 0
    node.interrupt(NOT_LOADED)
    for gpu in node.gpus:
        with gpu.lock:
            gpu.advance(node.moment)
            gpu.reset_counters()
            gpu.changed()
    # Samples of the old driver's counters mean nothing to the new one.
    node.gpm_samples.update(dict.fromkeys(node.gpm_samples))
    node.version = version
    node.mismatch = False
    # Last: from here on a program that retries gets in.
    node.present = node.installed = True


ACTIONS: Mapping[str, Callable[..., None]] = {
    "lost": _lost,
    "reset_required": _reset_required,
    "recovered": _recovered,
    "wedge": _wedge,
    "unwedge": _unwedge,
    "xid": _xid,
    "sxid": _sxid,
    "heat": _heat,
    "power_brake": _power_brake,
    "row_remap": _row_remap,
    "repair": _repair,
    "ecc": _ecc,
    "nvlink": _nvlink,
    "pcie_replay": _pcie_replay,
    "recovery_action": _recovery_action,
    "nvml_event": _nvml_event,
    "mig": _mig,
    "job": _job,
    "mount_hangs": _mount_hangs,
    "mount_answers": _mount_answers,
    "kubelet_stops": _kubelet_stops,
    "kubelet_starts": _kubelet_starts,
    "kubelet_refuses": _kubelet_refuses,
    "driver_unloaded": _driver_unloaded,
    "driver_mismatch": _driver_mismatch,
    "driver_loaded": _driver_loaded,
}
