"""nvmlDeviceGetFieldValues of the simulated driver: ids as each driver version has them."""

from collections.abc import Callable, Iterable
from typing import Any

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, NOT_SUPPORTED, Status, put, read
from gpuscope.simulate.table import Entry, physical

__all__ = ["FUNCTIONS"]

_DOUBLE, _UINT, _ULL, _INT = 0, 1, 3, 5
_LAYOUT = {_DOUBLE: "d", _UINT: "I4x", _ULL: "Q", _INT: "i4x"}
_SIZE = 40
_LATENCY_US = 3
_ALL_LINKS = 0xFFFFFFFF
_VOLTA, _HOPPER = 5, 9
_WRAP = 1 << 32
_OLD_THROTTLE = {251: "sw_thermal", 252: "hw_thermal", 253: "brake"}
_NEW_THROTTLE = {269: "sw_thermal", 270: "hw_thermal", 271: "brake"}
_POWER_SMOOTHING_SETTING = 37
_GRACE_WATTS, _MEMORY_IDLE_WATTS, _MEMORY_WATTS = 260, 28, 60
_BLANK_LONG, _BLANK_DOUBLE = 9223372036854775794, 140737488355328.0

Answer = tuple[int, float]
Read = Callable[[Node, SimGpu, int], Answer]


def _gpu(kind: int, value: Callable[[SimGpu], float], *, when: Callable[[SimGpu], object] | None = None) -> Read:
    def read_value(_node: Node, gpu: SimGpu, _scope: int) -> Answer:
        if when is not None and not when(gpu):
            raise Status(NOT_SUPPORTED)
        return kind, value(gpu)

    return read_value


def _since(driver: tuple[int, ...], read_field: Read) -> Read:
    def read_newer(node: Node, gpu: SimGpu, scope: int) -> Answer:
        if node.driver < driver:
            raise Status(NOT_SUPPORTED)
        return read_field(node, gpu, scope)

    return read_newer


def _power(_node: Node, gpu: SimGpu, scope: int) -> Answer:
    """Scope 0 is the GPU, 1 the module with its CPU, 2 the memory."""
    if scope == 1 and gpu.model.c2c_links:
        return _UINT, round(1000 * (gpu.power + _GRACE_WATTS))
    if scope == 2 and gpu.model.memory_sensor and gpu.model.arch >= _HOPPER:
        return _UINT, round(1000 * (_MEMORY_IDLE_WATTS + _MEMORY_WATTS * gpu.load.dram))
    if scope == 0:
        return _UINT, round(1000 * gpu.power)
    raise Status(NOT_SUPPORTED)


def _memory_temperature(node: Node, gpu: SimGpu, _scope: int) -> Answer:
    if not gpu.model.memory_sensor:
        raise Status(NOT_SUPPORTED)
    if node.blank:
        return (_ULL, _BLANK_LONG) if gpu.index % 2 else (_DOUBLE, _BLANK_DOUBLE)
    return _UINT, round(gpu.temperature + 6)


def _pcie(direction: str) -> Read:
    def read_counter(_node: Node, gpu: SimGpu, _scope: int) -> Answer:
        if not gpu.model.pcie_counters:
            raise Status(NOT_SUPPORTED)
        # The counter wraps; boards of the Ada generation answer SUCCESS and never count.
        return _UINT, int(gpu.pcie[direction]) % _WRAP if gpu.model.arch >= _HOPPER else 0

    return read_counter


def _links(gpu: SimGpu, scope: int) -> list[int]:
    """The links that a scope stands for."""
    links = gpu.model.nvlinks
    if gpu.mig_mode or not links:
        raise Status(NOT_SUPPORTED)
    if scope == _ALL_LINKS:
        return list(range(links))
    if scope >= links:
        raise Status(ARGUMENT)
    return [scope]


def _nvlink(versions: range, value: Callable[[SimGpu, list[int]], float]) -> Read:
    def read_counter(_node: Node, gpu: SimGpu, scope: int) -> Answer:
        links = _links(gpu, scope)
        if gpu.model.nvlink_version not in versions:
            raise Status(NOT_SUPPORTED)
        return _ULL, int(value(gpu, links))

    return read_counter


