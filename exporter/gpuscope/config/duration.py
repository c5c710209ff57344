"""Durations as Prometheus writes them: ``500ms``, ``5s``, ``1m30s``."""

import re

__all__ = ["format_duration", "parse_duration"]

_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_DURATION = re.compile("".join(f"(?:(?P<{unit}>[0-9]{{1,9}}){unit})?" for unit in _UNITS))


def parse_duration(text: str) -> float:
    """Seconds of a duration; ``0`` needs no unit. Units come from the largest to the smallest, each at most once.

    Raises:
        ValueError: not a duration.
    """
    if text == "0":
        return 0.0
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        unit = "; it needs a unit" if text.isdigit() else ""
        raise ValueError(f"{text!r} is not a duration like 500ms, 5s or 1m30s{unit}")
    return sum(int(count) * _UNITS[unit] for unit, count in found.groupdict("0").items()) / 1000


def format_duration(seconds: float) -> str:
    """The shortest way to write a duration, to the millisecond."""
    rest = round(seconds * 1000)
    text = ""
    for unit, size in _UNITS.items():
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text or "0"
