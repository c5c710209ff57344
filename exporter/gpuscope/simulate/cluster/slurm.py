"""The Slurm of a simulated cluster, as its commands and its exporters tell of it: jobs, attempts, and nodes.

What Slurm requeues keeps its id. Jobs come again and again: the next one is submitted when the one before it has ended,
and waits for its nodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.sources.kube_nodes import CPUS, MEMORY
from gpuscope.simulate.cluster.workloads import Attempts, steady
from gpuscope.simulate.cluster.world import SlurmJob, World
from gpuscope.simulate.slurm.cluster import Record
from gpuscope.simulate.slurm.story import Host, JobPlan, Trouble
from gpuscope.simulate.tenancy import Run

__all__ = [
    "CPUS_PER_GPU",
    "HOLDING",
    "KEPT_S",
    "MEMORY_MIB",
    "MIB_PER_GPU",
    "PARTITION",
    "ClusterSlurm",
    "ended_jobs",
    "slurm_records",
]

CPUS_PER_GPU = 3
MEMORY_MIB = MEMORY >> 20
MIB_PER_GPU = 131_072
PARTITION = "gpu"
KEPT_S = 900.0
"""For how long slurmctld knows a job that ended (``MinJobAge``), and slurmdbd an attempt."""

HOLDING = frozenset({"RUNNING", "CONFIGURING"})
"""States of jobs that have nodes."""

_REQUEUE_DELAY_S = 6.0
_PROLOG_S = 20.0
"""While the prolog looks at the nodes a job is being configured."""
_FOREVER_S = 14 * 86_400
_ABORTED, _EXITED = 134 << 8, 1 << 8
"""Wait statuses: PyTorch aborts where NCCL or a GPU fails; and a plain error."""


class ClusterSlurm:
    """What the commands tell, as of the last ``go_on``.

    Args:
        world: the cluster.

    Attributes:
        hosts: its nodes.
        jobs: id -> the present or last attempt of each job that slurmctld knows.
        past: attempts that ended, in the order of their ends.
        troubles: node -> why it is drained, and since when.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.hosts: Sequence[Host] = [_host(machine) for machine in world.machines]
        self.jobs: dict[int, Record] = {}
        self.past: list[Record] = []
        self.troubles: dict[str, tuple[Trouble, int]] = {}

    def go_on(self, until: int) -> None:
        """Brings it to the present of the cluster's own clock.

        Args:
            until: of no meaning here.
        """
        world = self._world
        self.jobs, self.past = slurm_records(world)
        reason = "XID 79: GPU has fallen off the bus"
        self.troubles = {
            machine.name: (Trouble(0, machine.name, "drain", reason, "root", 0), _second(world, machine.cordoned_at))
            for machine in world.machines
            if machine.cordoned
        }

    def free(self, host: Host) -> int:
        """GPUs of a node that no job has."""
        return host.gpus - sum(
            job.plan.gpus for job in self.jobs.values() if job.state in HOLDING and host in job.nodes
        )

    def partition_state(self, name: str) -> str:
        """Partitions are always up.

        Args:
            name: of the partition.
        """
        return "UP"


def slurm_records(world: World) -> tuple[dict[int, Record], list[Record]]:
    """Jobs that slurmctld knows, the present or last attempt of each by its id; and attempts that ended.

    Args:
        world: the cluster.
    """
    running = {id(plan): run for _, run, plan in world.jobs()}
    jobs: dict[int, Record] = {}
    past: list[Record] = []
    for job in world.slurm_jobs:
        run = next((running[id(plan)] for _, plan in job.members if id(plan) in running), None)
        ended = list(_ended(world, job, job.attempts)) if job.attempts else _ended_once(world, job)
        past += ended
        jobs |= {one.job_id: one for one in ended}
        present = _again(world, job, job.attempts, run) if job.attempts else _once(world, job, run)
        jobs |= {one.job_id: one for one in present}
    return jobs, sorted(past, key=lambda record: record.ended)


def ended_jobs(world: World, job: SlurmJob) -> tuple[int, int]:
    """How often a job ended since counters count, and how often of these it was done.

    Args:
        world: the cluster.
        job: one that may come again.
    """
    attempts = job.attempts
    if attempts is None:
        return 0, 0

    def numbers(t: float) -> int:
        return (attempts.cycle.number(t - attempts.runs_s) + 1) // job.plan.attempts

    ended = range(numbers(world.since), numbers(world.t))
    return len(ended), sum(not attempts.outcome((one + 1) * job.plan.attempts - 1) for one in ended)


