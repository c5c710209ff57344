"""The file systems of the cluster: how full they are, and what each node reads and writes."""

from dataclasses import dataclass

from gpuscope.simulate.cluster.curves import Cycle, Wave
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.workloads import steady
from gpuscope.simulate.cluster.world import World
from gpuscope.simulate.mounts import FilesystemPlan

__all__ = ["TARGETS", "Share", "filesystems", "fullness", "io_bytes", "io_rates", "lustre_share"]

TARGETS = 4
"""Object targets of the Lustre file system."""

_FILL = Cycle(21_600.0, -9000.0)
_LOW, _HIGH = 0.62, 0.985
_SIZES = {"lustre": 1.1e15, "nfs4": 80e12, "xfs": 28e12}
_INODES = {"lustre": 4e9, "nfs4": 8e8, "xfs": 3e9}
_TRAINING_READ, _TRAINING_WRITE = 1.6e9, 0.4e9
_MINUTE_S = 60.0
_OTHER_READ, _OTHER_WRITE = 25e6, 6e6


@dataclass(frozen=True, slots=True)
class Share:
    """A mounted file system on a node, in bytes and inodes."""

    plan: FilesystemPlan
    size: float
    free: float
    inodes: float
    inodes_free: float


def fullness(world: World, kind: str, name: str = "") -> float:
    """Share of a file system that is used: Lustre fills until somebody tidies up, the others hardly change."""
    if kind == "lustre":
        top = _HIGH if world.shape.faults else 0.7
        return _LOW + (top - _LOW) * _FILL.place(world.t) / _FILL.every
    if kind == "nfs4":
        return 0.55 + 0.02 * _FILL.place(world.t) / _FILL.every
    return Wave(0.3 + 0.3 * steady(name), 0.1, 5400.0).at(world.t)


def filesystems(world: World, machine: Machine) -> list[Share]:
    """The file systems that a node has mounted."""
    found = []
    for plan in machine.scenario.filesystems:
        size, inodes = _SIZES.get(plan.type, 1e12), _INODES.get(plan.type, 1e8)
        used = fullness(world, plan.type, machine.name)
        found.append(Share(plan, size, float(int(size * (1 - used))), inodes, float(int(inodes * (1 - used * 0.4)))))
    return found


def lustre_share(world: World) -> tuple[float, list[float]]:
    """Bytes of one Lustre target, and free bytes of each; the first is fuller than the others."""
    size = _SIZES["lustre"] / TARGETS
    used = fullness(world, "lustre")
    return size, [float(int(size * (1 - min(0.995, used * (1.06 - 0.04 * number))))) for number in range(TARGETS)]


def io_bytes(world: World, machine: Machine, kind: str, until: float | None = None) -> tuple[float, float]:
    """Bytes that a node has read from and written to a file system of a kind since it was booted.

    Args:
        world: the cluster.
        machine: the node.
        kind: type of the file system.
        until: moment of the story, now by default.
    """
    end = world.t if until is None else until
    busy = world.training_seconds(machine, end)
    share = {"lustre": 0.8, "nfs4": 0.05}.get(kind, 0.15)
    swing = Wave(1.0, 0.3, 1800.0, steady(machine.name)).total(world.since, end)
    read = busy * _TRAINING_READ + swing * _OTHER_READ
    written = busy * _TRAINING_WRITE + (end - world.since) * _OTHER_WRITE
    return float(int(read * share)), float(int(written * share))


def io_rates(world: World, machine: Machine, kind: str) -> tuple[float, float]:
    """Bytes a second that a node reads and writes, over the last minute."""
    now, before = io_bytes(world, machine, kind), io_bytes(world, machine, kind, world.t - _MINUTE_S)
    return (now[0] - before[0]) / _MINUTE_S, (now[1] - before[1]) / _MINUTE_S
