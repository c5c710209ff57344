"""What jobs do to a GPU: curves of activity over time, the same for the same seed."""

import math
from dataclasses import dataclass
from zlib import crc32

__all__ = ["KINDS", "RATIOS", "Load", "load_at"]

RATIOS = ("graphics", "sm", "occupancy", "tensor", "dram")
"""Activities that GPM gives as ratios."""


@dataclass(frozen=True, slots=True)
class Load:
    """Activity at one moment: ratios 0-1, traffic in bytes per second of a whole GPU."""

    graphics: float = 0.0
    sm: float = 0.0
    occupancy: float = 0.0
    tensor: float = 0.0
    dram: float = 0.0
    memory: float = 0.0
    pcie_tx: float = 0.0
    pcie_rx: float = 0.0
    nvlink: float = 0.0
    encoder: float = 0.0
    decoder: float = 0.0


_IDLE = Load()


def _wave(t: float, period: float, phase: float) -> float:
    return 0.5 + 0.5 * math.sin(2 * math.pi * (t / period + phase))


def _noise(t: float, seed: int) -> float:
    """Smooth noise 0-1: two waves without a common period."""
    phase = seed % 997 / 997
    return 0.6 * _wave(t, 7.3, phase) + 0.4 * _wave(t, 17.9, phase * 3)


def _training(t: float, seed: int, shared: int) -> Load:
    """Steady steps; a checkpoint of 20 s every 5 min, a data stall of 8 s every 97 s. Phases are the job's."""
    place = (t + 40 + shared % 200) % 300
    stall = (t + 20 + shared % 60) % 97
    memory = 0.89 + 0.02 * (seed % 5) / 5
    if place < 20:
        return Load(0.07, 0.03, 0.02, 0.0, 0.04, memory, pcie_tx=9e9, pcie_rx=0.2e9)
    if stall < 8:
        return Load(0.12, 0.08, 0.05, 0.03, 0.06, memory, pcie_rx=0.5e9)
    ripple = 0.04 * _wave(t, 1.7, shared % 13 / 13) + 0.05 * _noise(t, seed)
    sm = 0.80 + ripple
    return Load(0.97, sm, 0.34 + ripple, 0.62 + ripple, 0.44 + ripple, memory, 0.9e9, 1.6e9 + 2e8 * ripple, 140e9)


def _finetune(t: float, seed: int, shared: int) -> Load:
    busy = _training(t, seed, shared)
    return Load(
        busy.graphics * 0.92, busy.sm * 0.74, busy.occupancy, busy.tensor * 0.68, busy.dram * 1.2, 0.62,
        busy.pcie_tx, busy.pcie_rx, busy.nvlink * 0.3,
    )  # fmt: skip


def _inference(t: float, seed: int, shared: int) -> Load:
    """Requests in waves of some minutes with bursts; memory is held by weights and cache."""
    level = 0.25 + 0.5 * _wave(t, 420, seed % 101 / 101) + 0.2 * _noise(t, seed)
    level = min(level, 0.98)
    return Load(level, level * 0.7, level * 0.25, level * 0.38, level * 0.8, 0.86, 0.15e9 * level, 0.2e9 * level, 8e9)


def _batch(t: float, seed: int, shared: int) -> Load:
    """Video and embedding batches: two minutes of work, one of waiting."""
    if (t + seed % 180) % 180 > 120:
        return Load(memory=0.31)
    level = 0.55 + 0.35 * _noise(t, seed)
    return Load(level, level * 0.6, 0.3, level * 0.2, level * 0.5, 0.47, 2e9, 3e9, 0, 0.12 * level, 0.55 * level)


def _notebook(t: float, seed: int, shared: int) -> Load:
    """Mostly idle with memory held; a cell runs now and then."""
    if (t + seed % 240) % 240 > 15:
        return Load(memory=0.18)
    return Load(0.6, 0.35, 0.2, 0.1, 0.3, 0.22, 0.3e9, 0.5e9)


def _idle(t: float, seed: int, shared: int) -> Load:
    return _IDLE


KINDS = {
    "training": _training,
    "finetune": _finetune,
    "inference": _inference,
    "batch": _batch,
    "notebook": _notebook,
    "idle": _idle,
}


def load_at(kind: str, t: float, own: str, job: str) -> Load:
    """Load of one GPU or MIG instance.

    Args:
        kind: one of ``KINDS``.
        t: seconds since the scenario began.
        own: name of the device, for its own noise.
        job: name of the job; devices of one job share its phases.
    """
    return KINDS[kind](t, crc32(own.encode()), crc32(job.encode()))
