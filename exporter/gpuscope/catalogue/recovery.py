"""What the driver asks for to bring a GPU back."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = ["METRICS", "RECOVERY_ACTION"]

RECOVERY_ACTION = Metric(
    name="gpuscope_gpu_recovery_action",
    kind=Kind.STATE_SET,
    level=Level.GPU,
    extra=("action",),
    help="What the driver asks for to bring the GPU back.",
    tier=Tier.SLOW,
    source="field 230 GET_GPU_RECOVERY_ACTION",
    smi="gpu_recovery_action",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_GET_GPU_RECOVERY_ACTION",),
    dcgm46=("DEV_GPU_RECOVERY_ACTION",),
    dcgm_note="decode",
    # The order is that of the numbers, nvmlDeviceGpuRecoveryAction_t.
    states=(
        "none",
        "gpu_reset",
        "node_reboot",
        "drain_p2p",
        "drain_and_reset",
        "recover_imex",
        "bus_reset",
        "system_reboot",
    ),
    note="Driver 565 and newer; bus_reset and system_reboot: 615 and newer.",
)

METRICS = (RECOVERY_ACTION,)
