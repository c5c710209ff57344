"""What could not be read or understood: counted each time, logged when it begins and when it is over."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping

__all__ = ["ProblemLog", "Problems", "may_hide_a_job"]

log = logging.getLogger(__name__)

_SHOWN = 160


class Problems:
    """Problems of one look."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.standing: frozenset[str] = frozenset()
        self.hidden: set[str] = set()

    def add(self, reason: str, example: str = "", count: int = 1) -> None:
        """Counts a problem.

        Args:
            reason: one of the words in ``docs/collector-slurm.md``.
            example: what it was, for the log; others may have written it, so that it is shown in quotes and cut.
            count: how many.
        """
        self.counts[reason] += count
        self.examples.setdefault(reason, example)

    def merge(self, other: "Problems") -> None:
        """Takes what others found as well."""
        self.counts += other.counts
        self.examples = other.examples | self.examples

    def keep(self, reasons: Iterable[str]) -> None:
        """Reasons that were counted at an earlier look whose answer still stands: not over, and not counted again."""
        self.standing |= frozenset(reasons)


def may_hide_a_job(problems: Problems) -> bool:
    """Whether some job may be there of which not even its number is known."""
    counts = problems.counts
    return counts["malformed_job"] > 0 or (counts["ambiguous_job"] > 0 and counts["names_unknown"] > 0)


class ProblemLog:
    """Writes a problem to the log once, however long it lasts.

    Attributes:
        open: reasons that were not over at the last look.
    """

    def __init__(self) -> None:
        self.open: frozenset[str] = frozenset()

    def tell(self, problems: Problems) -> Mapping[str, int]:
        """Logs what is new and what is over; returns reason -> count."""
        for reason in sorted(problems.counts.keys() - self.open):
            example = problems.examples[reason]
            told = f"; first: {example[:_SHOWN]!r}" if example else ""
            log.warning("slurm: %s (%d)%s", reason, problems.counts[reason], told)
        present = problems.standing.union(problems.counts)
        for reason in sorted(self.open - present):
            log.info("slurm: %s is over", reason)
        self.open = present
        return dict(problems.counts)
