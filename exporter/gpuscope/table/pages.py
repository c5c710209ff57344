"""Cuts the table into pages for terminals that are lower than the fleet is long."""

from collections.abc import Iterable

from gpuscope.table.rows import GpuRow, NodeRows

__all__ = ["pages"]

_NODE_LINES = 2
"""The name of a node, and the empty line behind it."""


def pages(nodes: Iterable[NodeRows], height: int) -> list[list[NodeRows]]:
    """Splits rows into pages.

    A node that does not fit goes on on the next page, under its name again; a GPU keeps its MIG instances with it.

    Args:
        nodes: rows of all nodes.
        height: lines for rows on one page, without the heads of the columns.

    Returns:
        At least one page; higher than ``height`` only where a single GPU with its instances is.
    """
    done: list[list[NodeRows]] = []
    page: list[NodeRows] = []
    room = height
    for node in nodes:
        part: NodeRows | None = None
        rows: list[GpuRow | None] = [*node.ordered()]
        for gpu in rows or [None]:
            lines = 1 + len(gpu.mig) if gpu else 0
            if page and lines + (_NODE_LINES if part is None else 0) > room:
                done.append(page)
                page, room, part = [], height, None
            if part is None:
                part = NodeRows(node.node, problem=node.problem, driver=node.driver)
                page.append(part)
                room -= _NODE_LINES
            if gpu:
                part.gpus[gpu.uuid] = gpu
            room -= lines
    return [*done, page]
