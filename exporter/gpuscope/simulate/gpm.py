"""GPM of the simulated driver: samples hold integrals, metrics are their differences."""

from collections.abc import Mapping

from gpuscope.simulate.activity import RATIOS
from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, NOT_SUPPORTED, UNINITIALIZED, Status, put, read, version
from gpuscope.simulate.table import Entry, either, physical

__all__ = ["FUNCTIONS"]

_MIN_WINDOW_S = 0.1
_SUPPORT_V1 = 1
_MIB = 1 << 20
_RATIOS = {1: "graphics", 2: "sm", 3: "occupancy", 5: "tensor", 10: "dram"}
_SHARES = {
    4: ("sm", 0.30),
    7: ("tensor", 0.92),
    9: ("tensor", 0.05),
    11: ("sm", 0.01),
    12: ("sm", 0.24),
    13: ("sm", 0.1),
}
_DECODERS = range(30, 37)
_ZERO = {6, 8, 37, *range(40, 48), 50, *range(166, 170)}
_TRAFFIC = {20: "pcie_tx", 21: "pcie_rx", 60: "nvlink_rx", 61: "nvlink_tx"}
_LINKS = range(62, 98)
_C2C = {100: "c2c_tx", 101: "c2c_rx", 102: "c2c_tx", 103: "c2c_rx"}
_CYCLES = {249: 1.0, 250: 0.7, 251: 0.0, 252: 0.64, 253: 0.0, 254: 0.03, 257: 0.3, 258: 0.01, 259: 0.24, 260: 0.1}
_ELAPSED_CYCLES = 248
_CUMULATIVE_SINCE = (595,)
_HEADER, _ENTRY = 24, 40

Sample = Mapping[str, float]


@physical
def _query(_node: Node, gpu: SimGpu, pointer: int) -> int:
    return put(pointer, "II", version(pointer, _SUPPORT_V1), gpu.model.gpm)


def _alloc(node: Node, pointer: int) -> int:
    if not node.initialized:
        raise Status(UNINITIALIZED)
    handle = node.new_handle()
    node.gpm_samples[handle] = None
    return put(pointer, "P", handle)


def _free(node: Node, handle: int) -> int:
    if handle not in node.gpm_samples:
        raise Status(ARGUMENT)
    del node.gpm_samples[handle]
    return 0


def _fill(node: Node, gpu: SimGpu, sample: int, integrals: Mapping[str, float], share: float) -> int:
    if not gpu.model.gpm:
        raise Status(NOT_SUPPORTED)
    if sample not in node.gpm_samples:
        raise Status(ARGUMENT)
    links = gpu.model.nvlinks if not gpu.mig_mode else 0
    node.gpm_samples[sample] = {
        "t": gpu.now,
        **integrals,
        "pcie_tx": gpu.pcie["tx"] * share,
        "pcie_rx": gpu.pcie["rx"] * share,
        "decoder": gpu.totals["decoder"],
        "links": float(links),
        "nvlink_tx": gpu.nvlink["tx"],
        "nvlink_rx": gpu.nvlink["rx"],
        "c2c": float(gpu.model.c2c_links),
        "c2c_tx": gpu.c2c["tx"],
        "c2c_rx": gpu.c2c["rx"],
        "elapsed": gpu.totals["elapsed_cycles"] * share,
        "active": gpu.totals["active_cycles"] * share,
        "cumulative": float(node.driver >= _CUMULATIVE_SINCE),
    }
    return 0


@either
def _sample(node: Node, gpu: SimGpu, instance: SimMig | None, sample: int) -> int:
    if instance is None:
        return _fill(node, gpu, sample, gpu.integrals, 1.0)
    return _fill(node, gpu, sample, instance.integrals, instance.share)


@physical
def _mig_sample(node: Node, gpu: SimGpu, gi: int, sample: int) -> int:
    peers = [instance for instance in gpu.mig if instance.gi == gi]
    if not peers:
        raise Status(ARGUMENT)
    slices = peers[0].slices
    integrals = {name: sum(peer.integrals[name] * peer.ci_slices for peer in peers) / slices for name in RATIOS}
    return _fill(node, gpu, sample, integrals, slices / 7)


def _metric(number: int, first: Sample, second: Sample) -> float:
    span = second["t"] - first["t"]

    def rate(name: str) -> float:
        return (second[name] - first[name]) / span

    if number in _RATIOS:
        return 100 * rate(_RATIOS[number])
    if number in _SHARES:
        name, share = _SHARES[number]
        return 100 * share * rate(name)
    if number in _DECODERS:
        return 100 * rate("decoder")
    if number in _ZERO:
        return 0.0
    if number in _TRAFFIC and (number < 60 or second["links"]):
        return rate(_TRAFFIC[number]) / _MIB
    if number in _LINKS and (number - 62) // 2 < second["links"]:
        return rate("nvlink_tx" if number % 2 else "nvlink_rx") / second["links"] / _MIB
    if number in _C2C and second["c2c"]:
        return rate(_C2C[number]) / _MIB
    if second["cumulative"] and number == _ELAPSED_CYCLES:
        return second["elapsed"]
    if second["cumulative"] and number in _CYCLES:
        return second["active"] * _CYCLES[number]
    raise Status(NOT_SUPPORTED)


def _metrics(node: Node, pointer: int) -> int:
    if not node.initialized:
        raise Status(UNINITIALIZED)
    found, count, one, two = read(pointer, "IIPP")
    first, second = node.gpm_samples.get(one), node.gpm_samples.get(two)
    if found != 1 or first is None or second is None or second["t"] - first["t"] < _MIN_WINDOW_S:
        raise Status(ARGUMENT)
    for place in range(pointer + _HEADER, pointer + _HEADER + count * _ENTRY, _ENTRY):
        number = read(place, "I")[0]
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
