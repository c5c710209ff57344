"""Jobs, nodes and partitions of the simulated Slurm, as its own metrics and its exporters count them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from gpuscope.simulate.cluster.slurm import CPUS_PER_GPU, HOLDING, MIB_PER_GPU, slurm_records
from gpuscope.simulate.cluster.sources.kube_nodes import CPUS
from gpuscope.simulate.cluster.world import World

__all__ = ["JobCounts", "NodeCounts", "by_account", "by_user", "job_counts", "node_counts", "together"]

_COUNTED = {
    "RUNNING": "running", "CONFIGURING": "running", "PENDING": "pending", "COMPLETED": "completed", "FAILED": "failed",
    "NODE_FAIL": "node_failed",
}  # fmt: skip


@dataclass(slots=True)
class JobCounts:
    """Jobs of somebody: by state, and what the running ones hold. Memory in MiB.

    Attributes:
        running: those that are being configured among them.
    """

    running: int = 0
    configuring: int = 0
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
        return self.gpus * MIB_PER_GPU

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
        return self.gpus_allocated * MIB_PER_GPU

    @property
    def state(self) -> str:
        """``drained``, ``draining``, ``idle``, ``mixed`` or ``alloc``, as Slurm would call it."""
        if self.drained:
            return "draining" if self.gpus_allocated else "drained"
        if not self.gpus_allocated:
            return "idle"
        return "mixed" if self.gpus_allocated < self.gpus else "alloc"


def job_counts(world: World) -> dict[tuple[str, str], JobCounts]:
    """Jobs that slurmctld knows, by user and account."""
    found: dict[tuple[str, str], JobCounts] = {}
    for job in slurm_records(world)[0].values():
        counts = found.setdefault((job.plan.user, job.plan.account), JobCounts())
        name = _COUNTED[job.state]
        setattr(counts, name, getattr(counts, name) + 1)
        counts.configuring += job.state == "CONFIGURING"
        if job.state in HOLDING:
            counts.nodes += job.plan.nodes
            counts.gpus += job.plan.nodes * job.plan.gpus
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


def node_counts(world: World) -> list[NodeCounts]:
    """All nodes."""
    held: dict[str, int] = {}
    for machine, _, plan in world.jobs():
        held[machine.name] = held.get(machine.name, 0) + len(plan.slots)
    return [
        NodeCounts(machine.name, machine.slots, held.get(machine.name, 0), machine.cordoned)
        for machine in world.machines
    ]
