"""Draws the table of alerts, in a width between 80 and 200 columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpuscope.table.cell import cut
from gpuscope.table.live import Page, Screenful

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["AlertRow", "alert_table", "alerts_screenful", "alerts_summary"]

_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan", "none": "dim"}
"""By severity, the gravest first."""
_WIDTHS = {"Severity": 8, "Alert": 26, "Where": 0, "Measured": 22, "Since": 7, "Told": 8}
"""Of each column; where has the rest."""
_BETWEEN = 2
_LEAST = 10
_NARROW = 110
"""Below it values have no column."""


@dataclass(frozen=True, slots=True)
class AlertRow:
    """One alert as a receiver was told of it.

    Attributes:
        name: of the alert.
        severity: ``critical``, ``warning`` or ``info``.
        where: node, GPU, job; as the alert tells it.
        told: who was told.
        began: when it began, in seconds since 1970.
        over: whether it is over.
        measured: value and unit, where there are any.
    """

    name: str
    severity: str
    where: str
    told: str
    began: float
    over: bool
    measured: str = ""


def alert_table(alerts: Sequence[AlertRow], *, now: float, title: str = "", width: int = 120) -> "RenderableType":
    """The table of these alerts: those that fire first, by severity, then those that are over."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False, collapse_padding=True)
    columns = {name: size for name, size in _WIDTHS.items() if size and (name != "Measured" or width >= _NARROW)}
    room = width - sum(columns.values()) - _BETWEEN * (len(columns) + 1)
    for name in _WIDTHS:
        if name == "Where" or name in columns:
            justify: Literal["left", "right"] = "right" if name == "Since" else "left"
            table.add_column(name, justify=justify, no_wrap=True, width=columns.get(name, max(_LEAST, room)))
    wide = "Measured" in columns
    for alert in _ordered(alerts):
        severity = cut("over" if alert.over else alert.severity, style="" if alert.over else _style(alert))
        cells: list[Text] = [severity, cut(alert.name), cut(alert.where)]
        if wide:
            cells.append(cut(alert.measured))
        table.add_row(*cells, cut(_span(now - alert.began)), cut(alert.told), style="dim" if alert.over else "")
    return table


def alerts_screenful(alerts: Sequence[AlertRow], now: float, width: int, height: int) -> Screenful:
    """The pages of alerts; none where nothing was told.

    Args:
        alerts: rows.
        now: seconds since 1970.
        width: of the terminal.
        height: rows that have room on a page.
    """
    rows = _ordered(alerts)
    cuts = [rows[start : start + height] for start in range(0, len(rows), height)]
    return Screenful([Page(alert_table(part, now=now, width=width), alerts_summary(alerts)) for part in cuts])


def alerts_summary(alerts: Sequence[AlertRow]) -> str:
    """One line: how many fire, by severity, and how many are over."""
    firing = [alert for alert in alerts if not alert.over]
    words = [
        f"{count} {severity}" for severity in _STYLES if (count := sum(alert.severity == severity for alert in firing))
    ]
    over = len(alerts) - len(firing)
    return f"alerts: {', '.join(words) or 'none'}" + (f"; {over} over" if over else "")


def _ordered(alerts: Sequence[AlertRow]) -> list[AlertRow]:
    order = list(_STYLES)
    return sorted(
        alerts,
        key=lambda alert: (
            alert.over,
            order.index(alert.severity) if alert.severity in order else len(order),
            alert.name,
            alert.where,
        ),
    )


def _style(alert: AlertRow) -> str:
    return _STYLES.get(alert.severity, "")


def _span(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole} s" if whole < 120 else f"{whole // 60} min"
