"""The integral of a ratio over contiguous windows: the counter behind every ``…_active_seconds_total``."""

from dataclasses import dataclass

__all__ = ["Integral"]


@dataclass(slots=True)
class Integral:
    """Σ value × seconds, kept from cycle to cycle."""

    total: float = 0.0
    observed: bool = False

    def add(self, value: float | None, seconds: float) -> float | None:
        """Adds a window and returns the sum; ``None`` until something was observed.

        A window without a value (``None`` or blank) adds nothing: the sum stands still and stays published.
        """
        if value is not None and value >= 0 and seconds > 0:
            self.total += value * seconds
            self.observed = True
        return self.total if self.observed else None
