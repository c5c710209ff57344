"""Who holds which GPU or MIG device, and the states that it was in."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = [
    "ALLOCATIONS",
    "GPU_STATE_SECONDS",
    "JOB_ALLOCATION",
    "JOB_MEMORY",
    "LAST_SUCCESS",
    "METRICS",
    "MIG_STATE_SECONDS",
    "PODRESOURCES_ERRORS",
    "POD_ALLOCATION",
    "POD_MEMORY",
    "PROBLEMS",
    "SOURCE_FAILURE",
    "SOURCE_UP",
    "UNOWNED_MEMORY",
]

SOURCES = ("kubelet", "job_files", "processes")
STATES = ("busy", "idle_allocated", "unallocated", "unhealthy", "unknown")
_STATES_NOTE = (
    "busy: it did work. idle_allocated: held by a pod, a job or a process, and did none. unallocated: nobody holds it. "
    "unhealthy: it cannot be read, or it does nothing and the driver asks for a recovery action. unknown: nobody can tell, "
    "as when no source of allocations answers. "
)

POD_ALLOCATION = Metric(
    name="gpuscope_pod_allocation_info",
    kind=Kind.INFO,
    level=Level.DEVICE,
    extra=("namespace", "pod", "container", "pod_uid", "resource", "replica"),
    help="A container holds the GPU, or the MIG device that mig_uuid names; one series for each share.",
    tier=Tier.ATTRIBUTION,
    source="kubelet, v1.PodResourcesLister/List; pod_uid from /var/log/pods",
    mig=MigBehaviour.BOTH,
    note="Join it to readings of devices that exactly one container holds: and on (uuid, mig_uuid) gpuscope_allocations == 1. A container with an empty resource uses the device without having asked kubelet for it.",
)
ALLOCATIONS = Metric(
    name="gpuscope_allocations",
    kind=Kind.GAUGE,
    level=Level.DEVICE,
    help="Containers and jobs that hold the GPU or the MIG device: 1 is exclusive, more share it, 0 is free.",
    tier=Tier.ATTRIBUTION,
    source="kubelet, job files, processes",
    mig=MigBehaviour.BOTH,
    high=100000,
    note="Absent while it is not known, and while only programs outside of containers and jobs use the device. A GPU in MIG mode has it for its MIG devices; for itself only while somebody holds it whole.",
)
JOB_ALLOCATION = Metric(
    name="gpuscope_job_allocation_info",
    kind=Kind.INFO,
    level=Level.DEVICE,
    extra=("gi", "job_id", "user"),
    help="A Slurm job holds the GPU, or the MIG device that mig_uuid names.",
    tier=Tier.ATTRIBUTION,
    source="job files in the format of dcgm-exporter's hpc-job-mapping; cgroups job_<id> of processes",
    mig=MigBehaviour.BOTH,
)
_MEMORY_NOTE = "Needs the host's PID namespace; see gpuscope_process_visibility. A process whose memory the driver does not tell makes the sum absent, not smaller."
POD_MEMORY = Metric(
    name="gpuscope_pod_memory_used_bytes",
    kind=Kind.GAUGE,
    level=Level.DEVICE,
    extra=("namespace", "pod", "container"),
    unit=Unit.BYTES,
    help="Memory of the GPU or the MIG device that processes of the container hold.",
    tier=Tier.ATTRIBUTION,
    source="the driver's process lists, /proc/<pid>/cgroup, /var/log/pods",
    mig=MigBehaviour.BOTH,
    high=4 * 2**40,
    note=_MEMORY_NOTE,
)
JOB_MEMORY = Metric(
    name="gpuscope_job_memory_used_bytes",
    kind=Kind.GAUGE,
    level=Level.DEVICE,
    extra=("job_id",),
    unit=Unit.BYTES,
    help="Memory of the GPU or the MIG device that processes of the Slurm job hold.",
    tier=Tier.ATTRIBUTION,
    source="the driver's process lists, /proc/<pid>/cgroup",
    mig=MigBehaviour.BOTH,
    high=4 * 2**40,
    note=_MEMORY_NOTE,
)
UNOWNED_MEMORY = Metric(
    name="gpuscope_unowned_memory_used_bytes",
    kind=Kind.GAUGE,
    level=Level.DEVICE,
    unit=Unit.BYTES,
    help="Memory of the GPU or the MIG device that processes outside of pods and jobs hold.",
    tier=Tier.ATTRIBUTION,
    source="the driver's process lists, /proc/<pid>/cgroup",
    mig=MigBehaviour.BOTH,
    high=4 * 2**40,
    note=_MEMORY_NOTE,
)
GPU_STATE_SECONDS = Metric(
    name="gpuscope_gpu_state_seconds_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("state",),
    unit=Unit.SECONDS,
    help="Time that the GPU spent in each state, for reports of cost and of waste.",
    tier=Tier.FAST,
    source="utilization, allocations and health",
    mig=MigBehaviour.BLOCKED,
    values=(STATES,),
    note=_STATES_NOTE
    + "The states sum to wall time. In MIG mode the time is told by MIG device, in gpuscope_mig_state_seconds_total.",
)
MIG_STATE_SECONDS = Metric(
    name="gpuscope_mig_state_seconds_total",
    kind=Kind.COUNTER,
    level=Level.MIG,
    extra=("state",),
    unit=Unit.SECONDS,
    help="Time that the MIG device spent in each state, for reports of cost and of waste.",
    tier=Tier.FAST,
    source="GPM activity, allocations and health",
    mig=MigBehaviour.INSTANCE,
    values=(STATES,),
    note=_STATES_NOTE
    + "Where NVML tells no activity of MIG devices (A100, A30), a device that is held is counted as unknown unless a GPM reading says more.",
)
SOURCE_UP = Metric(
    name="gpuscope_attribution_source_up",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("source",),
    help="1 when this source of allocations answered the last time.",
    tier=Tier.SELF,
    source="kubelet's answers, job files, processes",
    values=(SOURCES,),
    high=1,
    note="Sources that are not set up are absent. At 0 what kubelet said last holds for one minute more, then it is gone.",
)
SOURCE_FAILURE = Metric(
    name="gpuscope_attribution_source_failure_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("source", "reason"),
    help="Why the source of allocations does not answer; absent while it does.",
    tier=Tier.SELF,
    source="kubelet's answers, job files, processes",
)
LAST_SUCCESS = Metric(
    name="gpuscope_attribution_last_success_timestamp_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("source",),
    unit=Unit.SECONDS,
    help="Unix time at which the source of allocations answered last; absent before the first answer.",
    tier=Tier.SELF,
    source="kubelet's answers, job files, processes",
    values=(SOURCES,),
)
PROBLEMS = Metric(
    name="gpuscope_attribution_problems_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("source", "reason"),
    help="What a source of allocations said that could not be used, each time that it was seen.",
    tier=Tier.SELF,
    source="kubelet's answers, job files, /proc, /var/log/pods",
    note="The log names each when it appears and when it is gone.",
)
PODRESOURCES_ERRORS = Metric(
    name="gpuscope_podresources_errors_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("code",),
    help="Calls of kubelet's pod-resources API that failed, by gRPC status or reason.",
    tier=Tier.SELF,
    source="v1.PodResourcesLister/List",
)
METRICS = (
    POD_ALLOCATION,
    ALLOCATIONS,
    JOB_ALLOCATION,
    POD_MEMORY,
    JOB_MEMORY,
    UNOWNED_MEMORY,
    GPU_STATE_SECONDS,
    MIG_STATE_SECONDS,
    SOURCE_UP,
    SOURCE_FAILURE,
    LAST_SUCCESS,
    PROBLEMS,
    PODRESOURCES_ERRORS,
)
