"""A node of the simulated cluster: the machine that a simulated agent on it would see."""

from dataclasses import dataclass

from gpuscope.simulate.clock import Clock
from gpuscope.simulate.cluster.curves import Cycle
from gpuscope.simulate.cluster.plan import CORDON
from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.node import Node
from gpuscope.simulate.pods import PodPlan
from gpuscope.simulate.scenario import Scenario
from gpuscope.simulate.tenancy import Held, Run, identity

__all__ = ["Device", "Machine", "resource_name"]

_BROKEN = Cycle(CORDON["every"])
_LOST_CODE = 79


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """A GPU, or a MIG instance of it, and who holds it.

    Attributes:
        holders: the run and its device, in the order of their shares.
    """

    gpu: SimGpu
    instance: SimMig | None
    holders: tuple[tuple[Run, Held], ...]


class Machine:
    """One node.

    Args:
        name: of the node.
        number: its place in the cluster, from 0.
        scenario: what is on it.
        clock: of the story.
        seed: what UUIDs follow from; an agent with that seed sees the same ones.
        breaks: whether it is one that is cordoned from time to time.
        pace: how many times sooner than by the plan.

    Attributes:
        address: IP address of the node.
        start: moment at which its scenario began.
    """

    def __init__(
        self, name: str, number: int, scenario: Scenario, clock: Clock, seed: str, *, breaks: bool, pace: float = 1.0
    ) -> None:  # fmt: skip
        self.name = name
        self.seed = seed
        self.number = number
        self.scenario = scenario
        self.breaks = breaks
        self.pace = pace
        self.address = f"10.0.{number // 250}.{number % 250 + 1}"
        self._clock = clock
        self._node = Node(scenario, clock, seed, None)
        self.start = self._node.start

    @property
    def driver(self) -> str:
        """Version of the driver."""
        return self._node.version

    @property
    def t(self) -> float:
        """Seconds since the scenario began."""
        return self._clock.now() - self.start

    @property
    def cordoned(self) -> bool:
        """Whether nothing may be placed here."""
        place = _BROKEN.place(self.t * self.pace)
        return self.breaks and (place >= CORDON["cordoned"] or place < CORDON["uncordoned"])

    @property
    def cordoned_at(self) -> float:
        """Seconds after its start at which it was cordoned last."""
        place = (_BROKEN.place(self.t * self.pace) - CORDON["cordoned"]) % CORDON["every"]
        return self.t - place / self.pace

    def cordons(self, since: float) -> int:
        """How often it was cordoned since a moment of the story."""
        return _BROKEN.times(since * self.pace, self.t * self.pace, CORDON["cordoned"]) if self.breaks else 0

    @property
    def faulty(self) -> bool:
        """Whether a GPU of it is gone."""
        return any(gpu.lost for gpu in self._node.gpus)

    @property
    def slots(self) -> int:
        """Devices that can be held: whole GPUs, and MIG devices in the place of theirs."""
        return sum(1 if plan.mig is None else len(plan.mig) for plan in self.scenario.gpus)

    def runs(self) -> tuple[Run, ...]:
        """Pods and jobs that run now."""
        return self._node.runs()

    def gpus(self) -> list[SimGpu]:
        """The GPUs that answer, brought to the moment."""
        self._node.tick()
        if not self._node.present:
            return []
        now = self._clock.now()
        found = []
        for gpu in self._node.gpus:
            with gpu.lock:
                gpu.advance(now)
            if not gpu.lost:
                found.append(gpu)
        return found

    def devices(self) -> list[Device]:
        """Whole GPUs and GPU instances, the first compute instance standing for its GPU instance."""
        held: dict[int, list[tuple[Run, Held]]] = {}
        for run in self.runs():
            for one in run.held:
                held.setdefault(id(one.mig or one.gpu), []).append((run, one))
        found = []
        for gpu in self.gpus():
            if not gpu.mig_mode:
                found.append(Device(gpu, None, _sorted(held.get(id(gpu), []))))
                continue
            seen = set()
            for instance in gpu.mig:
                if instance.gi not in seen:
                    seen.add(instance.gi)
                    found.append(Device(gpu, instance, _sorted(held.get(id(instance), []))))
        return found

    def xids(self) -> list[tuple[int, int, float]]:
        """(GPU, code, seconds after the start) of the XIDs so far."""
        t = self.t
        return [
            (event.arguments["gpu"], event.arguments["code"], event.at)
            for event in self.scenario.events
            if event.kind == "xid" and event.at <= t
        ]

    def identity(self, plan: PodPlan, number: int) -> tuple[str, str]:
        """Name and uid of a pod for the n-th time that it is there."""
        return identity(self.seed, plan, number)

    def requests(self, plan: PodPlan) -> dict[str, int]:
        """Devices that a pod asks for, by resource as kube-state-metrics names it."""
        held: dict[str, int] = {}
        for container in plan.containers:
            for slot in container.slots:
                gpu = self.scenario.gpus[slot.gpu]
                profile = gpu.mig[slot.place].profile if gpu.mig and 0 <= slot.place < len(gpu.mig) else None
                name = resource_name(profile, gpu.replicas)
                held[name] = held.get(name, 0) + 1
        return held

    def plans(self) -> tuple[PodPlan, ...]:
        """All pods that are ever here."""
        return self.scenario.pods


def resource_name(profile: str | None, replicas: int) -> str:
    """Name of a device's resource, as kube-state-metrics writes it."""
    if profile:
        return "nvidia_com_mig_" + profile.replace(".", "_").replace("+", "_")
    return "nvidia_com_gpu_shared" if replicas > 1 else "nvidia_com_gpu"


def _sorted(holders: list[tuple[Run, Held]]) -> tuple[tuple[Run, Held], ...]:
    return tuple(sorted(holders, key=lambda holder: holder[1].tenant.replica or 0))
