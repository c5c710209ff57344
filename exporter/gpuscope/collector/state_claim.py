"""Which memory a leader counts with, so that one that others have overtaken counts nothing once more."""

import logging
import os
from pathlib import Path

from gpuscope.workloads.store import Store

__all__ = ["StateClaim"]

log = logging.getLogger("gpuscope.collector")


class StateClaim:
    """The memory of this collector, as a candidate for the lead shows it to the others.

    Args:
        state_file: where it is kept; ``None`` for one in memory, which is new whenever the lead is.
    """

    def __init__(self, state_file: Path | None) -> None:
        self._state_file = state_file
        self._in_memory = os.urandom(8).hex()

    def __call__(self, before: str | None) -> str:
        """Makes the memory fit to lead with.

        What another one counted meanwhile is not in it, and would be counted again from the scheduler's own memory. So
        it begins anew unless it is the one that was counted with last. It may be called for a lead that is not had
        then: a memory that was overtaken is of no use to anybody.

        Args:
            before: identity of the memory of whoever led last; empty when nobody said, ``None`` when nobody led yet.

        Returns:
            Its identity.

        Raises:
            ConfigError: the file cannot be used.
        """
        if self._state_file is None:
            return self._in_memory
        store = Store(self._state_file)
        try:
            # Nobody led yet, and yet it led: the Lease was deleted, and with it who led since.
            overtaken = store.claimed if before is None else before != store.identity
            anew = overtaken and bool(store.counters())
            if anew:
                log.warning(
                    "another collector may have counted since %s was written: counters and jobs begin anew",
                    self._state_file,
                )
            store.claim(anew=anew)
            return store.identity
        finally:
            store.close()
