"""What the agent knows at one moment: immutable, shared by the scrape and the HTTP API."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuscope.attribution.allocation import Allocation
from gpuscope.catalogue.metric import Sample
from gpuscope.faults.fault import Fault
from gpuscope.nvml.identity import DriverStatus, GpuIdentity, MigInstance
from gpuscope.nvml.processes import ProcessList
from gpuscope.sampling.exposition import Exposition

__all__ = ["GpuStatus", "Snapshot"]


@dataclass(frozen=True, slots=True)
class GpuStatus:
    """One GPU in a snapshot.

    ``reason`` is empty while ``up``; otherwise ``lost``, ``timeout``, ``reset_required``, ``driver`` or ``error``.
    ``samples`` holds the GPU's and its MIG instances' readings; it is empty of readings while the GPU is down
    (identity and fault counters stay). ``listed`` are its processes, ``None`` where they are not known. ``since``
    and ``sampled`` are unix times: of the last change of ``up`` and of the last complete fast cycle (``None`` before
    the first).
    """

    identity: GpuIdentity
    up: bool
    reason: str
    since: float
    sampled: float | None
    mig_enabled: bool | None
    mig: tuple[MigInstance, ...]
    samples: tuple[Sample, ...]
    listed: ProcessList | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that ``/metrics`` and ``/api/v1`` answer from.

    ``created`` is a unix time; ``ready`` turns true with the first full cycle and false while the driver is
    away; ``expected_gpus`` is ``None`` while unknown; ``node_samples`` are the series without a GPU.
    ``allocation`` says who holds what; ``allocation_states`` gives for the UUID of a GPU or of a MIG device one of
    ``busy``, ``idle_allocated``, ``unallocated``, ``unhealthy`` and ``unknown``.
    """

    version: str
    node: str
    created: float
    ready: bool
    driver: DriverStatus
    expected_gpus: int | None
    gpus: tuple[GpuStatus, ...]
    node_samples: tuple[Sample, ...]
    faults: tuple[Fault, ...]
    exposition: Exposition
    allocation: Allocation = field(default_factory=Allocation)
    allocation_states: Mapping[str, str] = field(default_factory=dict)
