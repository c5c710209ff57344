"""nvmlDeviceGetFieldValues of the simulated driver: ids as each driver version has them."""

from collections.abc import Callable
from typing import Any

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.node import Node
from gpuscope.simulate.status import ARGUMENT, NOT_SUPPORTED, Status, put, read
from gpuscope.simulate.table import Entry, physical

__all__ = ["FUNCTIONS"]

_DOUBLE, _UINT, _ULL, _INT = 0, 1, 3, 5
_LAYOUT = {_DOUBLE: "d", _UINT: "I4x", _ULL: "Q", _INT: "i4x"}
_SIZE = 40
_ALL_LINKS = 0xFFFFFFFF
_OLD_THROTTLE = {251: "sw_thermal", 252: "hw_thermal", 253: "brake"}
_NEW_THROTTLE = {269: "sw_thermal", 270: "hw_thermal", 271: "brake"}

Answer = tuple[int, float]
Read = Callable[[Node, SimGpu, int], Answer]


def _ull(value: Callable[[SimGpu], float]) -> Read:
    return lambda _node, gpu, _scope: (_ULL, value(gpu))


def _constant(kind: int, value: float) -> Read:
    return lambda _node, _gpu, _scope: (kind, value)


def _power(node: Node, gpu: SimGpu, scope: int) -> Answer:
    if scope == 1 and gpu.model.c2c_links:
        return _UINT, round(1000 * (gpu.power + 260))
    if scope == 2 and gpu.model.memory_sensor and gpu.model.arch >= 9:
        return _UINT, round(1000 * (28 + 60 * gpu.load.dram))
    if scope == 0:
        return _UINT, round(1000 * gpu.power)
    raise Status(NOT_SUPPORTED)


def _memory_temperature(node: Node, gpu: SimGpu, _scope: int) -> Answer:
    if not gpu.model.memory_sensor:
        raise Status(NOT_SUPPORTED)
    if node.blank:
        return (_ULL, 9223372036854775794) if gpu.index % 2 else (_DOUBLE, 140737488355328.0)
    return _UINT, round(gpu.temperature + 6)


def _pcie(direction: str) -> Read:
    def read_counter(_node: Node, gpu: SimGpu, _scope: int) -> Answer:
        if gpu.model.arch < 8 or gpu.model.name.endswith("L40S"):
            # Boards that answer SUCCESS and never count.
            if gpu.model.pcie_counters:
                return _UINT, 0
            raise Status(NOT_SUPPORTED)
        return _UINT, int(gpu.pcie[direction]) % (1 << 32)

    return read_counter


def _links(gpu: SimGpu, scope: int) -> float:
    """Share of the GPU's NVLink traffic that the scope stands for."""
    links = gpu.model.nvlinks
    if gpu.mig_mode or not links:
        raise Status(NOT_SUPPORTED)
    if scope == _ALL_LINKS:
        return 1.0
    if scope >= links:
        raise Status(ARGUMENT)
    return 1 / links


def _nvlink(before: int, after: int, value: Callable[[SimGpu, float], float]) -> Read:
    def read_counter(_node: Node, gpu: SimGpu, scope: int) -> Answer:
        share = _links(gpu, scope)
        if not before <= gpu.model.nvlink_version <= after:
            raise Status(NOT_SUPPORTED)
        return _ULL, int(value(gpu, share))

    return read_counter


def _c2c(kind: int, value: float) -> Read:
    def read_fact(_node: Node, gpu: SimGpu, _scope: int) -> Answer:
        if not gpu.model.c2c_links:
            raise Status(NOT_SUPPORTED)
        return kind, value

    return read_fact


def _since(driver: tuple[int, ...], read_field: Read) -> Read:
    def read_newer(node: Node, gpu: SimGpu, scope: int) -> Answer:
        if node.driver < driver:
            raise Status(NOT_SUPPORTED)
        return read_field(node, gpu, scope)

    return read_newer


def _retired(value: int) -> Read:
    def read_pages(_node: Node, gpu: SimGpu, _scope: int) -> Answer:
        if gpu.model.arch != 5:
            raise Status(NOT_SUPPORTED)
        return _ULL, value

    return read_pages


def _hopper(kind: int, value: Callable[[SimGpu], float]) -> Read:
    def read_new(_node: Node, gpu: SimGpu, _scope: int) -> Answer:
        if gpu.model.arch < 9:
            raise Status(NOT_SUPPORTED)
        return kind, value(gpu)

    return read_new


