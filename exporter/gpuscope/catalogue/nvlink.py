"""NVLink of a GPU as a whole."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["BYTES", "ERRORS", "METRICS", "UP"]

UP = Metric(
    name="gpuscope_gpu_nvlink_up",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("link",),
    help="1 while the link is active.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetNvLinkState",
    mig=MigBehaviour.BLOCKED,
    high=1,
)
BYTES = Metric(
    name="gpuscope_gpu_nvlink_bytes_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("direction",),
    unit=Unit.BYTES,
    help="Bytes over all NVLinks of the GPU.",
    tier=Tier.ACTIVITY,
    source="fields 202, 204 (NVLink 5) or 138, 139 (KiB), all links",
    mig=MigBehaviour.BLOCKED,
    dcgm=("PROF_NVLINK_TX_BYTES", "PROF_NVLINK_RX_BYTES", "DEV_NVLINK_BANDWIDTH_TOTAL"),
    dcgm46=("PROF_NVLINK_TX_BYTES_TOTAL", "PROF_NVLINK_RX_BYTES_TOTAL"),
    dcgm_note="classic names are rates",
)
ERRORS = Metric(
    name="gpuscope_gpu_nvlink_errors_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("type",),
    help="NVLink errors of the GPU by type, over all its links.",
    tier=Tier.SLOW,
    source="fields 161-163 (before Blackwell), 205-215, 219, 221, all links",
    mig=MigBehaviour.BLOCKED,
    dcgm=(
        "DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
        "DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
        "DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
        "DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
    ),
)

METRICS = (UP, BYTES, ERRORS)
