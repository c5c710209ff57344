"""What the collector knows at one moment."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gpuscope.sampling.exposition import Exposition
from gpuscope.workloads.observation import NOT_YET
from gpuscope.workloads.record import JobRecord

__all__ = ["CollectorSnapshot", "SourceStatus"]


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """One scheduler.

    Attributes:
        name: ``kubernetes`` or ``slurm``.
        answered: unix time of its last answer, ``None`` before the first.
        reason: why it does not answer, empty while it does.
        seconds: how long the last look took.
        clock_offset: seconds by which its clock is ahead of ours; ``None`` where that is not known.
    """

    name: str
    answered: float | None = None
    reason: str = NOT_YET
    seconds: float = 0.0
    clock_offset: float | None = None


@dataclass(frozen=True, slots=True)
class CollectorSnapshot:
    """Everything that is answered from.

    Attributes:
        exposition: the finished metrics.
        sources: the schedulers.
        jobs: all jobs, newest first.
        created: unix time.
        waits: why this collector does not lead; empty for the leader.
        unsaved: why what was counted cannot be written; empty while it is.
    """

    exposition: Exposition = field(default_factory=Exposition)
    sources: Sequence[SourceStatus] = ()
    jobs: Sequence[JobRecord] = ()
    created: float = 0.0
    waits: str = ""
    unsaved: str = ""

    @property
    def ready(self) -> bool:
        """Whether it leads and keeps what it counts, and every scheduler has answered at least once."""
        return not self.waits and not self.unsaved and all(source.answered is not None for source in self.sources)
