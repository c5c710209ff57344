"""Generated parts of a document: tables between markers, and keeping them current."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from gpuscope.errors import ConfigError

__all__ = ["markdown_table", "replace_part", "update_document"]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; each line ends with a newline."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n" for cells in lines)


def replace_part(document: str, begin: str, end: str, part: str) -> str:
    """The document with another text between two marker lines.

    Raises:
        ValueError: a marker is missing.
    """
    before, found, rest = document.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"no lines {begin} and {end}")
    return f"{before}{begin}\n{part}{end}{after}"


def update_document(document: Path, update: Callable[[str], str], *, check: bool, command: str) -> int:
    """Writes a document anew when its generated part changed; whole or not at all.

    Args:
        document: the file.
        update: makes the new text from the old one.
        check: change nothing, and say whether it is current.
        command: what makes it current, for the message.

    Returns:
        The exit code: 1 when ``check`` found it stale.

    Raises:
        ConfigError: it cannot be read or written, or has no place for the generated part.
    """
    try:
        old = document.read_text(encoding="utf-8")
        new = update(old)
        if check and new != old:
            click.echo(f"{document} is not current: run `{command} --update {document}`", err=True)
            return 1
        if new != old:
            temporary = document.with_suffix(".new")
            temporary.write_text(new, encoding="utf-8")
            temporary.replace(document)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"--update {document}: {reason}") from error
    return 0