_READS: dict[int, Read] = {
    29: _retired(3),
    30: _retired(0),
    31: _retired(0),
    74: _ull(lambda gpu: int(gpu.event_ns["power_cap"])),
    76: _ull(lambda gpu: int(gpu.event_ns["sync_boost"])),
    82: _memory_temperature,
    83: _ull(lambda gpu: int(1000 * gpu.energy_j)),
    94: _constant(_UINT, 0),
    138: _nvlink(1, 5, lambda gpu, share: gpu.nvlink["tx"] * share / 1024),
    139: _nvlink(1, 5, lambda gpu, share: gpu.nvlink["rx"] * share / 1024),
    **{number: _nvlink(1, 4, lambda gpu, share: 0) for number in (161, 162, 163)},
    164: _nvlink(1, 5, lambda gpu, share: 26562 if gpu.model.nvlink_version == 4 else 53125),
    165: _nvlink(1, 5, lambda gpu, share: 1),
    169: _constant(_UINT, 0),
    170: lambda _node, gpu, _scope: (_UINT, gpu.model.c2c_links),
    171: _c2c(_UINT, 1),
    172: _c2c(_UINT, 450_000),
    **{number: _constant(_UINT, 0) for number in range(173, 184)},
    185: _power,
    186: _power,
    187: lambda _node, gpu, _scope: (_UINT, round(1000 * gpu.model.power_min)),
    188: lambda _node, gpu, _scope: (_UINT, round(1000 * gpu.model.power_limit)),
    189: lambda _node, gpu, _scope: (_UINT, round(1000 * gpu.model.power_limit)),
    190: lambda _node, gpu, _scope: (_UINT, round(1000 * gpu.model.power_limit)),
    192: lambda _node, gpu, _scope: (_UINT, round(1000 * gpu.model.power_limit)),
    193: _hopper(_INT, lambda gpu: gpu.model.slowdown - gpu.model.shutdown),
    194: _hopper(_INT, lambda gpu: 0),
    195: _hopper(_INT, lambda gpu: 0),
    196: _hopper(_INT, lambda gpu: 2),
    197: _pcie("tx"),
    198: _pcie("rx"),
    201: _nvlink(5, 5, lambda gpu, share: gpu.nvlink["tx"] * share / 256),
    202: _nvlink(5, 5, lambda gpu, share: gpu.nvlink["tx"] * share),
    203: _nvlink(5, 5, lambda gpu, share: gpu.nvlink["rx"] * share / 256),
    204: _nvlink(5, 5, lambda gpu, share: gpu.nvlink["rx"] * share),
    **{number: _nvlink(5, 5, lambda gpu, share: 0) for number in (*range(205, 216), 219, 221)},
    220: _nvlink(5, 5, lambda gpu, share: 0x100 + 15),
    222: _nvlink(5, 5, lambda gpu, share: 0x500 + 9),
    230: _since((565,), _hopper(_UINT, lambda gpu: gpu.recovery_action)),
    231: _since((565,), _c2c(_ULL, 0)),
    232: _since((565,), _c2c(_ULL, 0)),
    233: _since((565,), _c2c(_ULL, 0)),
    **{
        235 + number: _since((570,), _nvlink(5, 5, lambda gpu, share, n=number: 10 ** max(0, 9 - n)))  # type: ignore[misc]
        for number in range(16)
    },
}


def _moving(number: int, node: Node, gpu: SimGpu) -> Answer:
    """Fields whose ids moved between 580.65 and 580.82; the wrong one answers SUCCESS with another meaning."""
    if node.driver < (575, 51):
        raise Status(NOT_SUPPORTED)
    old = node.driver[:2] <= (580, 65)
    throttle = _OLD_THROTTLE if old else _NEW_THROTTLE
    if number in throttle:
        return _ULL, int(gpu.event_ns[throttle[number]])
    return _UINT, 37  # a power-smoothing setting


def _answer(node: Node, gpu: SimGpu, number: int, scope: int) -> Answer:
    if 251 <= number <= 273:
        return _moving(number, node, gpu)
    read_field = _READS.get(number)
    if read_field is None:
        raise Status(NOT_SUPPORTED)
    return read_field(node, gpu, scope)


@physical
def _field_values(node: Node, gpu: SimGpu, count: int, pointer: int) -> int:
    stamp = int(node.clock.now() * 1e6)
    for place in range(pointer, pointer + count * _SIZE, _SIZE):
        number, scope = read(place, "II")
        try:
            kind, value = _answer(node, gpu, number, scope)
        except Status as status:
            put(place + 8, "qqIIQ", stamp, 3, 0, status.code, 0)
        else:
            packed: Any = value if kind == _DOUBLE else int(value)
            put(place + 8, f"qqII{_LAYOUT[kind]}", stamp, 3, kind, 0, packed)
    return 0


FUNCTIONS: dict[str, Entry] = {"nvmlDeviceGetFieldValues": ("pip", _field_values)}
