"""Durations in words, and where they stand in the texts of alerts."""

from __future__ import annotations

import re

__all__ = ["HELD", "held_and", "spoken", "with_duration"]

HELD = "@held@"
"""In a text of an alert: how long its condition must have held, as the settings have it."""
_MARK = re.compile(r"@held(?:\+(\d+))?@")
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_USUAL = {0: "a moment", 1800: "half an hour", 5400: "an hour and a half"}


def held_and(seconds: int) -> str:
    """The same as `HELD` with the window before it in which the condition looks back.

    Args:
        seconds: of that window.
    """
    return f"@held+{seconds}@"


def with_duration(text: str, for_s: int) -> str:
    """A text with the duration of its alert in it."""
    return _MARK.sub(lambda mark: spoken(for_s + int(mark[1] or 0)), text)


def spoken(seconds: int) -> str:
    """Seconds as people say them: ``five minutes``, ``half an hour``."""
    if seconds in _USUAL:
        return _USUAL[seconds]
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    count = seconds // size
    if count == 1:
        return f"{'an' if unit == 'hour' else 'a'} {unit}"
    return f"{_WORDS[count] if count < len(_WORDS) else count} {unit}s"
