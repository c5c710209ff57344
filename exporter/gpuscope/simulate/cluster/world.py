"""The cluster as a whole at one moment: nodes, pods, training jobs and model servers, as all sources tell of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpuscope.simulate.clock import Clock
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.plan import BLOCK, scenarios_of
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.workloads import (
    BATCH,
    TRAINING,
    Attempts,
    Workload,
    activity_of,
    attempts_of,
    steady,
    workload_of,
)
from gpuscope.simulate.jobs import JobPlan
from gpuscope.simulate.pods import PodPlan
from gpuscope.simulate.scenario import Scenario, load, parse
from gpuscope.simulate.tenancy import Run

__all__ = ["BREAKS_AT", "Pod", "SlurmJob", "Training", "World"]

SLURM_JOB = "SlurmJob"
"""Kind of a workload that no object of Kubernetes is."""
BREAKS_AT = 7
"""Place in a block of the default fleet of the node that breaks."""


@dataclass(frozen=True, slots=True, eq=False)
class Pod:
    """A pod that runs.

    Attributes:
        began: seconds of the story.
        gpus: GPUs or MIG devices that it holds, by resource of its device plugin.
    """

    run: Run
    plan: PodPlan
    machine: Machine
    workload: Workload
    activity: str
    began: float
    gpus: dict[str, int]

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.plan.namespace

    @property
    def name(self) -> str:
        """Its name."""
        return self.run.name


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """A training job over all its attempts.

    Attributes:
        gpus: that it asks for.
        attempts: ``None`` for one that runs for ever.
        nodes: where its pods are.
    """

    workload: Workload
    gpus: int
    pods: int
    attempts: Attempts | None
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SlurmJob:
    """A job of Slurm over all times that it comes.

    Attributes:
        plan: on its first node.
        members: its nodes, and what it holds on each.
        attempts: ``None`` for one that does not come again.
    """

    plan: JobPlan
    members: tuple[tuple[Machine, JobPlan], ...]
    attempts: Attempts | None

    @property
    def gpus(self) -> int:
        """GPUs and MIG devices that it holds."""
        return sum(len(plan.slots) for _, plan in self.members)


class World:
    """One cluster.

    Args:
        shape: what it is like.
        clock: its time; the story begins when it is made, after ``shape.ago`` seconds that nobody saw.

    Attributes:
        epoch: unix time at which the story begins, a whole second.
        since: seconds of the story at which counters began.
        trainings: jobs whose pods train.
        all_trainings: those and the jobs of Slurm that train.
        slurm_jobs: all jobs of Slurm that ever come.

    Raises:
        ConfigError: an unknown or a wrong scenario.
    """

    def __init__(self, shape: Shape, clock: Clock) -> None:
        self.shape = shape
        self.name = shape.cluster
        self.clock = clock
        self.epoch = float(math.floor(clock.now()))
        self.since = -shape.ago
        scenarios: dict[str, Scenario]
        if shape.fleet:
            scenarios = {name: load(scenario) for name, scenario in shape.fleet.items()}
        else:
            scenarios = {name: parse(name, value) for name, value in scenarios_of(shape).items()}
        scenarios = {name: replace(scenario, began=int(self.epoch)) for name, scenario in scenarios.items()}
        own = not shape.fleet
        self.machines = [
            Machine(
                name, number, scenario, clock, f"{shape.seed}/{name}" if shape.seed else name,
                breaks=own and shape.faults and number % BLOCK == BREAKS_AT, pace=shape.pace,
            )
            for number, (name, scenario) in enumerate(scenarios.items())
        ]  # fmt: skip
        self.slurm_jobs = list(self._slurm_jobs())
        self.trainings = list(self._trainings())
        self.all_trainings = [*self.trainings, *self._trainings_of_slurm()]
        self._on: dict[str, list[Training]] = {}
        for training in self.all_trainings:
            for name in training.nodes:
                self._on.setdefault(name, []).append(training)

    @property
    def now(self) -> float:
        """Unix seconds."""
        return self.clock.now()

    @property
    def t(self) -> float:
        """Seconds of the story."""
        return self.clock.now() - self.epoch

    def stamp(self, t: float) -> float:
        """A moment of the story as unix seconds."""
        return float(round(self.epoch + t))

    def machine(self, name: str) -> Machine:
        """The node of that name."""
        return next(machine for machine in self.machines if machine.name == name)

    def pods(self, machine: Machine | None = None) -> list[Pod]:
        """The pods that run now."""
        return [
            self._pod(one, run, run.plan)
            for one in ([machine] if machine else self.machines)
            for run in one.runs()
            if isinstance(run.plan, PodPlan)
        ]

    def workload(self, machine: Machine, plan: PodPlan) -> tuple[Workload, str]:
        """The workload of a pod, and what the pod does."""
        activity = activity_of(plan, machine.scenario)
        return workload_of(plan, activity), activity

    def jobs(self) -> list[tuple[Machine, Run, JobPlan]]:
        """The jobs of Slurm that run now."""
        return [(one, run, run.plan) for one in self.machines for run in one.runs() if isinstance(run.plan, JobPlan)]

    def servers(self) -> list[tuple[Machine, PodPlan, Workload]]:
        """The pods that serve models for as long as the story lasts."""
        return [
            (machine, plan, workload_of(plan, "inference"))
            for machine in self.machines
            for plan in machine.plans()
            if plan.span.every is None and activity_of(plan, machine.scenario) == "inference"
        ]

    def training_seconds(self, machine: Machine, until: float | None = None) -> float:
        """Seconds, since counters count, in which a node trained; of several jobs on it the busiest counts.

        Args:
            machine: the node.
            until: moment of the story, now by default.
        """
        end = self.t if until is None else until
        found = 0.0
        for training in self._on.get(machine.name, ()):
            attempts = training.attempts
            spent = attempts.seconds(self.since, end, "training") if attempts else end - self.since
            found = max(found, spent)
        return found

    def _pod(self, machine: Machine, run: Run, plan: PodPlan) -> Pod:
        workload, activity = self.workload(machine, plan)
        began = run.began - self.epoch
        if plan.span.every is None and began <= 0:
            # It was there long before anybody looked.
            began = self.since * (0.3 + 0.6 * steady(run.uid))
        return Pod(run, plan, machine, workload, activity, began, machine.requests(plan))

    def _trainings(self) -> Iterator[Training]:
        found: dict[tuple[str, str, str], list[tuple[Machine, PodPlan, Workload]]] = {}
        for machine in self.machines:
            for plan in machine.plans():
                workload = workload_of(plan, activity_of(plan, machine.scenario))
                if workload.kind in TRAINING:
                    found.setdefault(_key(workload), []).append((machine, plan, workload))
        for members in found.values():
            _, plan, workload = members[0]
            gpus = sum(len(container.slots) for _, one, _ in members for container in one.containers)
            nodes = tuple(dict.fromkeys(machine.name for machine, _, _ in members))
            attempts = attempts_of(plan, workload, faults=self.shape.faults)
            yield Training(workload, gpus, len(members), attempts, nodes)

    def _slurm_jobs(self) -> Iterator[SlurmJob]:
        found: dict[int, list[tuple[Machine, JobPlan]]] = {}
        for machine in self.machines:
            for plan in machine.scenario.jobs:
                found.setdefault(plan.id, []).append((machine, plan))
        for members in found.values():
            _, plan = members[0]
            workload = _workload_of_job(plan)
            yield SlurmJob(plan, tuple(members), attempts_of(plan, workload, faults=self.shape.faults))

    def _trainings_of_slurm(self) -> Iterator[Training]:
        for job in self.slurm_jobs:
            machine, plan = job.members[0]
            if activity_of(plan, machine.scenario) in BATCH:
                nodes = tuple(machine.name for machine, _ in job.members)
                yield Training(_workload_of_job(plan), job.gpus, len(nodes), job.attempts, nodes)


def _workload_of_job(plan: JobPlan) -> Workload:
    return Workload(plan.account, SLURM_JOB, plan.name, "", "")


def _key(workload: Workload) -> tuple[str, str, str]:
    return workload.namespace, workload.kind, workload.name
