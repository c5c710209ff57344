"""Rows of the table of jobs, from the JSON of a collector."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

__all__ = ["JobRow", "JobsLook", "read_jobs"]


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job; empty or ``None`` is what nobody knows.

    Attributes:
        state: what it does; empty once it has ended.
        outcome: how it ended; empty while it lives.
        seconds: how long it has been in its state, or since it ended.
        fault: type of its last interruption.
        progress: share that is done, 0 to 1, where the job tells.
        remaining_s: seconds that it expects to take yet.
        why: why it waits, as its scheduler says.
        nodes: where it runs now.
    """

    workload: str
    job_id: str
    scheduler: str = ""
    namespace: str = ""
    state: str = ""
    outcome: str = ""
    team: str = ""
    queue: str = ""
    user: str = ""
    gpus: int | None = None
    seconds: float | None = None
    restarts: int = 0
    fault: str = ""
    progress: float | None = None
    remaining_s: float | None = None
    why: str = ""
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobsLook:
    """What a collector says, or why it does not.

    Attributes:
        jobs: its jobs.
        problem: which scheduler does not answer it, or why it does not answer itself.
        answered: whether it answered.
    """

    jobs: list[JobRow] = field(default_factory=list)
    problem: str = ""
    answered: bool = True


def read_jobs(document: Any) -> JobsLook:
    """The rows of ``/api/v1/jobs``.

    Times are counted to the moment at which the document was made, so that two machines' clocks need not agree.

    Raises:
        ValueError: it is no such document.
    """
    try:
        now = _moment(document["generated_at"])
        silent = [f"{one['name']}: {one['reason']}" for one in document["sources"] if one["reason"]]
        rows = [_row(job, now) for job in document["jobs"]]
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not jobs of a collector: {error!r}") from error
    return JobsLook(rows, "; ".join(silent))


def _row(job: Mapping[str, Any], now: float | None) -> JobRow:
    since = _moment(job["ended"] if job["outcome"] else job["state_since"])
    return JobRow(
        workload=job["workload"] or "",
        job_id=job["job_id"],
        scheduler=job["scheduler"],
        namespace=job["namespace"] or "",
        state=job["state"] or "",
        outcome=job["outcome"] or "",
        team=job["team"] or "",
        queue=job["queue"] or "",
        user=job["user"] or "",
        gpus=job["gpus"],
        seconds=None if since is None or now is None else max(0.0, now - since),
        restarts=job["restarts"],
        fault=job["last_fault"] or "",
        progress=job["progress_ratio"],
        remaining_s=job["remaining_seconds"],
        why=job.get("why") or "",
        nodes=tuple(job.get("nodes") or ()),
    )


def _moment(text: str | None) -> float | None:
    return None if text is None else datetime.fromisoformat(text).timestamp()
