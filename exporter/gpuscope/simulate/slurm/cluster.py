"""The simulated Slurm's cluster: a clock of seconds, a queue, nodes that come and go."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol
from zlib import crc32

from gpuscope.simulate.slurm.story import CYCLE_S, HOSTS, JOBS, TROUBLES, Fate, Host, JobPlan, Trouble

__all__ = ["Cluster", "Record", "Story", "uid_of"]

_FIRST_ID = 4200
_REQUEUE_DELAY_S = 6
_HELD_S = 40
_PATIENCE_S = 20
"""After so long the oldest job that waits lets no younger one pass."""
_MIN_JOB_AGE_S = 120
"""So long after its end slurmctld knows a job; slurmdbd knows it longer."""
_HISTORY_S = 3600
_TERM, _SEGV, _OOM = 15, 11, 125
_ENDS = {
    Fate.FAILS: ("FAILED", "NonZeroExitCode", 1 << 8),
    Fate.CRASHES: ("FAILED", "JobLaunchFailure", _SEGV),
    Fate.OUT_OF_MEMORY: ("OUT_OF_MEMORY", "OutOfMemory", _OOM),
    Fate.TIMES_OUT: ("TIMEOUT", "TimeLimit", _TERM),
    Fate.CANCELLED: ("CANCELLED", "None", _TERM),
}
_AGAIN = {Fate.REQUEUED: 0, Fate.STARTS_AGAIN: 99 << 8}
"""Wait statuses of attempts that a requeue ends."""


def uid_of(user: str) -> int:
    """The user's number, the same for the same name; the daemons run as root."""
    return 0 if user in {"root", "slurm"} else 1000 + crc32(user.encode()) % 50_000


@dataclass(frozen=True, slots=True)
class Record:
    """One attempt of a job, as Slurm keeps it; 0 is a time that is not yet."""

    job_id: int
    plan: JobPlan
    submitted: int
    state: str = "PENDING"
    reason: str = "None"
    eligible: int = 0
    started: int = 0
    ended: int = 0
    restarts: int = 0
    status: int = 0
    nodes: tuple[Host, ...] = ()
    killed_by: int | None = None

    @property
    def limit_s(self) -> int:
        """Its time limit."""
        return self.plan.seconds if self.plan.fate is Fate.TIMES_OUT else 2 * self.plan.seconds


class Story(Protocol):
    """A cluster at one second, as commands tell of it."""

    @property
    def hosts(self) -> Sequence[Host]:
        """Its nodes."""

    @property
    def jobs(self) -> Mapping[int, Record]:
        """Id -> the present or last attempt of each job that slurmctld knows."""

    @property
    def past(self) -> Sequence[Record]:
        """Attempts that ended, in the order of their ends, which slurmdbd knows."""

    @property
    def troubles(self) -> Mapping[str, tuple[Trouble, int]]:
        """Node -> what is wrong with it, and since when."""

    def go_on(self, until: int) -> None:
        """Lets time pass until a second of unix time."""

    def free(self, host: Host) -> int:
        """GPUs of a node that no job has."""

    def partition_state(self, name: str) -> str:
        """Slurm's word for a partition."""


