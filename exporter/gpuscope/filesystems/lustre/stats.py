"""Counters in the format of lprocfs, as in ``llite.*.stats`` and ``read_ahead_stats``.

::

    snapshot_time             1510950459.772792457 secs.nsecs
    read_bytes                16 samples [bytes] 4096 4194304 44179456 178129507188736
    open                      434 samples [usecs] 1 1229 10438 10028664
    getxattr                  85 samples [regs]

The numbers behind the unit are smallest, largest, sum and, since 2.13, sum of squares. A counter that is 0 has no line.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = ["Counted", "Stats", "parse_lnet", "parse_stats"]

_NUMBER = r"-?[0-9]{1,20}"  # Python refuses to read numbers of some thousand digits
_LINE = re.compile(
    rf"(\w+)\s+([0-9]{{1,20}}) samples \[(\S+)\](?: ({_NUMBER}) ({_NUMBER}) ({_NUMBER})(?: {_NUMBER})?)?\s*"
)
_TIME = re.compile(r"(snapshot|start|elapsed)_time:?\s+\d+\.\d+ .*")
_WHOLE = re.compile("[0-9]{1,20}")
_LNET_FIELDS = 11


@dataclass(frozen=True, slots=True)
class Counted:
    """One counter: samples, the unit of their sum, and the sum where it is kept."""

    samples: int
    unit: str
    sum: int | None


@dataclass(frozen=True, slots=True)
class Stats:
    """All counters of a file, and whether every line was understood: only then is one without a line 0."""

    counters: Mapping[str, Counted]
    complete: bool


def parse_stats(text: str, bad: Callable[[str], None]) -> Stats:
    """Reads such a file.

    Args:
        text: the file.
        bad: called with ``garbage`` or ``truncated`` for each line that is no counter.
    """
    found: dict[str, Counted] = {}
    complete = text.startswith("snapshot_time")
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if not line.strip() or _TIME.fullmatch(line):
            continue
        if place == len(lines) - 1:
            bad("truncated")  # a number may have been cut off, and still look like one
            complete = False
            continue
        match = _LINE.fullmatch(line)
        total = int(match[6]) if match and match[6] is not None else None
        if match is None or (total is not None and total < 0):
            bad("garbage")
            complete = False
            continue
        found[match[1]] = Counted(int(match[2]), match[3], total)
    return Stats(found, complete)


def parse_lnet(text: str, bad: Callable[[str], None]) -> tuple[int, ...]:
    """The eleven numbers of LNet's ``stats``, or nothing.

    In order: messages allocated and at most allocated, errors; messages sent, received, routed and dropped; bytes sent,
    received, routed and dropped.
    """
    words = text.split()
    if len(words) < _LNET_FIELDS or not text.endswith("\n"):
        bad("truncated")
    elif not all(_WHOLE.fullmatch(word) for word in words[:_LNET_FIELDS]):
        bad("garbage")
    else:
        return tuple(int(word) for word in words[:_LNET_FIELDS])
    return ()
