"""Jobs, nodes and partitions of the simulated Slurm, as its own metrics and its exporters count them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from gpuscope.simulate.cluster.sources.kube_nodes import CPUS, MEMORY
from gpuscope.simulate.cluster.world import World
from gpuscope.simulate.jobs import JobPlan

__all__ = [
    "CPUS_PER_GPU", "MEMORY_MIB", "JobCounts", "NodeCounts", "by_account", "by_user", "job_counts", "node_counts",
    "together",
]  # fmt: skip

CPUS_PER_GPU = 3
MEMORY_MIB = MEMORY >> 20
_PER_GPU_MIB = 131_072


@dataclass(slots=True)
class JobCounts:
    """Jobs of somebody: by state, and what the running ones hold. Memory in MiB."""

    running: int = 0
    pending: int = 0
    completed: int = 0
    failed: int = 0
    node_failed: int = 0
    gpus: int = 0
    nodes: int = 0

    @property
    def cpus(self) -> int:
        """CPUs of running jobs."""
        return self.gpus * CPUS_PER_GPU

    @property
    def memory(self) -> int:
        """MiB of running jobs."""
        return self.gpus * _PER_GPU_MIB

    @property
    def total(self) -> int:
        """Jobs that Slurm still knows."""
        return self.running + self.pending + self.completed + self.failed + self.node_failed


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """One node: what it has and what jobs hold; a MIG device counts as one GPU, as in Slurm. Memory in MiB."""

    name: str
    gpus: int
    gpus_allocated: int
    drained: bool

    @property
    def cpus(self) -> int:
        """CPUs."""
        return CPUS

    @property
    def cpus_allocated(self) -> int:
        """CPUs that jobs hold."""
        return min(CPUS, self.gpus_allocated * CPUS_PER_GPU)

    @property
    def memory_allocated(self) -> int:
        """MiB that jobs hold."""
        return self.gpus_allocated * _PER_GPU_MIB

    @property
    def state(self) -> str:
        """``drained``, ``draining``, ``idle``, ``mixed`` or ``alloc``, as Slurm would call it."""
        if self.drained:
            return "draining" if self.gpus_allocated else "drained"
        if not self.gpus_allocated:
            return "idle"
        return "mixed" if self.gpus_allocated < self.gpus else "alloc"


def job_counts(world: World) -> dict[tuple[str, str], JobCounts]:
    """Jobs by user and account."""
    found: dict[tuple[str, str], JobCounts] = {}
    running = {id(plan) for _, _, plan in world.jobs()}
    for machine in world.machines:
        for plan in machine.scenario.jobs:
            counts = found.setdefault((plan.user, plan.account), JobCounts())
            if id(plan) in running:
                counts.running += 1
                counts.nodes += 1
                counts.gpus += len(plan.slots)
            elif plan.span.every:
                counts.pending += 1
            ended = _ended(world, plan)
            # Jobs that ended are kept: whoever reads these metrics sets a long MinJobAge.
            broken = ended // 3 if world.shape.faults and plan.activity == "training" else 0
            if machine.breaks:
                counts.node_failed += ended
            else:
                counts.failed += broken
                counts.completed += ended - broken
    return found


def together(counts: Iterable[JobCounts]) -> JobCounts:
    """The sum of several."""
    total = JobCounts()
    for one in counts:
        for field in fields(JobCounts):
            setattr(total, field.name, getattr(total, field.name) + getattr(one, field.name))
    return total


def by_user(counts: Mapping[tuple[str, str], JobCounts]) -> dict[str, JobCounts]:
    """The same by user alone."""
    return _grouped(counts, 0)


def by_account(counts: Mapping[tuple[str, str], JobCounts]) -> dict[str, JobCounts]:
    """The same by account alone."""
    return _grouped(counts, 1)


def _grouped(counts: Mapping[tuple[str, str], JobCounts], place: int) -> dict[str, JobCounts]:
    names = dict.fromkeys(key[place] for key in counts)
    return {name: together(one for key, one in counts.items() if key[place] == name) for name in names}


def _ended(world: World, plan: JobPlan) -> int:
    span = plan.span
    if span.every is None or span.end is None:
        return 0
    return max(0, int((world.t - world.since - (span.end - span.begin)) // span.every))


def node_counts(world: World) -> list[NodeCounts]:
    """All nodes."""
    held: dict[str, int] = {}
    for machine, _, plan in world.jobs():
        held[machine.name] = held.get(machine.name, 0) + len(plan.slots)
    return [
        NodeCounts(machine.name, machine.slots, held.get(machine.name, 0), machine.cordoned)
        for machine in world.machines
    ]