@dataclass(slots=True)
class Cluster:
    """The cluster at one second of its life; ``go_on`` brings it forward.

    Attributes:
        now: unix time, whole seconds.
        hosts: its nodes.
        jobs: id -> the present or last attempt of each job that slurmctld knows.
        past: attempts that ended, in the order of their ends, which slurmdbd knows.
        troubles: node -> what is wrong with it, and since when.
    """

    now: int
    hosts: Sequence[Host] = HOSTS
    jobs: dict[int, Record] = field(default_factory=dict)
    past: list[Record] = field(default_factory=list)
    troubles: dict[str, tuple[Trouble, int]] = field(default_factory=dict)
    _began: int = 0
    _next_id: int = _FIRST_ID

    def __post_init__(self) -> None:
        self._began = self.now

    def go_on(self, until: int) -> None:
        """Lets time pass, second by second."""
        while self.now < until:
            self._second()
            self.now += 1

    def free(self, host: Host) -> int:
        """GPUs of a node that no job has."""
        return host.gpus - sum(job.plan.gpus for job in self.running() if host in job.nodes)

    def partition_state(self, name: str) -> str:
        """Slurm's word for a partition: it is drained while half of its nodes are in maintenance."""
        hosts = [host.name for host in self.hosts if host.partition == name]
        serviced = [one for one in hosts if one in self.troubles and self.troubles[one][0].state == "maint"]
        return "DRAIN" if 2 * len(serviced) >= len(hosts) else "UP"

    def running(self) -> list[Record]:
        """Jobs that run."""
        return [job for job in self.jobs.values() if job.state == "RUNNING"]

    def _second(self) -> None:
        second = (self.now - self._began) % CYCLE_S
        self._nodes(second)
        for job in self.running():
            self._fate(job)
        known = {job.plan.name for job in self.jobs.values() if not job.ended}
        for plan in JOBS:
            if plan.at == second and plan.name not in known:  # so the queue stays short, whatever the earlier ones met
                self._submit(plan)
        self._schedule()
        for job in list(self.jobs.values()):
            if job.ended and self.now - job.ended >= _MIN_JOB_AGE_S:
                del self.jobs[job.job_id]
        self.past = [record for record in self.past if self.now - record.ended < _HISTORY_S]

    def _nodes(self, second: int) -> None:
        for name, (trouble, since) in list(self.troubles.items()):
            if self.now - since >= trouble.seconds:
                del self.troubles[name]
        for trouble in TROUBLES:
            if trouble.at == second:
                self.troubles[trouble.node] = (trouble, self.now)
                if trouble.state == "down":
                    for job in self.running():
                        if any(host.name == trouble.node for host in job.nodes):
                            self._requeue(job, "NODE_FAIL", 0)

    def _fate(self, job: Record) -> None:
        fate, first = job.plan.fate, job.restarts == 0
        passed = self.now - job.started
        if fate in _AGAIN and first and passed >= job.plan.seconds // 2:
            self._requeue(job, "REQUEUED", _AGAIN[fate])
        elif passed >= job.plan.seconds:
            state, reason, status = _ENDS.get(fate, ("COMPLETED", "None", 0))
            by = uid_of(job.plan.user) if state == "CANCELLED" else None
            done = replace(job, state=state, reason=reason, status=status, ended=self.now, killed_by=by)
            self.jobs[job.job_id] = done
            self.past.append(done)

    def _requeue(self, job: Record, state: str, status: int) -> None:
        self.past.append(replace(job, state=state, status=status, ended=self.now))
        self.jobs[job.job_id] = Record(
            job.job_id, job.plan, self.now, reason="BeginTime", eligible=self.now + _REQUEUE_DELAY_S,
            restarts=job.restarts + 1, status=status,
        )  # fmt: skip

    def _submit(self, plan: JobPlan) -> None:
        held = plan.fate is Fate.HELD
        reason, eligible = ("JobHeldUser", self.now + _HELD_S) if held else ("Priority", self.now)
        self.jobs[self._next_id] = Record(self._next_id, plan, self.now, reason=reason, eligible=eligible)
        self._next_id += 1

    def _schedule(self) -> None:
        """Starts what fits, the oldest first; one that waited long is not passed any more."""
        blocked: set[str] = set()
        waiting: set[str] = set()
        for job in sorted(self.jobs.values(), key=lambda job: job.job_id):
            part = job.plan.partition
            if job.state != "PENDING" or job.eligible > self.now:
                continue
            places = tuple(self._places(job.plan))[: job.plan.nodes]
            if part not in blocked and len(places) == job.plan.nodes:
                self.jobs[job.job_id] = replace(
                    job, state="RUNNING", reason="None", started=self.now, nodes=places, status=0
                )
                continue
            self.jobs[job.job_id] = replace(job, reason="Priority" if part in waiting else "Resources")
            waiting.add(part)
            if self.now - job.submitted >= _PATIENCE_S:
                blocked.add(part)

    def _places(self, plan: JobPlan) -> Iterator[Host]:
        hosts: Sequence[Host] = [host for host in self.hosts if host.partition == plan.partition]
        for host in hosts:
            if host.name not in self.troubles and self.free(host) >= plan.gpus:
                yield host
