"""The routes as a table for people."""

from __future__ import annotations

from gpuscope_generator.alertmanager.model import Alertmanager
from gpuscope_generator.alertmanager.routing import Route, route_tree, told_receivers, walk
from gpuscope_generator.rules.text import duration

__all__ = ["routes_table"]

_HEAD = ("Alerts", "What for", "Told", "One message for each", "First after", "Changes every", "Again after")


def routes_table(settings: Alertmanager) -> str:
    """One line a route, in the order in which Alertmanager tries them; what is indented is tried first of all."""
    told = told_receivers(settings)
    rows = [_HEAD]
    tree = list(walk(route_tree(settings)))
    for depth, route, grouping in (*tree[1:], tree[0]):
        if grouping is None:
            continue
        names = told.get(route.receiver, ())
        who = ", ".join(f"{name} ({settings.receivers[name].type})" for name in names) or "nobody"
        rows.append(
            (
                "  " * max(0, depth - 1) + _matched(route),
                route.about,
                who + (", and on" if route.goes_on else ""),
                ", ".join(grouping.group_by) or "receiver",
                duration(grouping.group_wait),
                duration(grouping.group_interval),
                duration(grouping.repeat_interval),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(max(lines, key=len)), *lines[1:]])


def _matched(route: Route) -> str:
    return " ".join(match.text for match in route.matches) or "all others"
