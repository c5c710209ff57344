"""Finds the client's parameters: sysfs, then debugfs, then procfs, then ``lctl get_param``.

Where they lie, by release; what 2.12 moved to debugfs only root can read:

==================  =========  =========  =========  ==========
parameter           2.10       2.12       2.15       2.16
==================  =========  =========  =========  ==========
llite stats         procfs     debugfs    debugfs    debugfs
read_ahead_stats    procfs     debugfs    debugfs    debugfs
osc, mdc rpc_stats  procfs     procfs     procfs     debugfs
osc, mdc import     procfs     procfs     procfs     debugfs
lnet stats          procfs     debugfs    debugfs    debugfs
==================  =========  =========  =========  ==========
"""

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpuscope.errors import SourceError
from gpuscope.filesystems.lustre.lctl import Lctl

__all__ = [
    "IMPORT",
    "LLITE_STATS",
    "LNET_STATS",
    "PARAMS",
    "READ_AHEAD_STATS",
    "RPC_STATS",
    "STATE",
    "Found",
    "Param",
    "Tree",
]

_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: its name as a label, the subsystems that have it, and the name of the file of each instance."""

    name: str
    subsystems: tuple[str, ...]
    leaf: str


LLITE_STATS = Param("llite_stats", ("llite",), "stats")
READ_AHEAD_STATS = Param("read_ahead_stats", ("llite",), "read_ahead_stats")
RPC_STATS = Param("rpc_stats", ("osc", "mdc"), "rpc_stats")
IMPORT = Param("import", ("osc", "mdc"), "import")
STATE = Param("state", ("osc", "mdc"), "state")
LNET_STATS = Param("lnet_stats", (), "stats")
PARAMS = (LLITE_STATS, READ_AHEAD_STATS, RPC_STATS, IMPORT, STATE, LNET_STATS)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search for a parameter gave.

    Attributes:
        source: ``sysfs``, ``debugfs``, ``procfs`` or ``lctl``; empty when it is nowhere.
        texts: content by instance, for example ``lustre01-OST0000-osc-ffff8a2c4e5f1000``; LNet has one, empty.
        refused: reason by source, of those that were tried before.
    """

    source: str
    texts: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


class Tree:
    """The places where parameters can be.

    Args:
        procfs: root of the proc file system.
        sysfs: root of sysfs, below which debugfs is mounted at ``kernel/debug``.
        lctl: runs the command, ``None`` for never.
        failed: called with the parameter's name and a reason for each file that could not be read although it is
            there.
    """

    def __init__(self, procfs: Path, sysfs: Path, lctl: Lctl | None, failed: Callable[[str, str], None]) -> None:
        self._debugfs = sysfs / "kernel/debug"
        self._roots = (
            ("sysfs", sysfs / "fs/lustre", sysfs / "fs/lnet"),
            ("debugfs", self._debugfs / "lustre", self._debugfs / "lnet"),
            ("procfs", procfs / "fs/lustre", procfs / "sys/lnet"),
        )
        self._lctl = lctl
        self._failed = failed

    def present(self) -> bool:
        """Whether the client's modules are loaded."""
        return any(lustre.is_dir() for name, lustre, _ in self._roots if name != "debugfs")

    def version(self) -> str:
        """Version of the client, empty where it does not say."""
        for _, lustre, _ in self._roots:
            try:
                first = (lustre / "version").read_text(encoding="utf-8", errors="backslashreplace").partition("\n")[0]
            except OSError:
                continue
            return first.removeprefix("lustre:").strip()
        return ""

    def find(self, param: Param) -> Found:
        """Reads all instances of a parameter from the first place that has one."""
        refused = {}
        for source, lustre, lnet in self._roots:
            try:
                texts = self._lnet(lnet) if param is LNET_STATS else self._instances(param, lustre)
            except OSError as error:
                refused[source] = self._reason(source, error)
                continue
            if texts:
                return Found(source, texts, refused)
            refused[source] = "missing"
        if self._lctl is None:
            refused["lctl"] = "off"
            return Found("", {}, refused)
        try:
            return Found("lctl", self._ask_lctl(self._lctl, param), refused)
        except SourceError as error:
            refused["lctl"] = str(error)
        return Found("", {}, refused)

    def _instances(self, param: Param, lustre: Path) -> dict[str, str]:
        texts = {}
        refusal: OSError | None = None
        listed = 0
        for subsystem in param.subsystems:
            try:
                names = sorted(os.listdir(lustre / subsystem))
            except FileNotFoundError:
                continue
            listed += 1
            for name in names:
                try:
                    content = _read(lustre / subsystem / name / param.leaf)
                except (FileNotFoundError, NotADirectoryError):
                    continue  # another release has this file elsewhere, or the instance has just gone
                except OSError as error:
                    refusal = error
                    self._failed(param.name, _failure(error))
                    continue
                texts[os.fsencode(name).decode("utf-8", "backslashreplace")] = content
        if not texts and refusal is not None:
            raise refusal
        if not listed:
            os.listdir(lustre)  # tells why: it is not there, or nobody may look
        return texts

    @staticmethod
    def _lnet(lnet: Path) -> dict[str, str]:
        return {"": _read(lnet / "stats")}

    def _reason(self, source: str, error: OSError) -> str:
        if error.errno in {errno.EACCES, errno.EPERM}:
            return "permission"
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            return "error"
        if source == "debugfs":
            try:
                if not os.listdir(self._debugfs):
                    return "not_mounted"
            except PermissionError:
                return "permission"
            except OSError:
                return "not_mounted"
        return "missing"

    @staticmethod
    def _ask_lctl(lctl: Lctl, param: Param) -> dict[str, str]:
        if param is LNET_STATS:
            return {"": lctl.get(param.leaf)[param.leaf]}
        texts = {}
        problem: SourceError | None = None
        for subsystem in param.subsystems:
            try:
                answer = lctl.get(f"{subsystem}.*.{param.leaf}")
            except SourceError as error:
                problem = error
                continue
            for name, content in answer.items():
                texts[name.removeprefix(f"{subsystem}.").removesuffix(f".{param.leaf}")] = content
        if not texts:
            raise problem or SourceError("missing")
        return texts


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MAX_BYTES).decode("utf-8", "backslashreplace")


def _failure(error: OSError) -> str:
    if error.errno in {errno.EACCES, errno.EPERM}:
        return "permission"
    # The kernel's answers for an instance that goes away while it is read.
    return "vanished" if error.errno in {errno.ENODEV, errno.ESTALE, errno.ENXIO} else "io"
