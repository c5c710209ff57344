"""Pods and jobs of the simulated machine as time goes by: they begin, wait for a device, end, and come again."""

import hashlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.holding import Slot
from gpuscope.simulate.jobs import JobPlan
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.pods import ContainerPlan, PodPlan
from gpuscope.simulate.scenario import Scenario
from gpuscope.simulate.tenant import Tenant

__all__ = ["Held", "Run", "Tenancy", "identity"]

_BACKLOG_S = 3600
_FIRST_PID, _LAST_PID, _PID_STEP = 40_000, 4_000_000, 7
# The letters that Kubernetes makes names of.
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """One device in the hands of a run.

    Attributes:
        gpu: the GPU, or the parent of the MIG device.
        mig: the MIG device.
        container: of a pod, else ``None``.
    """

    gpu: SimGpu
    mig: SimMig | None
    tenant: Tenant
    container: ContainerPlan | None

    @property
    def pids(self) -> tuple[int, ...]:
        """Numbers of all processes that it may have."""
        return (self.tenant.pid,) if self.mig else (self.tenant.pid, self.tenant.pid + 3)


@dataclass(slots=True, eq=False)
class Run:
    """One time that a pod or a job runs.

    Attributes:
        number: how often it ran before.
        began: simulated time.
        name: of the pod, or the job's id.
        uid: of the pod, or the user's number.
        held: its devices.
    """

    plan: PodPlan | JobPlan
    number: int
    began: float
    name: str
    uid: str
    held: list[Held] = field(default_factory=list)

    def container_id(self, container: str) -> str:
        """64 hexadecimal digits, as the runtime gives them."""
        return hashlib.sha256(f"{self.uid}/{container}".encode()).hexdigest()


