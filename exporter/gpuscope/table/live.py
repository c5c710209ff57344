"""Keeps a table on the terminal and up to date."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuscope.table.cell import printable
from gpuscope.table.pages import pages
from gpuscope.table.rows import NodeRows
from gpuscope.table.view import gpu_table, summary, troubles

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["Page", "Screenful", "gpu_screenful", "show"]

_PAGE_S = 6.0
_COLUMN_HEADS = 3
_LOWEST = 6


@dataclass(frozen=True, slots=True)
class Page:
    """A table that fits the terminal, and the line below it."""

    body: "RenderableType"
    summary: str


@dataclass(frozen=True, slots=True)
class Screenful:
    """What is to be shown now: pages, which take turns, and what is wrong, which stands below each of them."""

    pages: Sequence[Page]
    trouble: str = ""


def gpu_screenful(nodes: list[NodeRows], width: int, height: int) -> Screenful:
    """The pages of the GPUs.

    Args:
        nodes: rows.
        width: of the terminal.
        height: rows that have room on a page.
    """
    found = troubles(nodes)
    return Screenful(
        [Page(gpu_table(page, width=width), summary(nodes)) for page in pages(nodes, height)],
        f"{len(found)} in trouble: {'; '.join(found)}" if found else "",
    )


def show(
    screen: "Console",
    look: Callable[[int], Screenful],
    *,
    interval_s: float,
    foot: str,
    head: str = "",
    until: float = float("inf"),
) -> None:
    """Shows the table until a moment, or until Ctrl-C; what does not fit the terminal comes page by page.

    Args:
        screen: a terminal.
        look: reads anew; takes the number of rows that have room on a page.
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
            used = len(screen.render_lines(above)) if above else 0
            seen = look(max(_LOWEST, screen.height - used - _COLUMN_HEADS - 2))
            below = Text(printable(seen.trouble), style="red", overflow="ellipsis", no_wrap=True)
            number = int((time.monotonic() - started) / _PAGE_S) % len(seen.pages)
            page = seen.pages[number]
            turn = f"page {number + 1} of {len(seen.pages)}   " if len(seen.pages) > 1 else ""
            last = Text(
                f"{time.strftime('%H:%M:%S')}   {turn}{page.summary}   {foot}", overflow="ellipsis", no_wrap=True
            )
            live.update(Group(*([above] if above else []), page.body, below, last))
            live.refresh()
            time.sleep(min(interval_s, max(0.0, until - time.monotonic())))
