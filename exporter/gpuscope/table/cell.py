"""Texts of others in cells: they are cut where there is no room, and cannot steer the terminal."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["cut", "printable"]


def printable(text: str) -> str:
    """The text with every character that is not to be seen, such as Escape or a change of direction, replaced by �."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def cut(text: str, style: str = "") -> "Text":
    """A text that is cut and not wrapped where its column is too narrow."""
    from rich.text import Text

    return Text(printable(text), style=style, no_wrap=True, overflow="ellipsis")
