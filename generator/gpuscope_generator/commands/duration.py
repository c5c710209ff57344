"""Durations and times as flags."""

from __future__ import annotations

import math
from typing import Any

import click

__all__ = ["DURATION", "Seconds"]


class _Duration(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        from gpuscope_generator.promql.filling import seconds

        if isinstance(value, float):
            return value
        try:
            found = seconds(str(value))
        except ValueError as error:
            self.fail(str(error), param, context)
        if found < 0.001:
            self.fail(f"{value!r} is no time", param, context)
        return found


class Seconds(click.FloatRange):
    """A finite number of seconds between two bounds; NaN, which no comparison finds out of them, is refused, too."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        """The number."""
        found = float(super().convert(value, param, context))
        if not math.isfinite(found):
            self.fail(f"{found} is not a finite number.", param, context)
        return found


DURATION = _Duration()
"""A time such as ``30s`` or ``1h30m``, in seconds."""
