"""A model server: the pod, what it serves, and how much it has to do; the same whatever its engine."""

from collections.abc import Callable
from dataclasses import dataclass

from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.sources.target import Target
from gpuscope.simulate.cluster.traffic import Traffic
from gpuscope.simulate.cluster.workloads import Workload, engine_of
from gpuscope.simulate.cluster.world import World
from gpuscope.simulate.pods import PodPlan

__all__ = ["Server", "servers_of"]

_SLOTS = 96


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """One replica.

    Attributes:
        role: ``prefill``, ``decode``, or empty for both.
    """

    world: World
    machine: Machine
    plan: PodPlan
    workload: Workload
    model: str
    role: str
    traffic: Traffic

    @property
    def gpus(self) -> int:
        """Devices that it holds."""
        return max(1, sum(len(container.slots) for container in self.plan.containers))

    @property
    def began(self) -> float:
        """When it was started, in unix seconds."""
        return self.world.stamp(self.world.since)

    def counts(self) -> tuple[float, float]:
        """Requests so far: ordinary ones, and those of bursts."""
        return self.traffic.counts(self.world.since, self.world.t)

    def load(self) -> tuple[int, int, float]:
        """Requests that run and that wait, and how full the KV cache is, 0-1."""
        t = self.world.t
        calm, hot = self.traffic.calm(t), self.traffic.pressure(t)
        running = round(_SLOTS * min(1.0, 0.3 * calm + 0.8 * hot))
        return running, round(140 * max(0.0, hot - 0.2)), min(0.995, 0.2 + 0.35 * calm + 0.6 * hot)

    def target(self, render: Callable[[], str]) -> Target:
        """Its endpoint, as a PodMonitor finds it."""
        address = f"10.244.{self.machine.number % 250}.{abs(hash_of(self.plan.name)) % 250}:8000"
        found = {"namespace": self.plan.namespace, "pod": self.plan.name, "container": self.plan.containers[0].name}
        return Target(
            f"{self.plan.namespace}.{self.plan.name}", {**found, "endpoint": "http", "instance": address}, render
        )


def hash_of(name: str) -> int:
    """A number that belongs to a name."""
    return sum(name.encode()) * 31


def servers_of(world: World, engine: str) -> list[Server]:
    """The replicas of an engine."""
    found = []
    for machine, plan, workload in world.servers():
        own, model, role = engine_of(workload.name)
        if own == engine:
            traffic = Traffic.of(model if role else plan.name, bursts=world.shape.faults)
            found.append(Server(world, machine, plan, workload, model, role, traffic))
    return found
