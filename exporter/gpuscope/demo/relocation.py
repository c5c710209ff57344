"""Programs of Debian that look for their files below ``/usr``, made to look where they were unpacked."""

from pathlib import Path

__all__ = ["folder_of", "relocate"]

_COMPILED = b"/usr/share/prometheus/alertmanager"
_THERE = b"/proc/self/cwd".ljust(len(_COMPILED), b"/")
"""The folder in which the program is started, in exactly as many bytes."""
_SHARE = _COMPILED.decode().removeprefix("/usr/")


def relocate(root: Path) -> None:
    """Changes Alertmanager, which ends at once where its default templates do not lie below ``/usr/share``.

    Args:
        root: of the unpacked packages. Where the program is not there, or knows no such folder, nothing changes.
    """
    program = root / "usr/bin/prometheus-alertmanager"
    if not program.is_file():
        return
    found = program.read_bytes()
    if _COMPILED in found:
        program.write_bytes(found.replace(_COMPILED, _THERE))


def folder_of(program: Path) -> Path | None:
    """The folder in which Alertmanager must be started, as it looks for its default templates there.

    Args:
        program: Alertmanager, installed or unpacked.

    Returns:
        None where it does not matter.
    """
    folder = program.resolve().parents[1] / _SHARE
    return folder if folder.is_dir() else None
