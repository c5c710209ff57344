"""Variables: what a reader chooses at the top of a board."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscope_generator.promql import Selector, Series

__all__ = ["ALL_NEGATED", "ALL_OR_NONE", "ALL_PRESENT", "Choice", "DataSource", "LabelValues", "Variable"]

ALL_OR_NONE = ".*"
"""What All stands for where a series may lack the label."""
ALL_NEGATED = ".*|"
"""The same for a variable that ``!~`` reads: VictoriaMetrics finds with ``!~".*"`` what lacks the label."""
ALL_PRESENT = ".+"
"""What All stands for where every series carries the label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """The data source; always the first variable."""

    name: str = "datasource"
    label: str = "Data source"
    type: str = "prometheus"
    regex: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelValues:
    """The values of a label, of a series that is cheap to read.

    Attributes:
        name: of the variable, the same on every board.
        label: what the reader sees.
        selector: which series; its conditions may name variables further left.
        values_of: which label.
        multi: several may be chosen.
        include_all: "All" is offered, and is the default.
        all_value: what All stands for.
    """

    name: str
    label: str
    selector: Selector[Series]
    values_of: str
    multi: bool = True
    include_all: bool = True
    all_value: str = ALL_OR_NONE

    def __post_init__(self) -> None:
        if self.values_of not in self.selector.selected.carried:
            raise TypeError(f"variable {self.name}: {self.selector.selected.name} carries no {self.values_of}")

    @property
    def query(self) -> str:
        """The query as Grafana writes it."""
        return f"label_values({self.selector.text}, {self.values_of})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of a few fixed values.

    Attributes:
        options: (shown text, value) pairs; the first is the default.
    """

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    multi: bool = False

    def __post_init__(self) -> None:
        if any("," in part or ":" in part for option in self.options for part in option):
            raise ValueError(f"variable {self.name}: Grafana takes a comma or a colon in an option for a separator")


Variable = DataSource | LabelValues | Choice