def _traffic(versions: range, direction: str, divisor: float) -> Read:
    return _nvlink(versions, lambda gpu, links: gpu.nvlink[direction] * len(links) / gpu.model.nvlinks / divisor)


def _link_errors(versions: range, name: str) -> Read:
    return _nvlink(versions, lambda gpu, links: sum(gpu.nvlink_errors.get((name, link), 0) for link in links))


def _numbered(first: int, reads: Iterable[Read]) -> dict[int, Read]:
    return dict(enumerate(reads, first))


def _has_c2c(gpu: SimGpu) -> bool:
    return bool(gpu.model.c2c_links)


def _volta(gpu: SimGpu) -> bool:
    return gpu.model.arch == _VOLTA


def _hopper(gpu: SimGpu) -> bool:
    return gpu.model.arch >= _HOPPER


def _remaps(gpu: SimGpu) -> bool:
    return gpu.model.remapping and not gpu.mig


def _ecc(period: str, kind: str) -> Read:
    return _gpu(_ULL, lambda gpu: int(getattr(gpu, period)[kind]), when=lambda gpu: gpu.model.ecc)


_ANY, _OLD, _NEW = range(1, 6), range(1, 5), range(5, 6)
_NVLINK5_ERRORS = (
    "vl15_dropped", "malformed", "buffer_overrun", "rcv", "rcv_remote", "rcv_general", "local_integrity",
    "xmit_discard", "recovery_ok", "recovery_failed", "recovery_events",
)  # fmt: skip


def _limit(watts: Callable[[SimGpu], float]) -> Read:
    return _gpu(_UINT, lambda gpu: round(1000 * watts(gpu)))


_POWER_LIMIT = _limit(lambda gpu: gpu.model.power_limit)
_ENERGY = _gpu(_ULL, lambda gpu: int(1000 * gpu.energy_j))
_NONE_SO_FAR = _gpu(_UINT, lambda gpu: 0)

