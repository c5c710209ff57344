"""Which alerts explain which others, by name. A test fails when one of them is no alert of ours."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscope_generator.rules.alert import Scope, Severity

__all__ = ["CAUSES", "NEVER", "Cause"]

NEVER = (
    "Watchdog",
    "GpuExporterDownMany",
    "GpuCheckStale",
    "GpuCheckUnknown",
    "GpuRulesFailing",
    "GpuSourceLost",
)
"""Never held back: who watches the watchers must be heard while hardware fails. The same holds for alerts about the
automatic recovery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Alerts that explain others; one never hides a graver one.

    Attributes:
        about: one sentence, for people.
        sources: names of the alerts that explain.
        targets: names of the alerts that are explained.
        scopes: in place of them: all alerts of these scopes, except sources, those that are never held back, and
            those about the automatic recovery.
        equal: labels that must be equal.
        most: the gravest severity that is held back; a critical alert about another GPU is news.
    """

    about: str
    sources: tuple[str, ...]
    targets: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()
    equal: tuple[str, ...]
    most: Severity = Severity.CRITICAL


_NODE = ("cluster", "node")
_GPU = ("cluster", "node", "gpu")
_PORT = ("cluster", "node", "device", "port")
_LOST = ("GpuFellOffBus", "GpuCountBelowExpected", "GpuDriverUnresponsive")
_BLIND = ("GpuExporterDown", "GpuExporterFlapping", "GpuSeriesMissing", "GpuReadingsFrozen")
"""What one sees of a node that does not answer."""
_MILD_MEMORY = ("GpuMemoryContained", "GpuRowRemapPending")
_XID = (*_MILD_MEMORY, "GpuMemoryUncorrectable", "GpuFirmwareFault", "GpuInterconnectFault")

CAUSES: tuple[Cause, ...] = (
    Cause(
        about="A node that is not ready explains what is wrong on it.",
        sources=("GpuNodeNotReady",),
        scopes=(Scope.GPU, Scope.NODE),
        equal=_NODE,
    ),
    Cause(
        about="Nobody can be asked on a node that is not ready, or whose driver hangs.",
        sources=("GpuNodeNotReady", "GpuDriverUnresponsive"),
        targets=_BLIND,
        equal=_NODE,
    ),
    Cause(
        about="A rack that is too hot explains its nodes and GPUs.",
        sources=("GpuRackThermal",),
        targets=("GpuThermalSlowdown",),
        equal=("cluster", "rack"),
    ),
    Cause(
        about="Many links that went down together are one incident of the fabric.",
        sources=("FabricLinksDownMany",),
        targets=("FabricLinkDown", "FabricLinkFlapping", "FabricLinkDegraded"),
        equal=("cluster",),
    ),
    Cause(
        about="A link that is down explains its errors.",
        sources=("FabricLinkDown",),
        targets=("FabricLinkFlapping", "FabricLinkDegraded"),
        equal=_PORT,
    ),
    Cause(
        about="A GPU that is lost, or a driver that hangs, explains what is less bad on the node.",
        sources=_LOST,
        scopes=(Scope.GPU,),
        equal=_NODE,
        most=Severity.WARNING,
    ),
    Cause(
        about="A GPU that fell off the bus explains everything about that GPU.",
        sources=("GpuFellOffBus",),
        scopes=(Scope.GPU,),
        equal=_GPU,
    ),
    Cause(
        about="A missing GPU explains that the scheduler sees fewer, and links that are down.",
        sources=("GpuCountBelowExpected",),
        targets=("GpuAllocatableBelowPresent", "GpuInterconnectLinkDown"),
        equal=_NODE,
    ),
    Cause(
        about="What NVIDIA's driver says to do is more than the XID errors behind it.",
        sources=("GpuRecoveryActionReset", "GpuRecoveryActionDrainP2P"),
        targets=_XID,
        equal=_GPU,
    ),
    Cause(
        about="A GPU that wants a reboot need not be reset.",
        sources=("GpuRecoveryActionReboot",),
        targets=(*_XID, "GpuRecoveryActionReset"),
        equal=_GPU,
    ),
    Cause(
        about="Memory that cannot be repaired explains its errors.",
        sources=("GpuRowRemapFailed", "GpuSramThresholdExceeded"),
        targets=(*_MILD_MEMORY, "GpuMemoryUncorrectable"),
        equal=_GPU,
    ),
    Cause(
        about="An uncorrectable error of memory explains the milder ones.",
        sources=("GpuMemoryUncorrectable",),
        targets=_MILD_MEMORY,
        equal=_GPU,
    ),
    Cause(
        about="A fabric that is not ready explains links that are down.",
        sources=("GpuFabricNotReady",),
        targets=("GpuInterconnectLinkDown", "GpuInterconnectFault"),
        equal=_NODE,
    ),
    Cause(
        about="A switch that failed explains its links.",
        sources=("GpuSwitchFault", "GpuRecoveryActionRecoverImex"),
        targets=("GpuInterconnectFault", "GpuInterconnectLinkDown", "GpuInterconnectErrors"),
        equal=_NODE,
    ),
    Cause(
        about="Faults on many nodes at once have one cause, mostly a job or the fabric.",
        sources=("GpuFaultsOnManyNodes",),
        targets=(*_XID, "GpuPowerFault", "GpuSwitchFault"),
        equal=("cluster",),
    ),
    Cause(
        about="A link that is down explains its errors.",
        sources=("GpuInterconnectLinkDown",),
        targets=("GpuInterconnectErrors",),
        equal=_NODE,
    ),
    Cause(
        about="A power brake slows clocks down as heat does.",
        sources=("GpuPowerBrake",),
        targets=("GpuThermalSlowdown", "GpuStraggler"),
        equal=_NODE,
    ),
    Cause(
        about="Heat that holds a GPU down explains that it is slower than the others of its job.",
        sources=("GpuThermalSlowdown",),
        targets=("GpuStraggler",),
        equal=_GPU,
    ),
    # What runs goes on without a scheduler: a job that stands still, fails or starts again meanwhile is news.
    Cause(
        about="Without its scheduler work waits.",
        sources=("SchedulerUnavailable",),
        targets=("QueueWaitBudgetBurn",),
        equal=("cluster",),
    ),
    Cause(
        about="Without a file system jobs stand still, fail and wait.",
        sources=("StorageUnhealthy",),
        targets=("JobStalled", "JobFailedInfra", "JobRestartLoop", "QueueWaitBudgetBurn"),
        equal=("cluster",),
    ),
    Cause(
        about="A file system that is broken explains that it is slow, and mounts that are down.",
        sources=("StorageUnhealthy",),
        targets=("StorageMountDown", "StorageMetadataSlow"),
        equal=("cluster", "filesystem"),
    ),
    Cause(
        about="A full cluster explains that work waits.",
        sources=("GpuClusterSaturated",),
        targets=("QueueWaitBudgetBurn",),
        equal=("cluster",),
    ),
    Cause(
        about="A job that stands still cannot write checkpoints, and its GPUs are idle.",
        sources=("JobStalled",),
        targets=("JobRestartLoop", "JobCheckpointStale", "GpuAllocatedIdle", "GpuMemoryHeldIdle"),
        equal=("cluster", "namespace", "workload"),
    ),
    Cause(
        about="GPUs without work, whose memory is full besides.",
        sources=("GpuMemoryHeldIdle",),
        targets=("GpuAllocatedIdle",),
        equal=("cluster", "namespace", "workload"),
    ),
    Cause(
        about="Many exporters that are down are one incident.",
        sources=("GpuExporterDownMany",),
        targets=("GpuExporterDown", "GpuExporterFlapping"),
        equal=("cluster",),
    ),
    Cause(
        about="Without its exporter nothing is known of a node.",
        sources=("GpuExporterDown",),
        targets=("GpuExporterFlapping", "GpuSeriesMissing"),
        equal=_NODE,
    ),
)