def _again(world: World, job: SlurmJob, attempts: Attempts, run: Run | None) -> Iterator[Record]:
    """One that comes again: it runs, or waits until it may."""
    number = attempts.cycle.number(world.t) if run is None else run.number
    if run is None and attempts.cycle.place(world.t) >= attempts.runs_s:
        number += 1
    begin = attempts.cycle.begin + number * attempts.cycle.every
    waiting = _record(world, job, attempts, number)
    if run is not None:
        state = "CONFIGURING" if world.t < begin + _PROLOG_S else "RUNNING"
        yield replace(waiting, state=state, started=_second(world, begin), nodes=_hosts(job))
        return
    delayed = waiting.restarts > 0 and world.now < waiting.eligible
    status = _end(job, attempts, number - 1)[2] if waiting.restarts else 0
    yield replace(waiting, reason="BeginTime" if delayed else "Resources", status=status)


def _ended(world: World, job: SlurmJob, attempts: Attempts) -> Iterator[Record]:
    """Its attempts that ended a while ago."""
    last = attempts.cycle.number(world.t - attempts.runs_s)
    first = attempts.cycle.number(max(world.since, world.t - KEPT_S) - attempts.runs_s) + 1
    for number in range(first, last + 1):
        state, reason, status = _end(job, attempts, number)
        begin = attempts.cycle.begin + number * attempts.cycle.every
        yield replace(
            _record(world, job, attempts, number), state=state, reason=reason, status=status,
            started=_second(world, begin), ended=_second(world, begin + attempts.runs_s), nodes=_hosts(job),
        )  # fmt: skip


def _end(job: SlurmJob, attempts: Attempts, number: int) -> tuple[str, str, int]:
    """State, reason and wait status of an attempt that ended."""
    outcome, last = attempts.outcome(number), (number + 1) % job.plan.attempts == 0
    if outcome == "node_failure":
        return "NODE_FAIL", "None", 0
    if not last:
        return "REQUEUED", "None", _ABORTED if outcome else 0
    return ("FAILED", "NonZeroExitCode", _EXITED) if outcome else ("COMPLETED", "None", 0)


def _record(world: World, job: SlurmJob, attempts: Attempts, number: int) -> Record:
    """An attempt before it begins."""
    restarts = number % job.plan.attempts
    submitted = attempts.cycle.begin + (number - 1) * attempts.cycle.every + attempts.runs_s
    delay = min(_REQUEUE_DELAY_S, attempts.cycle.every - attempts.runs_s) if restarts else 0.0
    return Record(
        job.plan.id_of(number),
        _plan(job, attempts.runs_s),
        _second(world, submitted),
        eligible=_second(world, submitted + delay),
        restarts=restarts,
    )


def _once(world: World, job: SlurmJob, run: Run | None) -> Iterator[Record]:
    """One that comes once; from the beginning of the story means that it was there long before anybody looked."""
    span = job.plan.span
    began = float(span.begin) or world.since * (0.3 + 0.6 * steady(str(job.plan.id)))
    if world.t < began or (span.end is not None and world.t >= span.end):
        return
    at = _second(world, began)
    record = Record(job.plan.id, _plan(job, _FOREVER_S), at, reason="Resources", eligible=at)
    if run is not None:
        record = Record(
            job.plan.id, _plan(job, _FOREVER_S), at, "RUNNING", "None", at, at + 1, nodes=_hosts(job)
        )  # fmt: skip
    yield record


def _ended_once(world: World, job: SlurmJob) -> list[Record]:
    span = job.plan.span
    if span.end is None or not span.end <= world.t < span.end + KEPT_S:
        return []
    at, ended = _second(world, span.begin), _second(world, span.end)
    plan = _plan(job, span.end - span.begin)
    return [Record(job.plan.id, plan, at, "COMPLETED", "None", at, at + 1, ended, nodes=_hosts(job))]


def _plan(job: SlurmJob, seconds: float) -> JobPlan:
    plan, nodes = job.plan, len(job.members)
    return JobPlan(0, plan.name, plan.user, plan.account, PARTITION, nodes, job.gpus // nodes, int(seconds))


def _hosts(job: SlurmJob) -> tuple[Host, ...]:
    return tuple(_host(machine) for machine, _ in job.members)


def _host(machine: Machine) -> Host:
    model = machine.scenario.gpus[0].model.partition("-")[0]
    return Host(machine.name, PARTITION, model, machine.slots, CPUS, MEMORY_MIB, CPUS_PER_GPU, MIB_PER_GPU)


def _second(world: World, t: float) -> int:
    return int(world.stamp(t))
