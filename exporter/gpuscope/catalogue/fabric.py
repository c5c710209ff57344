"""Membership of an NVLink fabric (NVSwitch, GB200)."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = ["FABRIC_INFO", "HEALTH", "METRICS", "MISCONFIGURATION", "STATE", "STATUS", "SUMMARY"]

FABRIC_INFO = Metric(
    name="gpuscope_gpu_fabric_info",
    kind=Kind.INFO,
    level=Level.GPU,
    extra=("cluster_uuid", "clique_id"),
    help="The NVLink fabric that the GPU belongs to.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetGpuFabricInfoV",
    smi="fabric.clusterUuid, fabric.cliqueId",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_FABRIC_CLUSTER_UUID", "DEV_FABRIC_CLIQUE_ID"),
    dcgm_note="label",
)
STATE = Metric(
    name="gpuscope_gpu_fabric_state",
    kind=Kind.STATE_SET,
    level=Level.GPU,
    extra=("state",),
    states=("not_supported", "not_started", "in_progress", "completed"),
    help="Registration of the GPU with the fabric manager.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetGpuFabricInfoV.state",
    smi="fabric.state",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_FABRIC_MANAGER_STATUS",),
    dcgm_note="decode",
)
STATUS = Metric(
    name="gpuscope_gpu_fabric_status",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="Result of the registration as an NVML return code; 0 is success. Present once the state is completed.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetGpuFabricInfoV.status",
    smi="fabric.status",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_FABRIC_MANAGER_ERROR_CODE",),
    dcgm46=("DEV_FABRIC_MANAGER_ERROR",),
    high=1000,
)
HEALTH = Metric(
    name="gpuscope_gpu_fabric_health",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("condition",),
    help="1 while the condition holds; partition_assigned is the good one, the others are faults.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetGpuFabricInfoV.healthMask",
    smi="fabric.health.bandwidth, fabric.health.route_recovery_in_progress, fabric.health.route_unhealthy, fabric.health.access_timeout_recovery, fabric.health.partition_assigned",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_FABRIC_HEALTH_MASK",),
    dcgm_note="decode",
    values=(
        ("degraded_bandwidth", "route_recovery", "route_unhealthy", "access_timeout_recovery", "partition_assigned"),
    ),
    high=1,
    note="Not reported on H100 and H200.",
)
MISCONFIGURATION = Metric(
    name="gpuscope_gpu_fabric_misconfiguration",
    kind=Kind.STATE_SET,
    level=Level.GPU,
    extra=("reason",),
    help="Why the GPU does not fit into the fabric.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetGpuFabricInfoV.healthMask, bits 8-11",
    smi="fabric.health.incorrect_configuration",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_FABRIC_HEALTH_MASK",),
    dcgm_note="decode bits 8-11",
    states=(
        "none",
        "sysguid",
        "chassis_sn",
        "no_partition",
        "insufficient_nvlinks",
        "incompatible_gpu_fw",
        "invalid_location",
        "gpu_state_invalid",
    ),
)
SUMMARY = Metric(
    name="gpuscope_gpu_fabric_overall_health",
    kind=Kind.STATE_SET,
    level=Level.GPU,
    extra=("health",),
    help="The driver's own verdict on the fabric.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetGpuFabricInfoV.healthSummary (version 3)",
    smi="fabric.health.summary",
    mig=MigBehaviour.PARENT,
    dcgm46=("DEV_FABRIC_HEALTH_SUMMARY",),
    dcgm_note="decode",
    states=("healthy", "unhealthy", "limited"),
)

METRICS = (FABRIC_INFO, STATE, STATUS, HEALTH, MISCONFIGURATION, SUMMARY)
