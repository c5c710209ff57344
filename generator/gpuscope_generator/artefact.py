"""Generated files: written in one step, or compared with what lies there."""

import difflib
import os
import tempfile
from pathlib import Path

__all__ = ["difference", "write"]

_SHOWN_LINES = 20


def write(path: Path, text: str) -> bool:
    """Puts a text into a file so that a reader sees the old or the new file and nothing between.

    Returns:
        Whether the file changed; a file that is current is left alone.

    Raises:
        OSError: the folder is missing or not writable. Nothing is left behind then.
    """
    if difference(path, text) is None:
        return False
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return True


def difference(path: Path, text: str) -> str | None:
    """How a file differs from the text that should be in it, in a few lines; ``None`` when it is current.

    Raises:
        OSError: the file is there but cannot be read.
    """
    try:
        found = path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return "the file is missing"
    if found == text:
        return None
    lines = list(
        difflib.unified_diff(found.splitlines(), text.splitlines(), "committed", "generated", lineterm="", n=0)
    )
    changes = [line for line in lines if line[:1] in "+-" and not line.startswith(("+++ ", "--- "))]
    added = sum(line.startswith("+") for line in changes)
    shown = changes[:_SHOWN_LINES]
    more = len(changes) - len(shown)
    head = f"{added} lines to add, {len(changes) - added} to remove"
    return "\n".join([head, *shown, *([f"… and {more} more"] if more else [])])
