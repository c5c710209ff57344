"""Processes on GPUs and MIG instances."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = ["METRICS", "MIG_PROCESSES", "PROCESSES", "VISIBILITY", "VISIBILITY_FAILURE"]

PROCESSES = Metric(
    name="gpuscope_gpu_processes",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("type",),
    help="Processes that hold the GPU.",
    tier=Tier.PROCESSES,
    source="nvmlDeviceGetComputeRunningProcesses_v3, …Graphics…, …MPSCompute…",
    mig=MigBehaviour.PARENT,
    values=(("compute", "graphics", "mps"),),
    high=100000,
    note="Needs the host's PID namespace; see gpuscope_process_visibility.",
)
MIG_PROCESSES = Metric(
    name="gpuscope_mig_processes",
    kind=Kind.GAUGE,
    level=Level.MIG,
    extra=("type",),
    help="Processes that hold the MIG instance.",
    tier=Tier.PROCESSES,
    source="the parent's process list, by gpuInstanceId and computeInstanceId",
    mig=MigBehaviour.INSTANCE,
    values=(("compute", "graphics", "mps"),),
    high=100000,
    note="Needs the host's PID namespace; see gpuscope_process_visibility.",
)
VISIBILITY = Metric(
    name="gpuscope_process_visibility",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 when the agent sees the host's processes; at 0 process counts are absent, as the driver hides what is in other PID namespaces.",
    tier=Tier.SELF,
    source="/proc/self/ns/pid",
    high=1,
)

VISIBILITY_FAILURE = Metric(
    name="gpuscope_process_visibility_failure_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("reason",),
    help="Why the agent does not see the host's processes; absent while it does.",
    tier=Tier.SELF,
    source="/proc/self/ns/pid",
    values=(("pid_namespace", "unreadable"),),
    note="pid_namespace: the agent lives in a PID namespace of its own; a pod needs hostPID: true to see processes.",
)

METRICS = (PROCESSES, MIG_PROCESSES, VISIBILITY, VISIBILITY_FAILURE)