_READS: dict[int, Read] = {
    1: _gpu(_UINT, lambda gpu: 1, when=lambda gpu: gpu.model.ecc),
    2: _gpu(_UINT, lambda gpu: 1, when=lambda gpu: gpu.model.ecc),
    **_numbered(3, (_ecc("ecc", "corrected"), _ecc("ecc", "uncorrected"))),
    **_numbered(5, (_ecc("lifetime", "corrected"), _ecc("lifetime", "uncorrected"))),
    **_numbered(29, (_gpu(_ULL, lambda gpu: 3, when=_volta), *(_gpu(_ULL, lambda gpu: 0, when=_volta),) * 2)),
    74: _gpu(_ULL, lambda gpu: int(gpu.event_ns["power_cap"])),
    75: _gpu(_ULL, lambda gpu: int(gpu.event_ns["sw_thermal"] + gpu.event_ns["hw_thermal"])),
    76: _gpu(_ULL, lambda gpu: int(gpu.event_ns["sync_boost"])),
    82: _memory_temperature,
    83: _ENERGY,
    91: _gpu(_UINT, lambda gpu: gpu.model.nvlinks, when=lambda gpu: gpu.model.nvlinks and not gpu.mig_mode),
    94: _gpu(_UINT, lambda gpu: gpu.pcie_replays),
    138: _traffic(_ANY, "tx", 1024),
    139: _traffic(_ANY, "rx", 1024),
    140: _traffic(_ANY, "tx", 1024 / 1.06),
    141: _traffic(_ANY, "rx", 1024 / 1.06),
    142: _gpu(_UINT, lambda gpu: gpu.rows[0], when=_remaps),
    143: _gpu(_UINT, lambda gpu: gpu.rows[1], when=_remaps),
    144: _gpu(_UINT, lambda gpu: gpu.rows[2], when=_remaps),
    145: _gpu(_UINT, lambda gpu: gpu.rows[3], when=_remaps),
    **_numbered(161, (_link_errors(_OLD, name) for name in ("replay", "recovery", "crc"))),
    164: _nvlink(_ANY, lambda gpu, links: 53125 if gpu.model.nvlink_version == 5 else 26562),
    165: _nvlink(_ANY, lambda gpu, links: 1),
    166: _nvlink(_ANY, lambda gpu, links: gpu.model.nvlink_version),
    169: _NONE_SO_FAR,
    170: _gpu(_UINT, lambda gpu: gpu.model.c2c_links),
    171: _gpu(_UINT, lambda gpu: 1, when=_has_c2c),
    172: _gpu(_UINT, lambda gpu: 450_000, when=_has_c2c),
    **_numbered(173, (_NONE_SO_FAR,) * 11),
    185: _power,
    186: _power,
    187: _limit(lambda gpu: gpu.model.power_min),
    **_numbered(188, (_POWER_LIMIT, _POWER_LIMIT, _POWER_LIMIT, _ENERGY, _POWER_LIMIT)),
    193: _gpu(_INT, lambda gpu: gpu.model.slowdown - gpu.model.shutdown, when=_hopper),
    194: _gpu(_INT, lambda gpu: 0, when=_hopper),
    195: _gpu(_INT, lambda gpu: 0, when=_hopper),
    196: _gpu(_INT, lambda gpu: 2, when=_hopper),
    197: _pcie("tx"),
    198: _pcie("rx"),
    201: _traffic(_NEW, "tx", 256),
    202: _traffic(_NEW, "tx", 1),
    203: _traffic(_NEW, "rx", 256),
    204: _traffic(_NEW, "rx", 1),
    **_numbered(205, (_link_errors(_NEW, name) for name in _NVLINK5_ERRORS)),
    219: _link_errors(_NEW, "effective"),
    # Bit error ratios are packed: mantissa in the upper bits, negative decimal exponent in the lower eight.
    220: _nvlink(_NEW, lambda gpu, links: 0x100 + 15),
    221: _link_errors(_NEW, "symbol"),
    222: _nvlink(_NEW, lambda gpu, links: 0x500 + 9),
    230: _since((565,), _gpu(_UINT, lambda gpu: gpu.recovery_action, when=_hopper)),
    **_numbered(231, (_since((565,), _gpu(_ULL, lambda gpu: 0, when=_has_c2c)),) * 3),
    234: _since((570,), _gpu(_UINT, lambda gpu: 0, when=_has_c2c)),
    **_numbered(
        235,
        (_since((570,), _nvlink(_NEW, lambda gpu, links, n=bin_: 10 ** max(0, 9 - n))) for bin_ in range(16)),  # type: ignore[misc]
    ),
}


def _moving(number: int, node: Node, gpu: SimGpu) -> Answer:
    """Fields whose ids moved between 580.65 and 580.82; the wrong one answers SUCCESS with another meaning."""
    if node.driver < (575, 51):
        raise Status(NOT_SUPPORTED)
    throttle = _OLD_THROTTLE if node.driver[:2] <= (580, 65) else _NEW_THROTTLE
    if number in throttle:
        return _ULL, int(gpu.event_ns[throttle[number]])
    return _UINT, _POWER_SMOOTHING_SETTING


def _answer(node: Node, gpu: SimGpu, number: int, scope: int) -> Answer:
    if 251 <= number <= 273:
        return _moving(number, node, gpu)
    read_field = _READS.get(number)
    if read_field is None:
        raise Status(NOT_SUPPORTED)
    return read_field(node, gpu, scope)


@physical
def _field_values(node: Node, gpu: SimGpu, count: int, pointer: int) -> int:
    if count < 1:
        raise Status(ARGUMENT)
    stamp = int(gpu.now * 1e6)
    for place in range(pointer, pointer + count * _SIZE, _SIZE):
        number, scope = read(place, "II")
        try:
            kind, value = _answer(node, gpu, number, scope)
        except Status as status:
            put(place + 8, "qqIIQ", stamp, _LATENCY_US, 0, status.code, 0)
        else:
            packed: Any = value if kind == _DOUBLE else int(value)
            put(place + 8, f"qqII{_LAYOUT[kind]}", stamp, _LATENCY_US, kind, 0, packed)
    return 0


FUNCTIONS: dict[str, Entry] = {"nvmlDeviceGetFieldValues": ("pip", _field_values)}
