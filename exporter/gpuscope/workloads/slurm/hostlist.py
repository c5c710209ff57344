"""Host lists as Slurm writes them: ``gpu-[001-004,007],login``."""

import re
from collections.abc import Iterator

from gpuscope.errors import SourceError

__all__ = ["MAX_HOSTS", "expand"]

MAX_HOSTS = 100_000
"""More than any cluster has: a list that claims more is not believed."""

_NUMBER = re.compile(r"[0-9]{1,18}")
_NOTHING = frozenset({"", "(null)", "None", "None assigned", "N/A"})


def expand(text: str, limit: int = MAX_HOSTS) -> tuple[str, ...]:
    """Names of a host list in their order, as ``scontrol show hostnames`` tells them.

    Numbers keep their leading zeros. Brackets in one name multiply (``r[1-2]n[1-2]``), the last one runs fastest.

    Args:
        text: the list; what Slurm writes for "none" gives no names.
        limit: longest list that is believed.

    Raises:
        SourceError: brackets that do not match, an odd range, or too many names.
    """
    if text.strip() in _NOTHING:
        return ()
    names: list[str] = []
    for part in _parts(text.strip()):
        room = limit - len(names)
        names.extend(_names(part, room))
    return tuple(names)


def _parts(text: str) -> Iterator[str]:
    """Splits at commas outside brackets."""
    start, inside = 0, False
    for position, letter in enumerate(text):
        if letter == "[":
            if inside:
                raise SourceError("host list: bracket in a bracket")
            inside = True
        elif letter == "]":
            if not inside:
                raise SourceError("host list: a bracket closes that was not open")
            inside = False
        elif letter == "," and not inside:
            yield text[start:position]
            start = position + 1
    if inside:
        raise SourceError("host list: a bracket stays open")
    yield text[start:]


def _names(part: str, room: int) -> list[str]:
    if not part or any(letter.isspace() for letter in part):
        raise SourceError("host list: an empty or odd name")
    names = [""]
    for position, piece in enumerate(re.split(r"\[([^]]*)]", part)):
        choices = [piece] if position % 2 == 0 else _numbers(piece, room)
        if len(names) * len(choices) > room:
            raise SourceError("host list: too many names")
        names = [name + choice for name in names for choice in choices]
    return names


def _numbers(ranges: str, room: int) -> list[str]:
    found: list[str] = []
    for one in ranges.split(","):
        first, dash, last = one.partition("-")
        if not _NUMBER.fullmatch(first) or (dash and not _NUMBER.fullmatch(last)):
            raise SourceError("host list: an odd range")
        low, high = int(first), int(last) if dash else int(first)
        if high < low or high - low >= room:
            raise SourceError("host list: a range that is empty or too long")
        found.extend(str(number).zfill(len(first)) for number in range(low, high + 1))
    return found
