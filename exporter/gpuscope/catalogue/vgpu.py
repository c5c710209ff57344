"""Virtual GPUs."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = ["INSTANCES", "LICENSED", "METRICS"]

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

METRICS = (LICENSED, INSTANCES)
