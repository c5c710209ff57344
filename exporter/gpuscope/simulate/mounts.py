"""The mounts of a scenario.

::

    filesystems:
      - {type: lustre, name: lustre01, mountpoint: /lustre01, targets: 4}
      - {type: nfs4, name: "nas:/home", mountpoint: /home}
      - {type: xfs, name: /dev/md0, mountpoint: /scratch}
"""

import posixpath
import re
from dataclasses import dataclass

from gpuscope.simulate.document import Document

__all__ = ["TYPES", "FilesystemPlan", "filesystem_plans"]

TYPES = ("lustre", "nfs4", "xfs")
"""Types of file systems that a scenario can have."""

_LUSTRE_NAME = re.compile("[A-Za-z0-9_-]+")
_KEYS = ("type", "name", "mountpoint", "targets", "read_only")


@dataclass(frozen=True, slots=True)
class FilesystemPlan:
    """One mount of a scenario; ``targets`` are the object targets of a Lustre file system."""

    type: str
    name: str
    mountpoint: str
    targets: int = 4
    read_only: bool = False


def filesystem_plans(document: Document, raw: object) -> tuple[FilesystemPlan, ...]:
    """Reads the ``filesystems`` of a scenario.

    Raises:
        ConfigError: not such a list; names file, line and key.
    """
    plans: list[FilesystemPlan] = []
    for number, entry in enumerate(document.sequence(("filesystems",), raw, "file systems")):
        path = ("filesystems", number)
        document.mapping(path, entry, _KEYS)
        kind = document.one_of((*path, "type"), entry.get("type"), TYPES)
        name = document.text((*path, "name"), entry.get("name"))
        mountpoint = document.text((*path, "mountpoint"), entry.get("mountpoint"))
        for key, value in (("name", name), ("mountpoint", mountpoint)):
            if not value.isprintable() or " " in value or "\\" in value or not value:
                raise document.fail((*path, key), f"{value!r} must be printable, without spaces and backslashes")
        if kind == "lustre" and not _LUSTRE_NAME.fullmatch(name):  # it becomes part of the names of files
            raise document.fail((*path, "name"), f"{name!r} must be letters, digits, _ and -")
        if mountpoint.startswith("/") and mountpoint != posixpath.normpath("/" + mountpoint.lstrip("/")):
            raise document.fail((*path, "mountpoint"), f"{mountpoint!r} must be a plain path, as the kernel shows it")
        if not mountpoint.startswith("/") or mountpoint in {plan.mountpoint for plan in plans}:
            raise document.fail((*path, "mountpoint"), f"{mountpoint!r} must start with / and be there once")
        targets = document.whole((*path, "targets"), entry.get("targets", 4), 1, 64)
        read_only = document.flag((*path, "read_only"), entry.get("read_only", False))
        plans.append(FilesystemPlan(kind, name, mountpoint, targets, read_only))
    return tuple(plans)
