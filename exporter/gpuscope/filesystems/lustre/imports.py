"""The connection to one target: its ``import`` and the history in its ``state``.

::

    import:                                     current_state: FULL
        name: lustre01-OST0000-osc-ffff8a2c     state_history:
        target: lustre01-OST0000_UUID            - [ 1510766261, CONNECTING ]
        state: FULL                              - [ 1510766261, FULL ]
        connection:
           connection_attempts: 1
        rpcs:
           timeouts: 0
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["CONNECTED", "Import", "parse_import", "parse_state", "split_instance"]

CONNECTED = frozenset({"FULL", "IDLE"})
"""States in which a target can be used; an idle connection has been closed to save resources."""

_STATE = re.compile(r"\s*state: (\S+)\s*", re.MULTILINE)
_NUMBER = re.compile(r"\s*(connection_attempts|timeouts): ([0-9]{1,20})\s*")
_HISTORY = re.compile(r"\s*- \[\s*([0-9]{1,20}), (\S+?)\s*\]\s*")
_INSTANCE = re.compile(r"(.+)-((?:OST|MDT)[0-9a-fA-F]{4})-(?:osc|mdc)-([^-]+)")


@dataclass(frozen=True, slots=True)
class Import:
    """State of a connection, and what has been counted; ``None`` where the file does not say."""

    state: str
    attempts: int | None
    timeouts: int | None


def split_instance(name: str) -> tuple[str, str, str] | None:
    """File system, target and client of ``lustre01-OST0000-osc-ffff8a2c4e5f1000``; ``None`` for what is no client's.

    A server has instances of the same kind, such as ``lustre01-OST0000-osc-MDT0000``.
    """
    match = _INSTANCE.fullmatch(name)
    if match is None or re.fullmatch("MDT[0-9a-fA-F]{4}", match[3]):
        return None
    return match[1], match[2], match[3]


def parse_import(text: str, bad: Callable[[str], None]) -> Import | None:
    """Reads ``import``; ``None``, and a word to ``bad``, when it has no state."""
    state = ""
    numbers: dict[str, int] = {}
    complete, _, rest = text.rpartition("\n")
    if rest.strip():
        bad("truncated")
    for line in complete.split("\n"):
        found = _STATE.fullmatch(line)
        if found:
            state = found[1]
            continue
        number = _NUMBER.fullmatch(line)
        if number:
            numbers[number[1]] = int(number[2])
    if not state:
        bad("garbage")
        return None
    return Import(state, numbers.get("connection_attempts"), numbers.get("timeouts"))


def parse_state(text: str, bad: Callable[[str], None]) -> list[int]:
    """Unix times of the evictions in ``state``; the kernel keeps the last sixteen changes."""
    evicted = []
    complete, _, rest = text.rpartition("\n")
    if rest.strip():
        bad("truncated")
    for line in complete.split("\n"):
        if not line.strip().startswith("-"):
            continue
        entry = _HISTORY.fullmatch(line)
        if entry is None:
            bad("garbage")
        elif entry[2] == "EVICTED":
            evicted.append(int(entry[1]))
    return evicted
