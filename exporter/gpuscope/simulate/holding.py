"""What pods and jobs of a scenario have in common: the devices that they hold, from when to when, and what they do.

A device is a GPU by its index, or ``4/0``: the first MIG device of GPU 4 in the order of the scenario's list.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpuscope.simulate.activity import KINDS
from gpuscope.simulate.document import Document, Path

__all__ = ["HOLD_KEYS", "SPAN_KEYS", "Hold", "Layouts", "Slot", "Span", "check_holds", "read_activity", "read_slots",
           "read_span", "read_word"]  # fmt: skip

HOLD_KEYS = ("gpus", "mig")
SPAN_KEYS = ("begin", "end", "every", "activity", "job_name")
_SLOT = re.compile(r"([0-9]{1,2})/([0-9]{1,2})")
_MAX_S = 1_000_000_000
_SHORTEST_S = 10
_HORIZON_S = 86_400
_MOST = 500


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A device: a GPU's index and, for a MIG device, its place in the GPU's list, else -1."""

    gpu: int
    place: int = -1

    def __str__(self) -> str:
        return f"GPU {self.gpu}" if self.place < 0 else f"MIG device {self.gpu}/{self.place}"


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds after the scenario's start: from ``begin`` to ``end``, and again ``every`` so many seconds."""

    begin: int = 0
    end: int | None = None
    every: int | None = None

    def occurrence(self, number: int) -> tuple[int, int | None]:
        """Begin and end of the n-th time, from 0."""
        shift = number * (self.every or 0)
        return self.begin + shift, None if self.end is None else self.end + shift


@dataclass(frozen=True, slots=True)
class Hold:
    """Slots that somebody holds for a span, and where that stands in the scenario.

    Attributes:
        path: where ``who`` stands.
        groups: those who name the same group for a slot may have it together.
    """

    who: str
    slots: tuple[tuple[Slot, Path], ...]
    span: Span
    document: Document
    path: Path
    groups: Mapping[Slot, str] = field(default_factory=dict)


class Layouts:
    """How each GPU is cut at any time of a scenario.

    Args:
        sizes: number of MIG devices of each GPU at the start, ``None`` while MIG is off.
        changes: (seconds, GPU, number of MIG devices or ``None``) of every ``mig`` event.
    """

    def __init__(self, sizes: Sequence[int | None], changes: Iterable[tuple[float, int, int | None]]) -> None:
        self._sizes = sizes
        self._changes = sorted(changes, key=lambda change: change[0])

    def problem(self, slot: Slot, at: float) -> str:
        """Why a device cannot be held at a time, or an empty string."""
        if slot.gpu >= len(self._sizes):
            return f"there is no GPU {slot.gpu}; the machine has {len(self._sizes)} GPUs"
        size = self._sizes[slot.gpu]
        for when, gpu, after in self._changes:
            if gpu == slot.gpu and when <= at:
                size = after
        if slot.place < 0:
            cut = f"GPU {slot.gpu} has MIG on and cannot be held as a whole; say mig: [{slot.gpu}/0]"
            return "" if size is None else cut
        if size is None:
            return f"GPU {slot.gpu} has no MIG devices"
        return "" if slot.place < size else f"GPU {slot.gpu} has {size} MIG devices, counted from 0"

    def until(self, slot: Slot, at: float) -> float:
        """When the device ceases to be, after it was taken."""
        return next((when for when, gpu, _ in self._changes if gpu == slot.gpu and when > at), float("inf"))


def read_span(document: Document, at: Path, entry: Mapping[str, Any]) -> Span:
    """Reads ``begin``, ``end`` and ``every``.

    Raises:
        ConfigError: no such times.
    """
    begin = document.whole((*at, "begin"), entry.get("begin", 0), 0, _MAX_S)
    if "end" not in entry:
        if "every" in entry:
            raise document.fail((*at, "every"), "needs an end")
        return Span(begin)
    end = document.whole((*at, "end"), entry["end"], 0, _MAX_S)
    if end <= begin:
        raise document.fail((*at, "end"), f"{end} does not come after the begin, {begin}")
    if "every" not in entry:
        return Span(begin, end)
    every = document.whole((*at, "every"), entry["every"], _SHORTEST_S, _MAX_S)
    if every < end - begin:
        raise document.fail((*at, "every"), f"{every} is shorter than the {end - begin} s that it takes")
    return Span(begin, end, every)


