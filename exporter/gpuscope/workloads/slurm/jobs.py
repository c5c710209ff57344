"""Puts the records of one job together: its attempts, the tasks of an array, the components of a heterogeneous job."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpuscope.workloads.observation import (
    WHY_LENGTH,
    Attempt,
    JobFacts,
    JobKey,
    JobState,
    ObservedJob,
    ObservedNode,
)
from gpuscope.workloads.plausible import mended
from gpuscope.workloads.slurm.attempt import attempt_of, has_run, requeued_attempt, with_nodes
from gpuscope.workloads.slurm.heterogeneous import merge_components
from gpuscope.workloads.slurm.identity import Identities
from gpuscope.workloads.slurm.problems import Problems, may_hide_a_job
from gpuscope.workloads.slurm.row import JobRow, uid_of
from gpuscope.workloads.slurm.states import base_of, job_state, outcome, strange_words

__all__ = ["Memory", "assemble"]

_REQUEUED_FROM = frozenset({"REQUEUED", "NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "FAILED"})
"""Ends that another attempt may follow; ``FAILED`` is the completion log's word for a requeue by exit code."""
_SUBMISSION_S = 60
"""So far apart are the components of a heterogeneous job submitted, at the most."""


@dataclass(slots=True)
class Memory:
    """What slurmctld told of a job and will not tell again after a requeue.

    Attributes:
        submitted: unix time of the submission by which it is known.
        created: unix time of the first submission.
        attempts: number -> attempt as last seen.
    """

    submitted: int
    created: float
    attempts: dict[int, Attempt] = field(default_factory=dict)


def assemble(
    live: Iterable[JobRow],
    history: Iterable[JobRow],
    nodes: Mapping[str, ObservedNode],
    memory: dict[tuple[str, int], Memory],
    identities: Identities,
    problems: Problems,
    now: float,
) -> list[ObservedJob]:
    """All jobs.

    Args:
        live: records of slurmctld, each of one job or of the first of many tasks of an array.
        history: records of slurmdbd or of the completion log, each of one attempt.
        nodes: by name.
        memory: (id, component) -> what is remembered; brought up to date.
        identities: tell jobs with the same id apart; brought up to date.
        problems: gets what cannot be understood.
        now: unix time at which slurmctld was asked, by its own clock.
    """
    hidden = may_hide_a_job(problems) or bool(problems.hidden)
    present: dict[tuple[str, int], JobRow] = {}
    for row in live:
        present[uid_of(row), row.het_offset or 0] = row
    past: dict[tuple[str, int], list[JobRow]] = {}
    for row in history:
        # Tasks of an array that wait are slurmctld's to tell: they run from there.
        if row.array_tasks == "" and base_of(row.states) != "RESIZING":
            past.setdefault((uid_of(row), row.het_offset or 0), []).append(row)
    components: dict[str, list[ObservedJob]] = {}
    for key in memory.keys() - present.keys() - past.keys():
        del memory[key]
    for key in dict.fromkeys((*present, *past)):
        rows: Sequence[JobRow] = sorted(past.get(key, ()), key=lambda row: (row.submitted or 0.0, row.started or 0.0))
        if key not in present:
            rows = _of_last_job(rows)
            if outcome(rows[-1].states) is None:
                # slurmdbd never learned of its end; slurmctld knows of no such job.
                if not hidden and (rows[-1].submitted or 0.0) < now - 60.0:
                    problems.add("runaway_job", key[0])
                continue
        job = _job(key, present.get(key), rows, nodes, memory, identities, problems, now)
        components.setdefault(key[0], []).append(job)
    identities.forget(now)
    return [merge_components(jobs) for jobs in components.values()]


def _of_last_job(rows: Sequence[JobRow]) -> Sequence[JobRow]:
    """Rows of the last job of a number: one that was used again, after Slurm lost its state, names several jobs."""
    first = len(rows) - 1
    while first > 0:
        before, after = rows[first - 1], rows[first]
        if before.restarts is not None and after.restarts is not None:
            goes_on = before.restarts < after.restarts
        else:
            goes_on = base_of(before.states) in _REQUEUED_FROM
        if not goes_on:
            break
        first -= 1
    return rows[first:]


