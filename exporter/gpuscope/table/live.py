"""Keeps the table on the terminal and up to date."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from gpuscope.table.pages import pages
from gpuscope.table.rows import NodeRows
from gpuscope.table.view import gpu_table, summary, troubles

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["show"]

_PAGE_S = 6.0
_COLUMN_HEADS = 3
_LOWEST = 6


def show(
    screen: "Console",
    look: Callable[[], list[NodeRows]],
    *,
    interval_s: float,
    foot: str,
    head: str = "",
    until: float = float("inf"),
) -> None:
    """Shows the table until a moment, or until Ctrl-C; what does not fit the terminal comes page by page.

    Args:
        screen: a terminal.
        look: reads the rows anew.
        interval_s: seconds between two looks.
        foot: what to say at the end of the last line.
        head: lines above the table.
        until: moment of ``time.monotonic`` at which to end.
    """
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    above = Text(head, overflow="fold") if head else None
    started = time.monotonic()
    with Live(console=screen, screen=True, auto_refresh=False) as live:
        while time.monotonic() < until:
            nodes = look()
            below = Text(_bad(nodes), style="red", overflow="ellipsis", no_wrap=True)
            used = len(screen.render_lines(above)) if above else 0
            cut = pages(nodes, max(_LOWEST, screen.height - used - _COLUMN_HEADS - 2))
            number = int((time.monotonic() - started) / _PAGE_S) % len(cut)
            page = f"   page {number + 1} of {len(cut)}" if len(cut) > 1 else ""
            last = Text(
                f"{summary(nodes)}{page}   {time.strftime('%H:%M:%S')}   {foot}", overflow="ellipsis", no_wrap=True
            )
            parts = [*([above] if above else []), gpu_table(cut[number], width=screen.width), below, last]
            live.update(Group(*parts))
            live.refresh()
            time.sleep(min(interval_s, max(0.0, until - time.monotonic())))


def _bad(nodes: list[NodeRows]) -> str:
    found = troubles(nodes)
    return f"{len(found)} in trouble: {'; '.join(found)}" if found else ""