def read_activity(document: Document, at: Path, entry: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Reads ``activity`` and ``job_name``, ``None`` where the device's own stand.

    Raises:
        ConfigError: an unknown activity.
    """
    activity = document.one_of((*at, "activity"), entry["activity"], KINDS) if "activity" in entry else None
    return activity, document.text((*at, "job_name"), entry["job_name"]) if "job_name" in entry else None


def read_slots(document: Document, at: Path, entry: Mapping[str, Any]) -> tuple[tuple[Slot, Path], ...]:
    """Reads ``gpus`` and ``mig``: devices, and where each stands.

    Raises:
        ConfigError: no such lists, or a device twice.
    """
    found: dict[Slot, Path] = {}
    for key in HOLD_KEYS:
        if key not in entry:
            continue
        for number, value in enumerate(document.sequence((*at, key), entry[key], "devices")):
            path = (*at, key, number)
            slot = _slot(document, path, key, value)
            if slot in found:
                raise document.fail(path, f"{slot} is given twice")
            found[slot] = path
    return tuple(found.items())


def _slot(document: Document, path: Path, key: str, value: object) -> Slot:
    if key == "gpus":
        return Slot(document.whole(path, value, 0, 99))
    match = _SLOT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise document.fail(path, f"{value!r} is no MIG device like 4/0: GPU 4, the first of its list")
    return Slot(int(match[1]), int(match[2]))


def read_word(document: Document, path: Path, value: object, pattern: re.Pattern[str], what: str) -> str:
    """A text of a fixed form.

    Raises:
        ConfigError: something else.
    """
    text = document.text(path, value)
    if not pattern.fullmatch(text):
        raise document.fail(path, f"{text!r} is not {what}")
    return text


def check_holds(holds: Sequence[Hold], layouts: Layouts, replicas: Sequence[int]) -> None:
    """Checks that names are there once, and that no device has more holders at a time than it has shares.

    It looks at the first day of the scenario; a holder that finds no room later waits.

    Args:
        holds: of all pods and jobs.
        layouts: how the GPUs are cut.
        replicas: shares of each GPU's devices.

    Raises:
        ConfigError: names the holder that comes too late.
    """
    names: set[str] = set()
    for hold in holds:
        if hold.who in names:
            raise hold.document.fail(hold.path, f"{hold.who} is there twice")
        names.add(hold.who)
    takers: dict[Slot, list[tuple[Hold, Path]]] = {}
    for hold in holds:
        for slot, path in hold.slots:
            takers.setdefault(slot, []).append((hold, path))
    for slot, found in takers.items():
        if len(found) <= replicas[slot.gpu]:
            continue
        changes = sorted(
            (change for taker in found for change in _changes(taker, slot, layouts)), key=lambda change: change[:2]
        )
        inside: list[Hold] = []
        for _, begins, (hold, path) in changes:
            if not begins:
                inside.remove(hold)
                continue
            room = replicas[slot.gpu]
            group = hold.groups.get(slot)
            apart = [other for other in inside if group is None or other.groups.get(slot) != group]
            if apart and len(inside) >= room:
                held = ", ".join(other.who for other in inside)
                shares = f"has {room} shares" if room > 1 else "is not shared"
                raise hold.document.fail(path, f"{slot} {shares} and is held by {held} at that time")
            inside.append(hold)


def _changes(taker: tuple[Hold, Path], slot: Slot, layouts: Layouts) -> Iterator[tuple[float, bool, tuple[Hold, Path]]]:
    """(seconds, whether it begins, who) of every time, ends before begins."""
    span = taker[0].span
    until = layouts.until(slot, span.begin)
    for number in itertools.count() if span.every else (0,):
        begin, end = span.occurrence(number)
        if begin >= until or number >= _MOST or (number and begin > _HORIZON_S):
            return
        yield begin, True, taker
        yield min(until, float("inf") if end is None else end), False, taker
