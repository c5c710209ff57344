"""Prometheus' text format, written as other exporters write it: any name, any type, any label."""

from collections.abc import Sequence

from gpuscope.simulate.cluster.curves import Spread

__all__ = ["Family", "Page", "labels"]

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_EXACT = 1e15


def labels(**pairs: object) -> str:
    """Labels as they stand between the braces; those without a value are left out, a trailing ``_`` of a name too."""
    return ",".join(
        f'{name.rstrip("_")}="{str(value).translate(_ESCAPES)}"'
        for name, value in pairs.items()
        if value not in {"", None}
    )


def number(value: float) -> str:
    """A sample's value as text."""
    if value == float("inf"):
        return "+Inf"
    if value == int(value) and abs(value) < _EXACT:
        return str(int(value))
    return repr(round(value, 6))


class Family:
    """One metric with its samples.

    Args:
        name: as in its TYPE line.
        kind: ``gauge``, ``counter`` or ``histogram``.
        text: of its HELP line.
    """

    __slots__ = ("lines", "name")

    def __init__(self, name: str, kind: str, text: str) -> None:
        self.name = name
        self.lines = [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]

    def add(self, value: float, base: str = "", /, **more: object) -> None:
        """One sample.

        Args:
            value: of the sample.
            base: labels, already as text.
            more: further labels.
        """
        inner = base
        if more:
            extra = labels(**more)
            inner = f"{base},{extra}" if base and extra else base or extra
        self.lines.append(f"{self.name}{{{inner}}} {number(value)}" if inner else f"{self.name} {number(value)}")

    def observe(self, parts: Sequence[tuple[Spread, float]], base: str = "", /, **more: object) -> None:
        """A histogram of observations that came from several spreads over the same bounds.

        Args:
            parts: each spread, and how many observations it gave so far.
            base: labels, already as text.
            more: further labels.
        """
        inner = ",".join(part for part in (base, labels(**more)) if part)
        lead = f"{inner}," if inner else ""
        count = int(sum(seen for _, seen in parts))
        for place, bound in enumerate(parts[0][0].bounds):
            below = int(sum(seen * spread.shares[place] for spread, seen in parts))
            self.lines.append(f'{self.name}_bucket{{{lead}le="{_bound(bound)}"}} {below}')
        self.lines.append(f'{self.name}_bucket{{{lead}le="+Inf"}} {count}')
        total = number(sum(seen * spread.mean for spread, seen in parts))
        braces = f"{{{inner}}}" if inner else ""
        self.lines.append(f"{self.name}_sum{braces} {total}")
        self.lines.append(f"{self.name}_count{braces} {count}")


def _bound(value: float) -> str:
    # As the Go and the Python client write floats; both are read as the same bucket.
    return str(float(value))


class Page:
    """An exposition, family by family."""

    def __init__(self) -> None:
        self._families: dict[str, Family] = {}

    def family(self, name: str, kind: str, text: str = "") -> Family:
        """The family of that name, begun when it is asked for the first time."""
        found = self._families.get(name)
        if found is None:
            found = self._families[name] = Family(name, kind, text or name.replace("_", " "))
        return found

    def gauge(self, name: str, text: str = "") -> Family:
        """A gauge."""
        return self.family(name, "gauge", text)

    def counter(self, name: str, text: str = "") -> Family:
        """A counter."""
        return self.family(name, "counter", text)

    def histogram(self, name: str, text: str = "") -> Family:
        """A histogram."""
        return self.family(name, "histogram", text)

    def text(self) -> str:
        """All of it; families without a sample are left out."""
        lines = [line for family in self._families.values() if len(family.lines) > 2 for line in family.lines]
        return "\n".join(lines) + "\n" if lines else ""