class Tenancy:
    """Who is on the machine. Every call happens under the node's lock.

    Args:
        scenario: its pods and jobs.
        gpus: the machine's GPUs.
        seed: name of the machine; uids follow from it.
        start: simulated time of the scenario's start.
        now: gives the simulated time.
        later: takes seconds after the start, an order among what is due at once, and what to do then.

    Attributes:
        runs: who runs now, in the order in which they began.
        version: changes with every beginning and end.
    """

    def __init__(
        self,
        scenario: Scenario,
        gpus: Sequence[SimGpu],
        seed: str,
        start: float,
        now: Callable[[], float],
        later: Callable[[float, int, Callable[[float], None]], None],
    ) -> None:
        self.runs: list[Run] = []
        self.version = 0
        self._gpus = gpus
        self._seed = seed
        self._now = now
        self._later = later
        self._start = start
        self._waiting: list[Run] = []
        self._evicted: set[int] = set()
        self._pids = _FIRST_PID
        self._used_pids: set[int] = set()
        plans: list[PodPlan | JobPlan] = [*scenario.pods, *scenario.jobs]
        for plan in plans:
            for slot, _ in _slots(plan):
                # A device that is held at some time does nothing at other times.
                found = self._device(slot)
                if found is not None:
                    (found[1] or found[0]).kind = "idle"
        for plan in plans:
            if plan.span.begin:
                self._plan(plan, 0)
            else:
                self._begin(plan, 0, start)
        for gpu in gpus:
            gpu.warm_up()

    def end_on(self, index: int, now: float) -> None:
        """Ends whoever has something of a GPU, for good: what they held is no more."""
        for run in [run for run in self.runs if any(one.gpu.index == index for one in run.held)]:
            self._evicted.add(id(run.plan))
            self._leave(run, now)
        self._admit(now)

    def _plan(self, plan: PodPlan | JobPlan, number: int) -> None:
        begin, _ = plan.span.occurrence(number)
        self._later(begin, 2, lambda now: self._begin(plan, number, now))

    def _begin(self, plan: PodPlan | JobPlan, number: int, now: float) -> None:
        if id(plan) in self._evicted:
            return
        name, uid = self._identity(plan, number)
        run = Run(plan, number, now, name, uid)
        self._waiting.append(run)
        _, end = plan.span.occurrence(number)
        if end is not None:
            # Ends come before whatever begins or happens at the same time.
            self._later(end, 0, lambda now: self._end(run, now))
        self._admit(now)

    def _end(self, run: Run, now: float) -> None:
        if run in self._waiting:
            self._waiting.remove(run)
        if run in self.runs:
            self._leave(run, now)
            self._admit(now)
        if run.plan.span.every:
            number = run.number + 1
            behind = self._now() - self._start - run.plan.span.occurrence(number)[0]
            # Nobody looked for long: what came and went meanwhile is left out.
            self._plan(run.plan, number + max(0, int(behind - _BACKLOG_S) // run.plan.span.every))

    def _admit(self, now: float) -> None:
        """Lets those run who wait and find room."""
        for run in list(self._waiting):
            devices = [(container, self._device(slot)) for slot, container in _slots(run.plan)]
            found = [(container, device) for container, device in devices if device is not None]
            if len(found) == len(devices) and all(self._room(run, container, *device) for container, device in found):
                self._waiting.remove(run)
                run.began = now
                self.runs.append(run)
                self.version += 1
                for container, (gpu, instance) in found:
                    self._take(run, container, gpu, instance, now)

    def _device(self, slot: Slot) -> tuple[SimGpu, SimMig | None] | None:
        gpu = self._gpus[slot.gpu]
        if slot.place < 0:
            return None if gpu.mig_mode else (gpu, None)
        return (gpu, gpu.mig[slot.place]) if slot.place < len(gpu.mig) else None

    def _room(self, run: Run, container: ContainerPlan | None, gpu: SimGpu, instance: SimMig | None) -> bool:
        tenants = (instance or gpu).tenants
        if len(tenants) < gpu.plan.replicas:
            return True
        others = [(other, one) for other in self.runs for one in other.held if one.tenant in tenants]
        return all(_together(run, container, other, one.container) for other, one in others)

    def _take(
        self, run: Run, container: ContainerPlan | None, gpu: SimGpu, instance: SimMig | None, now: float
    ) -> None:
        device = instance or gpu
        taken = {tenant.replica for tenant in device.tenants}
        free = next(number for number in range(len(taken) + 1) if number not in taken)
        tenant = Tenant(
            run.plan.activity or (instance.plan.job if instance else gpu.plan.job),
            _phases(run, gpu, instance),
            self._pid(gpu.pid_of(gpu.mig.index(instance) if instance else -1)),
            free if gpu.plan.replicas > 1 else None,
        )
        run.held.append(Held(gpu, instance, tenant, container))
        with gpu.lock:
            gpu.advance(now)
            device.tenants.append(tenant)
            device.kind = "idle"
            gpu.changed()

    def _leave(self, run: Run, now: float) -> None:
        self.runs.remove(run)
        self.version += 1
        for one in run.held:
            with one.gpu.lock:
                one.gpu.advance(now)
                (one.mig or one.gpu).tenants.remove(one.tenant)
                one.gpu.changed()

    def _pid(self, usual: int) -> int:
        """The usual number of the device's first process, unless it was used before."""
        if usual not in self._used_pids:
            self._used_pids.add(usual)
            return usual
        self._pids = _FIRST_PID if self._pids > _LAST_PID else self._pids + _PID_STEP
        return self._pids

    def _identity(self, plan: PodPlan | JobPlan, number: int) -> tuple[str, str]:
        if isinstance(plan, JobPlan):
            return str(plan.id_of(number)), str(plan.user_id)
        return identity(self._seed, plan, number)


def identity(seed: str, plan: PodPlan, number: int) -> tuple[str, str]:
    """Name and uid of a pod for the n-th time that it is there, from 0.

    Args:
        seed: name of the machine.
        plan: the pod.
        number: how often it was there before.
    """
    uid = uuid.uuid5(uuid.NAMESPACE_OID, f"{seed}/{plan.namespace}/{plan.name}/{number}")
    if not plan.span.every:
        return plan.name, plan.uid or str(uid)
    suffix = "".join(_LETTERS[byte % len(_LETTERS)] for byte in uid.bytes[:5])
    return f"{plan.name}-{suffix}", str(uid)


def _slots(plan: PodPlan | JobPlan) -> Iterator[tuple[Slot, ContainerPlan | None]]:
    if isinstance(plan, JobPlan):
        yield from ((slot, None) for slot in plan.slots)
    else:
        yield from ((slot, container) for container in plan.containers for slot in container.slots)


def _phases(run: Run, gpu: SimGpu, instance: SimMig | None) -> str:
    """Name of the job whose phases the load shares; without an activity of its own that of the device."""
    if run.plan.job_name is not None:
        return run.plan.job_name
    if instance is not None:
        return instance.uuid
    if run.plan.activity is None:
        return gpu.plan.job_name
    return run.name


def _together(run: Run, container: ContainerPlan | None, other: Run, others: ContainerPlan | None) -> bool:
    """Whether both may have one device: jobs that share, or containers with one claim."""
    one, two = run.plan, other.plan
    if isinstance(one, JobPlan) and isinstance(two, JobPlan):
        return one.shared and two.shared
    if isinstance(one, PodPlan) and isinstance(two, PodPlan) and container and others:
        return container.claim is not None and (one.namespace, container.claim) == (two.namespace, others.claim)
    return False
