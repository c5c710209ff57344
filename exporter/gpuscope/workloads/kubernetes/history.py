"""A job's attempts, put together from the ends of its pods, and kept while the job lives.

One fault ends many pods: the others are torn down with it. All ends of runs that had begun before the first of them
belong to one interruption. An end of a run that began later is the next one.
"""

from dataclasses import replace

from gpuscope.workloads.kubernetes.ends import PodEnd, pod_ends
from gpuscope.workloads.kubernetes.evidence import evidence_of, outcome_of
from gpuscope.workloads.kubernetes.job_view import JobView
from gpuscope.workloads.observation import Attempt, Evidence, KnownAttempts, Outcome

__all__ = ["History"]

_ENDS_KEPT = 64
_INTERRUPTIONS_KEPT = 200
_SAME_SECOND = 1.0
_JOB_END_S = 120.0
_OLD_S = 120.0


class _Interruption:
    """The ends of one attempt."""

    def __init__(self, first: PodEnd, number: int, seen: float) -> None:
        self.ends = [first]
        self.number = number
        self.seen = seen
        self.running: float | None = None
        self.nodes: dict[str, None] = {}
        self.planned: Outcome | None = None
        self.planned_word = ""

    @property
    def ended(self) -> float:
        return min(end.ended for end in self.ends)

    def takes(self, end: PodEnd) -> bool:
        """Whether this end belongs to the same attempt."""
        mine = {one.attempt for one in self.ends}
        if end.attempt is not None and None not in mine and end.attempt not in mine:
            return False
        return end.began <= self.ended + _SAME_SECOND

    def add(self, end: PodEnd) -> None:
        if len(self.ends) < _ENDS_KEPT:
            self.ends.append(end)
            self.ends.sort(key=lambda one: one.ended)


