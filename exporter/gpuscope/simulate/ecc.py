"""Simulated readings of memory errors: ECC, row remapping, page retirement, repairs."""

from typing import Any

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import INSUFFICIENT_SIZE, NOT_SUPPORTED, Status, put, read, version
from gpuscope.simulate.table import Entry, either, getter, physical

__all__ = ["FUNCTIONS"]

_SRAM_V1, _REPAIR_V1, _UNREPAIRABLE_V1 = 0x01000068, 0x0100000C, 0x01000008
_DRAM, _SRAM = 2, 7
_VOLTA = 5
_BANKS = 640
_THRESHOLD = 2
_RETIRED_PAGES = (0x1A3F000, 0x2B40000, 0x77AA000)
"""Pages that an old V100 has retired for corrected errors."""


def _store(gpu: SimGpu, period: int) -> dict[str, float]:
    if not gpu.model.ecc:
        raise Status(NOT_SUPPORTED)
    return gpu.lifetime if period else gpu.ecc


def _count(gpu: SimGpu, severity: int, period: int, location: int) -> int:
    store = _store(gpu, period)
    if location == _SRAM:
        return int(store["sram"]) if severity else 0
    if location == _DRAM:
        return int(store["uncorrected" if severity else "corrected"])
    raise Status(NOT_SUPPORTED)


@physical
def _total(_node: Node, gpu: SimGpu, severity: int, period: int, pointer: int) -> int:
    total = _count(gpu, severity, period, _DRAM) + _count(gpu, severity, period, _SRAM)
    return put(pointer, "Q", total)


@either
def _by_location(
    _node: Node, gpu: SimGpu, instance: SimMig | None, severity: int, period: int, location: int, pointer: int
) -> int:
    if instance is None:
        return put(pointer, "Q", _count(gpu, severity, period, location))
    # A MIG device knows uncorrected errors outside DRAM since the driver was loaded, nothing else.
    if location != _SRAM or not severity or period:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "Q", int(instance.sram_errors))


@physical
def _detailed(_node: Node, gpu: SimGpu, severity: int, period: int, pointer: int) -> int:
    sram = _count(gpu, severity, period, _SRAM)
    return put(pointer, "QQQQ", 0, sram, _count(gpu, severity, period, _DRAM), 0)


@physical
def _sram(_node: Node, gpu: SimGpu, pointer: int) -> int:
    """Parity errors of the L2 cache: the only ones that scenarios make."""
    found = version(pointer, _SRAM_V1)
    if not gpu.model.ecc or gpu.model.arch < 7:
        raise Status(NOT_SUPPORTED)
    lifetime, volatile = int(gpu.lifetime["sram"]), int(gpu.ecc["sram"])
    buckets = (lifetime, 0, 0, 0, 0)
    return put(pointer, "I4x11QI4x", found, lifetime, 0, 0, volatile, 0, 0, *buckets, lifetime >= _THRESHOLD)


@physical
def _histogram(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if not gpu.model.remapping:
        raise Status(NOT_SUPPORTED)
    used = min(gpu.rows[1], _BANKS)
    return put(pointer, "5I", _BANKS - used, used, 0, 0, 0)


@physical
def _repair(_node: Node, gpu: SimGpu, pointer: int) -> int:
    found = version(pointer, _REPAIR_V1)
    if gpu.model.arch < 9:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "III", found, *gpu.repair)


@physical
def _unrepairable(_node: Node, gpu: SimGpu, pointer: int) -> int:
    if gpu.model.arch < 10:
        raise Status(NOT_SUPPORTED)
    return put(pointer, "II", read(pointer, "I")[0], 0)


@physical
def _retired(_node: Node, gpu: SimGpu, cause: int, count: int, pages: int | None, *times: Any) -> int:
    if gpu.model.arch != _VOLTA:
        raise Status(NOT_SUPPORTED)
    found = () if cause else _RETIRED_PAGES
    room = read(count, "I")[0]
    put(count, "I", len(found))
    if not found:
        return 0
    if not pages or room < len(found):
        raise Status(INSUFFICIENT_SIZE)
    if times:
        put(times[0], "Q" * len(found), *(int(gpu.start * 1e6) - 1 for _ in found))
    return put(pages, "Q" * len(found), *found)


FUNCTIONS: dict[str, Entry] = {
    "nvmlDeviceGetEccMode": getter("II", lambda gpu: (1, 1), when=lambda gpu: gpu.model.ecc),
    "nvmlDeviceGetTotalEccErrors": ("puup", _total),
    "nvmlDeviceGetMemoryErrorCounter": ("puuup", _by_location),
    "nvmlDeviceGetDetailedEccErrors": ("puup", _detailed),
    "nvmlDeviceGetSramEccErrorStatus": ("pp", _sram),
    "nvmlDeviceGetRemappedRows": getter(
        "IIII", lambda gpu: tuple(gpu.rows), when=lambda gpu: gpu.model.remapping and not gpu.mig
    ),
    "nvmlDeviceGetRowRemapperHistogram": ("pp", _histogram),
    "nvmlDeviceGetRetiredPages": ("pupp", _retired),
    "nvmlDeviceGetRetiredPages_v2": ("puppp", _retired),
    "nvmlDeviceGetRetiredPagesPendingStatus": getter("I", lambda gpu: 0, when=lambda gpu: gpu.model.arch == _VOLTA),
    "nvmlDeviceGetRepairStatus": ("pp", _repair),
    "nvmlDeviceGetUnrepairableMemoryFlag_v1": ("pp", _unrepairable),
}
