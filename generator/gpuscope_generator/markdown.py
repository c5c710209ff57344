"""Markdown as GitHub reads it: tables, code and anchors."""

from collections.abc import Iterable, Sequence

__all__ = ["anchored", "code", "codes", "details", "table"]


def code(text: str) -> str:
    """Text in a code span; empty stays empty."""
    return f"`{text}`" if text else ""


def codes(texts: Iterable[str], separator: str = ", ") -> str:
    """Several code spans."""
    return separator.join(code(text) for text in texts if text)


def anchored(name: str) -> str:
    """A name in a code span that a link ``#name`` leads to."""
    return f'<a id="{name}"></a>{code(name)}'


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar inside a cell is escaped, also inside code, as GitHub wants it.

    Raises:
        ValueError: a row with more or fewer cells than the header, or a line break in a cell.
    """
    lines = [_row(header), "|" + "---|" * len(header)]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"{len(row)} cells under {len(header)} headings: {row}")
        lines.append(_row(row))
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    if any("\n" in cell for cell in cells):
        raise ValueError(f"line break in a cell: {cells}")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def details(summary: str, body: str) -> str:
    """A part that opens on a click."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"
