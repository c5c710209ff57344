"""Bad input beside NVML: counted with its reason at every look, logged when it appears and when it is gone."""

import errno
import logging
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Problem", "Problems", "reason_of"]

_LOGGED = 10
_SHOWN = 300
_REASONS = {
    errno.ENOENT: "missing",
    errno.ENOTDIR: "not_a_folder",
    errno.EISDIR: "not_a_file",
    errno.ENXIO: "not_a_file",
    errno.EACCES: "no_permission",
    errno.EPERM: "no_permission",
    errno.ELOOP: "link_loop",
    errno.ESTALE: "stale",
    errno.EIO: "io_error",
}


class Problem(NamedTuple):
    """One thing that could not be used: its ``name``, a path or a file name, and a short ``reason`` for a label."""

    name: str
    reason: str


class Problems:
    """What one reader of files could not use.

    Args:
        log: the reader's logger.

    Attributes:
        counts: reason -> how often it was seen, over all looks.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._last: frozenset[Problem] = frozenset()
        self.counts: Counter[str] = Counter()

    def report(self, found: Iterable[Problem]) -> None:
        """Takes all problems of one look; those that the last look had too are counted and not logged again."""
        problems = list(found)
        self.counts.update(problem.reason for problem in problems)
        now = frozenset(problems)
        new, gone = sorted(now - self._last), sorted(self._last - now)
        self._last = now
        for name, reason in new[:_LOGGED]:
            self._log.warning("%s: %s", _shown(name), reason)
        if len(new) > _LOGGED:
            self._log.warning("%d more cannot be used", len(new) - _LOGGED)
        for name, reason in gone[:_LOGGED]:
            self._log.info("%s: no longer %s", _shown(name), reason)


def _shown(name: str) -> str:
    shown = ascii(name)[1:-1]
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def reason_of(error: OSError) -> str:
    """A short word for a label, ``error`` for what is not expected here."""
    return _REASONS.get(error.errno or 0, "error")
