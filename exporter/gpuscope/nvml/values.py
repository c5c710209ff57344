"""What a raw driver value means: units, and the numbers that stand for "no value".

Drivers and DCGM mark unknown values with numbers of their own (for example 9223372036854775794). They come with
SUCCESS, so that only the value tells. Such a reading becomes ``BLANK``, which the sink drops and counts: it never
reaches a sample.
"""

import math

__all__ = ["BLANK", "GIGA", "KIBI", "MEBI", "MEGA", "MICRO", "MILLI", "NANO", "PERCENT", "plain"]

BLANK = math.nan
"""A value that the driver itself marks as unknown. Arithmetic keeps it blank."""

NANO, MICRO, MILLI, PERCENT = 1e-9, 1e-6, 1e-3, 1e-2
KIBI, MEBI, MEGA, GIGA = 1024.0, 1024.0**2, 1e6, 1e9

_BLANK_INTEGERS = frozenset(
    [0x7FFFFFF0 + step for step in range(16)]
    + [0x7FFFFFFFFFFFFFF0 + step for step in range(16)]
    + [0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF]
)
_BLANK_FLOATS = frozenset(140737488355328.0 + step for step in range(4))


def plain(value: float) -> float:
    """Returns the value as a float, or ``BLANK`` when it is one of the known sentinels or not finite.

    Args:
        value: an integer or a float as the driver gave it, in the driver's unit.
    """
    if isinstance(value, int):
        return BLANK if value in _BLANK_INTEGERS else float(value)
    return BLANK if value in _BLANK_FLOATS or value in _BLANK_INTEGERS or not math.isfinite(value) else float(value)
