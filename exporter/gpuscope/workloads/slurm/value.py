"""One value as Slurm's releases write it: plain, or ``{"set": …, "infinite": …, "number": …}``, or text."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo

__all__ = ["exit_of", "moment", "number", "text", "words"]

_NO_VALUE = frozenset({0xFFFFFFFE, 0xFFFFFFFF, 0xFFFE, 0xFFFF, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF})
_NOTHING = frozenset({"", "(null)", "None", "N/A", "Unknown", "UNKNOWN", "unknown", "None assigned", "n/s", "Invalid"})
_EXIT = re.compile(r"([0-9]{1,10}):([0-9]{1,5})")


def number(value: object) -> int | None:
    """A whole number; ``None`` for what is not set, infinite, or one of Slurm's marks for "no value"."""
    if isinstance(value, Mapping):
        if value.get("set") is False or value.get("infinite") is True:
            return None
        value = value.get("number")
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    if not isinstance(value, int) or value < 0 or value in _NO_VALUE:
        return None
    return value


def text(value: object) -> str:
    """A text; empty for what stands for nothing."""
    found = value.strip() if isinstance(value, str) else ""
    return "" if found in _NOTHING else found


def words(value: object) -> tuple[str, ...]:
    """Words of a list or of ``A+B+C``, in capitals."""
    parts = value if isinstance(value, list) else value.split("+") if isinstance(value, str) else []
    return tuple(part.strip().upper() for part in parts if isinstance(part, str) and part.strip())


def moment(value: object, zone: tzinfo | None = UTC) -> float | None:
    """Unix time; ``None`` for "not yet" and "unknown".

    Args:
        value: seconds, or a date in text as ``2026-11-30T10:34:04``.
        zone: in which a date is meant; ``None`` is that of this machine.
    """
    seconds = number(value)
    if seconds is not None:
        return float(seconds) if seconds > 0 else None
    if not isinstance(value, str):
        return None
    try:
        date = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    if date.tzinfo is None and zone is not None:
        date = date.replace(tzinfo=zone)
    return date.timestamp()


def exit_of(value: object) -> tuple[int, int] | None:
    """Exit code and signal, from ``3:0``, from a wait status (768), or from an object with ``return_code``."""
    if isinstance(value, Mapping) and ("return_code" in value or "signal" in value or "status" in value):
        signal = value.get("signal")
        if isinstance(signal, Mapping):
            signal = signal.get("id", signal.get("signal_id", signal))
        return number(value.get("return_code")) or 0, number(signal) or 0
    if isinstance(value, str) and (match := _EXIT.fullmatch(value.strip())):
        return int(match[1]), int(match[2])
    status = number(value)
    return None if status is None else (status >> 8 & 0xFF, status & 0x7F)
