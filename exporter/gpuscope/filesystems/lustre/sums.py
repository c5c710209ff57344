"""Sums of counters that only grow, although a part may start anew or go away."""

from collections.abc import Hashable, Mapping

__all__ = ["Sums"]


class Sums:
    """A sum for each key, over parts that come and go.

    Were the parts merely added, one that is unmounted would take its bytes along, and ``rate()`` would take the fall
    for a restart and count all that is left once more.
    """

    def __init__(self) -> None:
        self._parts: dict[Hashable, dict[str, tuple[float, float]]] = {}

    def update(self, parts: Mapping[Hashable, Mapping[str, float]]) -> dict[Hashable, float]:
        """The sum for each key.

        Args:
            parts: value of each part by name, by key. A part that is not there keeps what it had, also when it comes
                back; a key that is not there is forgotten.
        """
        self._parts = {key: self._parts.get(key, {}) for key in parts}
        for key, values in parts.items():
            known = self._parts[key]
            for name, value in values.items():
                base, last = known.get(name, (0.0, 0.0))
                known[name] = (base + last if value < last else base, value)
        return {key: sum(base + last for base, last in known.values()) for key, known in self._parts.items()}
