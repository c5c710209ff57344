"""Virtual GPUs."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = ["INSTANCES", "LICENSED", "METRICS", "VIRTUALIZATION_INFO"]

LICENSED = Metric(
    name="gpuscope_gpu_vgpu_license_licensed",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 while the vGPU guest holds its licence.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetGridLicensableFeatures_v4",
    mig=MigBehaviour.NOT_APPLICABLE,
    dcgm=("DEV_VGPU_LICENSE_STATUS",),
    high=1,
)
INSTANCES = Metric(
    name="gpuscope_gpu_vgpu_instances",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="Virtual GPUs that run on the GPU (host).",
    tier=Tier.SLOW,
    source="nvmlDeviceGetActiveVgpus",
    mig=MigBehaviour.NOT_APPLICABLE,
    high=256,
)
VIRTUALIZATION_INFO = Metric(
    name="gpuscope_gpu_virtualization_info",
    kind=Kind.INFO,
    level=Level.GPU,
    extra=("mode",),
    help="What stands between the GPU and this machine.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetVirtualizationMode",
    mig=MigBehaviour.PARENT,
    values=(("none", "passthrough", "vgpu", "host_vgpu", "host_vsga"),),
    note="vgpu is a guest with a part of a GPU, the only one that needs a licence; passthrough a guest with a whole one.",
)

METRICS = (LICENSED, INSTANCES, VIRTUALIZATION_INFO)
