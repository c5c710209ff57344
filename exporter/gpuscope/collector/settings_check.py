"""What the collector refuses before it starts, so that ``--check-config`` refuses it too. Nothing is left behind."""

import re
import shutil
import tempfile
from pathlib import Path

from gpuscope.config import Settings
from gpuscope.errors import ConfigError
from gpuscope.workloads.store import Store

__all__ = ["check"]

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LEASE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


def check(settings: Settings) -> None:
    """Checks what can be checked without asking a scheduler; the way to Kubernetes is checked where it is opened.

    Raises:
        ConfigError: a setting cannot work.
    """
    for namespace in settings["kubernetes.namespace"]:
        if not _NAMESPACE.fullmatch(namespace):
            raise ConfigError(f"--kubernetes.namespace {namespace!r}: is no name of a namespace")
    lease, label = settings["kubernetes.lease"], settings["kubernetes.team-label"]
    if lease and not settings["kubernetes"]:
        raise ConfigError("--kubernetes.lease: needs --kubernetes")
    if lease and not _LEASE.fullmatch(lease):
        raise ConfigError(f"--kubernetes.lease {lease!r}: must be NAMESPACE/NAME")
    if label and not _LABEL.fullmatch(label):
        raise ConfigError(f"--kubernetes.team-label {label!r}: is no name of a label")
    _check_state_file(settings.file("state-file"))
    if settings["slurm"]:
        _check_slurm(settings.file("slurm.commands"))


def _check_state_file(state_file: Path | None) -> None:
    """A file that cannot be used is a bad setting; later it would only be a reason to wait."""
    if state_file is None:
        return
    if state_file.exists():
        Store(state_file).close()
        return
    try:
        with tempfile.NamedTemporaryFile(dir=state_file.resolve().parent):
            pass
    except OSError as error:
        raise ConfigError(f"--state-file {state_file}: cannot be created: {error.strerror}") from error


def _check_slurm(folder: Path | None) -> None:
    if folder is None:
        return  # $PATH may be another one in a moment, and the usual places are looked at too
    if not folder.is_dir():
        raise ConfigError(f"--slurm.commands {folder}: is no folder")
    if shutil.which("scontrol", path=str(folder)) is None:
        raise ConfigError(f"--slurm.commands {folder}: scontrol is not there, or may not be run")
