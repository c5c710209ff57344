"""Panels without queries of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from gpuscope_generator.view.panel import Panel

__all__ = ["AlertList", "Prose"]


@dataclass(frozen=True, kw_only=True)
class Prose(Panel):
    """Text on the board, in Markdown."""

    kind: ClassVar[str] = "text"

    content: str = ""

    def options(self) -> dict[str, Any]:
        return {"mode": "markdown", "content": self.content}


@dataclass(frozen=True, kw_only=True)
class AlertList(Panel):
    """Alerts that fire or are about to, by their labels.

    Attributes:
        label_filter: conditions on the labels of the alerts, such as ``{cluster=~"$cluster"}``.
    """

    kind: ClassVar[str] = "alertlist"

    label_filter: str = ""

    def options(self) -> dict[str, Any]:
        return {
            "viewMode": "list",
            "groupMode": "default",
            "groupBy": [],
            "maxItems": 20,
            "sortOrder": 3,
            "dashboardAlerts": False,
            "alertName": "",
            "alertInstanceLabelFilter": self.label_filter,
            "datasource": "$datasource",
            "stateFilter": {"firing": True, "pending": True, "noData": False, "normal": False, "error": True},
        }
