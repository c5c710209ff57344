"""Rates of our counters, for fields that DCGM has as rates only."""

from collections.abc import Container, Hashable
from dataclasses import dataclass

from gpuscope.sampling.sampler import Readings

__all__ = ["Rates"]


@dataclass(slots=True)
class _Point:
    readings: Readings
    source: Hashable
    value: float
    rate: float | None = None


class Rates:
    """Remembers the last two readings of each counter."""

    def __init__(self) -> None:
        self._points: dict[tuple[str, Hashable], _Point] = {}

    def rate(self, uuid: str, name: Hashable, value: float, readings: Readings, source: Hashable) -> float | None:
        """What a counter grew by per second between its last two readings.

        Args:
            uuid: the GPU.
            name: the counter.
            value: where it stands.
            readings: what the value is from; its time counts.
            source: who took it. Readings of different sources are not compared: they are not in step.

        Returns:
            ``None`` at the first reading, and where the counter began anew.
        """
        last = self._points.get((uuid, name))
        if last is not None and last.readings is readings:
            return last.rate
        point = _Point(readings, source, value)
        if last is not None and last.source == source and value >= last.value and readings.taken > last.readings.taken:
            point.rate = (value - last.value) / (readings.taken - last.readings.taken)
        self._points[uuid, name] = point
        return point.rate

    def keep(self, uuids: Container[str]) -> None:
        """Forgets all other GPUs, so that no rate spans the time in which one was away."""
        self._points = {key: point for key, point in self._points.items() if key[0] in uuids}