class History:
    """Attempts of one job.

    Args:
        known: what was told of the job before the collector restarted, ``None`` for a new one. Kubernetes numbers few
            attempts, so the numbers go on from there.
        settle_s: an end is told so long after it was first seen, with what the other pods had to say by then.
    """

    def __init__(self, known: KnownAttempts | None, settle_s: float) -> None:
        self._known = known
        self._settle_s = settle_s
        self._over_seen: float | None = None
        self._interruptions: list[_Interruption] = []
        self._told: dict[str, set[int]] = {}
        self._first = 0
        self._nodes: dict[str, None] = {}
        self._running: float | None = None
        self._started: float | None = None

    @property
    def interrupted(self) -> bool:
        """Whether an attempt was interrupted."""
        return bool(self._interruptions)

    def attempts(self, view: JobView) -> tuple[Attempt, ...]:
        """Takes in what the job's pods say now; all attempts, the present or last one at the end."""
        self._take(view)
        told = [self._ended(one, view) for one in self._interruptions]
        if self._interruptions and not self._settled(self._interruptions[-1].seen, told[-1].ended, view):
            told[-1] = replace(told[-1], ended=None, outcome=None, evidence=Evidence())
            return tuple(told)
        last = self._last(view)
        if last is not None:
            told.append(last)
        return tuple(told)

    def settled(self, view: JobView) -> bool:
        """Whether the end of the job itself may be told."""
        if self._over_seen is None:
            self._over_seen = view.now
        return self._settled(self._over_seen, view.job.ended, view)

    def _settled(self, seen: float, ended: float | None, view: JobView) -> bool:
        old = ended is not None and view.now - ended >= _OLD_S
        return view.deleted or old or view.now - seen >= self._settle_s

    def _take(self, view: JobView) -> None:
        found = [end for pod in view.pods for end in pod_ends(pod, view.now, gone=False)]
        if view.job.outcome is None and not view.deleted:
            found += [end for pod in view.gone for end in pod_ends(pod, view.now, gone=True)]
        else:
            # With a job that is over its pods are cleaned away; only what failed in them before counts.
            found += [end for pod in view.gone for end in pod_ends(pod, view.now, gone=False)]
        for end in sorted(found, key=lambda one: one.ended):
            uid, run = end.key
            if run not in self._told.setdefault(uid, set()) and self._counts(end, view):
                self._told[uid].add(run)
                self._place(end, view)
        here = {pod.uid for pod in view.pods}
        self._told = {uid: runs for uid, runs in self._told.items() if uid in here and runs}
        self._renumber()
        self._follow(view)

    def _counts(self, end: PodEnd, view: JobView) -> bool:
        """Not what came after the job's own end, and no pod that an elastic job gave back."""
        job = view.job
        if job.ended is not None and end.ended > job.ended + _SAME_SECOND:
            return False
        if end.failed or view.queued or view.suspended:
            return True
        others = [pod for pod in view.rank_pods if pod.deleting is None and pod.uid != end.key[0]]
        replaced = any(pod.created >= end.ended - _SAME_SECOND for pod in others)
        return view.ranks is not None and (replaced or len(others) < view.ranks)

    def _place(self, end: PodEnd, view: JobView) -> None:
        recovered = self._running is not None and end.ended > self._running
        for one in reversed(self._interruptions if not recovered else ()):
            if one.takes(end):
                one.add(end)
                return
            if one.ended < end.ended:
                break
        number = self._interruptions[-1].number + 1 if self._interruptions else self._first
        new = _Interruption(end, max(number, end.attempt or 0), view.now)
        new.nodes, new.running = dict(self._nodes), self._running
        if view.queue is not None and view.queue.evicted:
            new.planned_word = view.queue.evicted
            new.planned = Outcome.PREEMPTED if view.queue.evicted == "Preempted" else Outcome.INTERRUPTED
        if view.suspended and view.queue is None:
            new.planned, new.planned_word = Outcome.CANCELLED, "Suspended"
        if view.queue is not None and not view.queue.active:
            new.planned = Outcome.CANCELLED
        self._interruptions.append(new)
        self._interruptions = self._interruptions[-_INTERRUPTIONS_KEPT:]
        self._nodes, self._running, self._started = {}, None, None

    def _renumber(self) -> None:
        """After the first look: numbers go on behind those that were told before the collector restarted."""
        known, self._known = self._known, None
        if known is None:
            return
        told = len(self._interruptions)
        if known.seen_at is not None:
            told = sum(one.ended <= known.seen_at - self._settle_s for one in self._interruptions)
        behind = (known.number + 1 if known.over else known.number) - told
        if behind > 0:
            self._first = behind
            for one in self._interruptions:
                one.number += behind

    def _follow(self, view: JobView) -> None:
        """The attempt that goes on: where it runs and since when."""
        if self._interruptions and (view.job.outcome is not None or view.deleted):
            return
        live = [pod for pod in view.rank_pods if pod.phase != "Failed" and pod.deleting is None]
        here = {pod.node: None for pod in live if pod.node}
        self._nodes = here if self._started is None else self._nodes | here
        scheduled = [pod.scheduled for pod in live if pod.scheduled is not None and pod.node]
        ranks = view.ranks if view.ranks is not None else len(live)
        if self._started is None and scheduled and len(scheduled) >= ranks:
            self._started = max([*scheduled, *(one.ended for one in self._interruptions[-1:])])
        if self._running is None and view.all_ranks_ready():
            ready = [pod.ready for pod in live if pod.ready is not None]
            self._running = max(ready, default=None)

    def _ended(self, one: _Interruption, view: JobView) -> Attempt:
        last = one is self._interruptions[-1] and _near(one.ended, view.job.ended)
        evidence = evidence_of(one.ends, view, word=one.planned_word or self._word(view, last=last))
        scheduled = [end.scheduled for end in one.ends if end.scheduled is not None]
        starts = [end.began for end in one.ends]
        nodes = dict(one.nodes)
        nodes.update((end.node, None) for end in one.ends if end.node)
        outcome = one.planned or outcome_of(one.ends, evidence)
        if last and view.job.outcome is Outcome.TIMED_OUT:
            outcome = Outcome.TIMED_OUT
        return Attempt(
            one.number, min(scheduled, default=min(starts)), one.running, one.ended, outcome, tuple(nodes), evidence
        )

    def _word(self, view: JobView, *, last: bool) -> str:
        return view.job.state_word if last and view.job.outcome not in {None, Outcome.SUCCEEDED} else ""

    def _last(self, view: JobView) -> Attempt | None:
        """The attempt that goes on, or the one that ended with the job and by no pod's failure."""
        number = self._interruptions[-1].number + 1 if self._interruptions else self._first
        job, outcome, evidence = view.job, view.job.outcome, Evidence()
        over = outcome is not None or view.deleted
        if over and self._started is None and outcome is not Outcome.SUCCEEDED and (self._interruptions or not outcome):
            return None
        if over and outcome is None:
            outcome, evidence = view.deletion_outcome, Evidence(state="Deleted")
        elif outcome is not None and outcome is not Outcome.SUCCEEDED:
            waiting = tuple(dict.fromkeys(reason for pod in view.pods for reason in pod.waiting))
            # Only Ray tells of a stop that its user asked for.
            asked = True if outcome is Outcome.CANCELLED else None
            evidence = Evidence(
                state=job.state_word, reason=job.message, container_reasons=waiting, requested_by_user=asked
            )
        ended = (job.ended if job.ended is not None else view.now) if over else None
        attempts = [pod.attempt for pod in view.rank_pods if pod.attempt is not None]
        number = max([number, *attempts])
        return Attempt(number, self._started, self._running, ended, outcome, tuple(self._nodes), evidence)


def _near(ended: float, job_ended: float | None) -> bool:
    """Whether an attempt's end is that of the job: controllers write the latter down a little later."""
    return job_ended is not None and abs(job_ended - ended) <= _JOB_END_S