def _job(
    key: tuple[str, int],
    live: JobRow | None,
    past: Sequence[JobRow],
    nodes: Mapping[str, ObservedNode],
    memory: dict[tuple[str, int], Memory],
    identities: Identities,
    problems: Problems,
    now: float,
) -> ObservedJob:
    last = past[-1] if live is None else live
    restarts = last.restarts if last.restarts is not None else max(0, len(past) - 1)
    if live is not None:
        # History is read after slurmctld and may be a requeue ahead of it; that is for the next look.
        past = [row for row in past if (row.submitted or 0.0) <= (live.submitted or 0.0)]
    # Slurm gives each attempt another time of submission.
    same = next((row for row in past if row.submitted == last.submitted), None)
    attempts_before = restarts if same is None else restarts + 1
    past = past[max(0, len(past) - attempts_before) :]  # what is older belongs to a job that had the same number
    earlier_rows = [row for row in past if row.submitted != last.submitted and has_run(row)]
    if live is not None and same is not None:
        last = _completed_by(live, same)
    for word in strange_words(last.states, of_node=False):
        problems.add("unknown_job_state", word)
    attempts: dict[int, Attempt] = {}
    number = restarts
    for row in reversed(earlier_rows):
        number = min(number - 1, row.restarts) if row.restarts is not None else number - 1
        if number < 0:
            break
        attempts[number] = attempt_of(row, number, problems)
    submissions = sorted({int(row.submitted or 0.0) for row in (*past, last)})
    submitted = identities.submission(
        key[0], submissions, restarts, now if outcome(last.states) is None else min(now, last.ended or now),
        whole=len(submissions) > restarts, apart_s=0 if last.het_job is None else _SUBMISSION_S,
    )  # fmt: skip
    known = memory.get(key)
    if known is None or known.submitted != submitted or restarts == 0:
        known = Memory(submitted, min(submitted, submissions[0]))
    for earlier, attempt in known.attempts.items():
        if earlier < restarts and earlier not in attempts and attempt.ended is not None:
            attempts[earlier] = attempt
    before = attempts.get(restarts - 1, known.attempts.get(restarts - 1))
    if restarts > 0 and _still_ends(last, before):
        # Slurm counts a restart as soon as it is asked for, while the attempt before it is still being cleaned up.
        attempts[restarts - 1] = before or Attempt(restarts - 1, last.started)
    else:
        if restarts > 0 and (before is None or before.ended is None):
            attempts[restarts - 1] = requeued_attempt(last, restarts - 1, before, problems)
        if has_run(last):
            attempts[restarts] = attempt_of(last, restarts, problems)
    attempts = {one: attempt for one, attempt in attempts.items() if one >= restarts - 1 or attempt.ended is not None}
    told = {one: with_nodes(attempts[one], nodes) for one in sorted(attempts)}
    memory[key] = Memory(submitted, min(known.created, submissions[0]), told)
    return _observed(key[0], last, restarts, memory[key])


def _observed(uid: str, row: JobRow, restarts: int, known: Memory) -> ObservedJob:
    ended_as = outcome(row.states)
    waits = ended_as is None and base_of(row.states) != "RUNNING"
    state = JobState.UNKNOWN if ended_as else job_state(row.states, row.reason, restarts)
    return ObservedJob(
        key=JobKey("slurm", "", uid, known.submitted),
        facts=JobFacts(row.name, _kind(row), row.account, row.partition, row.user, row.gpus, row.qos, row.tasks),
        created=known.created,
        state=state,
        attempts=tuple(known.attempts.values()),
        outcome=ended_as,
        ended=row.ended if ended_as is not None else None,
        restarts=restarts,
        why=mended(row.detail or row.reason, WHY_LENGTH) if waits else "",
        nodes=() if ended_as is not None else _held_nodes(known.attempts.values()),
    )


def _held_nodes(attempts: Iterable[Attempt]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node for attempt in attempts if attempt.ended is None for node in attempt.nodes))


def _still_ends(row: JobRow, before: Attempt | None) -> bool:
    if outcome(row.states) is not None or "COMPLETING" not in row.states:
        return False
    return base_of(row.states) != "COMPLETING" or (before is not None and before.started == row.started)


def _kind(row: JobRow) -> str:
    if row.het_job:
        return "het_job"
    return "job" if row.array_job is None else "array_task"


def _completed_by(live: JobRow, same: JobRow) -> JobRow:
    """What slurmctld says, and of slurmdbd's record of the same attempt what slurmctld never tells."""
    return replace(
        live,
        killed_by=same.killed_by,
        uid=same.uid if live.uid is None else live.uid,
        failed_node=live.failed_node or same.failed_node,
        comment=live.comment or same.comment,
        gpus=same.gpus if live.gpus is None else live.gpus,
        account=live.account or same.account,
    )
