"""Which buckets lie below a limit: PromQL compares labels as text, so the limit becomes a regular expression."""

from __future__ import annotations

from decimal import Decimal

__all__ = ["SMALLEST", "bounds_up_to"]

SMALLEST = 0.0001
"""Smaller bounds are written with exponents, and cannot be compared as text."""


def bounds_up_to(limit: float) -> str:
    """A regular expression of all numbers from 0 to a limit, as exporters write bounds: ``0.5``, ``2.0``, ``1e-05``.

    Args:
        limit: the largest number that matches; not below `SMALLEST`.

    Raises:
        ValueError: a smaller limit.
    """
    if limit < SMALLEST:
        raise ValueError(f"a limit of {limit}: bounds as small as that are written with exponents")
    whole, _, fraction = format(Decimal(repr(float(limit))), "f").partition(".")
    fraction = fraction.rstrip("0")
    found = [rf"{smaller}(\.[0-9]+)?" for smaller in _smaller(whole)]
    found += [rf"{whole}\.{less}[0-9]*" for less in _smaller_digits(fraction)]
    found += [rf"{whole}\.{fraction[:end]}" for end in range(1, len(fraction))]
    exact = rf"{whole}\.{fraction}0*" if fraction else rf"{whole}(\.0+)?"
    found += [exact, whole] if fraction else [exact]
    return "|".join([*found, r"[0-9](\.[0-9]+)?e-[0-9]+"])


def _smaller(whole: str) -> list[str]:
    """Patterns of whole numbers below this one, without leading zeros."""
    found = [f"[0-9]{{1,{len(whole) - 1}}}"] if len(whole) > 1 else []
    for index, digit in enumerate(whole):
        first = 1 if index == 0 and len(whole) > 1 else 0
        if int(digit) > first:
            found.append(f"{whole[:index]}[{first}-{int(digit) - 1}][0-9]{{{len(whole) - index - 1}}}")
    return found


def _smaller_digits(fraction: str) -> list[str]:
    """Begins of fractions below this one: equal up to a digit that is smaller."""
    return [f"{fraction[:index]}[0-{int(digit) - 1}]" for index, digit in enumerate(fraction) if digit != "0"]
