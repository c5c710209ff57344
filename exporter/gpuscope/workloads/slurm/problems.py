"""What could not be read or understood: counted each time, logged when it begins and when it is over."""

import logging
from collections import Counter
from collections.abc import Mapping

__all__ = ["ProblemLog", "Problems"]

log = logging.getLogger(__name__)

_SHOWN = 160


class Problems:
    """Problems of one look."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, str] = {}

    def add(self, reason: str, example: str = "", count: int = 1) -> None:
        """Counts a problem.

        Args:
            reason: one of the words in ``docs/collector-slurm.md``.
            example: what it was, for the log; others may have written it, so that it is shown in quotes and cut.
            count: how many.
        """
        self.counts[reason] += count
        self.examples.setdefault(reason, example)


class ProblemLog:
    """Writes a problem to the log once, however long it lasts."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    def tell(self, problems: Problems) -> Mapping[str, int]:
        """Logs what is new and what is over; returns reason -> count."""
        for reason in sorted(problems.counts.keys() - self._open):
            example = problems.examples[reason]
            told = f"; first: {example[:_SHOWN]!r}" if example else ""
            log.warning("slurm: %s (%d)%s", reason, problems.counts[reason], told)
        for reason in sorted(self._open - problems.counts.keys()):
            log.info("slurm: %s is over", reason)
        self._open = set(problems.counts)
        return dict(problems.counts)
