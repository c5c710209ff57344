"""Durations as Prometheus writes them: ``500ms``, ``5s``, ``1m30s``."""

import re

__all__ = ["format_duration", "parse_duration"]

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_WHOLE = re.compile(r"^(?:\d+(?:ms|[dhms]))+$")
_PART = re.compile(r"(\d+)(ms|[dhms])")


def parse_duration(text: str) -> float:
    """Seconds of a duration; ``0`` needs no unit.

    Raises:
        ValueError: not a duration.
    """
    if text == "0":
        return 0.0
    if not _WHOLE.match(text):
        raise ValueError(f"{text!r} is not a duration like 500ms, 5s or 1m30s")
    return sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(text))


def format_duration(seconds: float) -> str:
    """The shortest way to write a duration; whole milliseconds."""
    rest = round(seconds * 1000)
    text = ""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text or "0"
