"""Flags that are finite numbers: NaN passes every comparison with a bound, and infinity many a lower one."""

import math
from typing import Any

import click

__all__ = ["Finite"]


class Finite(click.FloatRange):
    """A finite number between two bounds."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        """The number; a message that names the flag where it is none."""
        found = float(super().convert(value, param, context))
        if not math.isfinite(found):
            self.fail(f"{found} is not a finite number.", param, context)
        return found
