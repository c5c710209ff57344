"""GPM of the simulated driver: samples hold integrals, metrics are their differences."""

from typing import Any

from gpuscope.simulate.device import RATIOS, SimGpu, SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, NOT_SUPPORTED, Status, put, read
from gpuscope.simulate.table import Entry, either, physical

__all__ = ["FUNCTIONS"]

_MIN_WINDOW_S = 0.1
_RATIOS = {1: "graphics", 2: "sm", 3: "occupancy", 5: "tensor", 10: "dram"}
_SHARES = {
    4: ("sm", 0.30),
    7: ("tensor", 0.92),
    9: ("tensor", 0.05),
    11: ("sm", 0.01),
    12: ("sm", 0.24),
    13: ("sm", 0.1),
}
_ZERO = {6, 8, *range(30, 38), *range(40, 48), 50, *range(166, 170)}
_TRAFFIC = {20: "pcie_tx", 21: "pcie_rx", 100: "c2c_tx", 101: "c2c_rx"}
_CYCLES = {
    248: 1.0,
    249: 1.0,
    250: 0.7,
    251: 0.0,
    252: 0.64,
    253: 0.0,
    254: 0.03,
    257: 0.3,
    258: 0.01,
    259: 0.24,
    260: 0.1,
}
_HEADER, _ENTRY = 24, 40


def _supported(node: Node, gpu: SimGpu) -> bool:
    return gpu.model.gpm


@physical
def _query(node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "II", read(pointer, "I")[0], _supported(node, gpu))


def _alloc(node: Node, pointer: int) -> int:
    node.next_handle += 0x10
    handle = 0x70000000 + node.next_handle
    node.gpm_samples[handle] = None
    return put(pointer, "P", handle)


def _free(node: Node, handle: int) -> int:
    node.gpm_samples.pop(handle, None)
    return 0


def _fill(node: Node, gpu: SimGpu, sample: int, integrals: dict[str, float], share: float, driver: bool) -> int:
    if not gpu.model.gpm:
        raise Status(NOT_SUPPORTED)
    if sample not in node.gpm_samples:
        raise Status(ARGUMENT)
    node.gpm_samples[sample] = {
        "t": node.clock.now(),
        **integrals,
        "pcie_tx": gpu.pcie["tx"] * share,
        "pcie_rx": gpu.pcie["rx"] * share,
        "c2c_tx": gpu.c2c["tx"],
        "c2c_rx": gpu.c2c["rx"],
        "c2c": float(bool(gpu.model.c2c_links)),
        "elapsed": gpu.elapsed_cycles * share,
        "active": gpu.active_cycles * share,
        "cycles": float(driver),
    }
    return 0


@either
def _sample(node: Node, gpu: SimGpu, instance: SimMig | None, sample: int) -> int:
    integrals = dict((instance or gpu).integrals)
    share = instance.ci_slices / 7 if instance else 1.0
    return _fill(node, gpu, sample, integrals, share, node.driver >= (595,))


@physical
def _mig_sample(node: Node, gpu: SimGpu, gi: int, sample: int) -> int:
    peers = [instance for instance in gpu.mig if instance.gi == gi]
    if not peers:
        raise Status(ARGUMENT)
    slices = peers[0].slices
    integrals = {
        name: sum(peer.integrals[name] * peer.ci_slices for peer in peers) / slices for name in RATIOS
    }  # fmt: skip
    return _fill(node, gpu, sample, integrals, slices / 7, node.driver >= (595,))


def _metric(number: int, first: dict[str, float], second: dict[str, float]) -> float:
    span = second["t"] - first["t"]
    if number in _RATIOS:
        name = _RATIOS[number]
        return 100 * (second[name] - first[name]) / span
    if number in _SHARES:
        name, share = _SHARES[number]
        return 100 * share * (second[name] - first[name]) / span
    if number in _ZERO:
        return 0.0
    if number in _TRAFFIC and (number < 100 or second["c2c"]):
        name = _TRAFFIC[number]
        return (second[name] - first[name]) / span / (1 << 20)
    if number in _CYCLES and second["cycles"]:
        return second["elapsed"] if number == 248 else second["active"] * _CYCLES[number]
    raise Status(NOT_SUPPORTED)


def _metrics(node: Node, pointer: int) -> int:
    version, count, one, two = read(pointer, "IIPP")
    first, second = node.gpm_samples.get(one), node.gpm_samples.get(two)
    if version != 1 or first is None or second is None or second["t"] - first["t"] < _MIN_WINDOW_S:
        raise Status(ARGUMENT)
    for place in range(pointer + _HEADER, pointer + _HEADER + count * _ENTRY, _ENTRY):
        number: Any = read(place, "I")[0]
        try:
            put(place + 4, "=Id", 0, _metric(number, first, second))
        except Status as status:
            put(place + 4, "=Id", status.code, float("nan"))
    return 0


FUNCTIONS: dict[str, Entry] = {
    "nvmlGpmQueryDeviceSupport": ("pp", _query),
    "nvmlGpmSampleAlloc": ("p", _alloc),
    "nvmlGpmSampleFree": ("p", _free),
    "nvmlGpmSampleGet": ("pp", _sample),
    "nvmlGpmMigSampleGet": ("pup", _mig_sample),
    "nvmlGpmMetricsGet": ("p", _metrics),
}
