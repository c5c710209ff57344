"""NVLink link by link."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["BIT_ERROR_RATIO", "FEC_HISTORY", "LINK_BYTES", "LINK_ERRORS", "LINK_PACKETS", "LINK_SPEED", "METRICS"]

LINK_BYTES = Metric(
    name="gpuscope_gpu_nvlink_link_bytes_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("link", "direction"),
    unit=Unit.BYTES,
    help="Bytes over one NVLink.",
    tier=Tier.ACTIVITY,
    source="fields 202, 204 (NVLink 5) or 138, 139 (KiB)",
    mig=MigBehaviour.BLOCKED,
)
LINK_PACKETS = Metric(
    name="gpuscope_gpu_nvlink_link_packets_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("link", "direction"),
    help="Packets over one NVLink.",
    tier=Tier.SLOW,
    source="fields 201, 203",
    mig=MigBehaviour.BLOCKED,
)
LINK_ERRORS = Metric(
    name="gpuscope_gpu_nvlink_link_errors_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("link", "type"),
    help="Errors of one NVLink by type.",
    tier=Tier.SLOW,
    source="fields 161-163 (before Blackwell), 205-215, 219, 221",
    mig=MigBehaviour.BLOCKED,
)
BIT_ERROR_RATIO = Metric(
    name="gpuscope_gpu_nvlink_link_bit_error_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("link", "kind"),
    unit=Unit.RATIO,
    help="Bit error ratio of one NVLink, before (symbol) and after (effective) correction.",
    tier=Tier.SLOW,
    source="fields 220, 222: mantissa and exponent, decoded",
    mig=MigBehaviour.BLOCKED,
    dcgm46=("DEV_NVLINK_SYMBOL_BER_RATIO", "DEV_NVLINK_EFFECTIVE_BER_RATIO"),
    high=1,
)
FEC_HISTORY = Metric(
    name="gpuscope_gpu_nvlink_link_fec_history_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("link", "bin"),
    help="Blocks of one NVLink by the number of symbols that forward error correction repaired.",
    tier=Tier.SLOW,
    source="fields 235-250",
    mig=MigBehaviour.BLOCKED,
)
LINK_SPEED = Metric(
    name="gpuscope_gpu_nvlink_link_speed_bytes_per_second",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("link",),
    unit=Unit.BYTES_PER_SECOND,
    help="Nominal speed of one NVLink in one direction.",
    tier=Tier.SLOW,
    source="field 164 (MB/s)",
    mig=MigBehaviour.BLOCKED,
)

METRICS = (LINK_BYTES, LINK_PACKETS, LINK_ERRORS, BIT_ERROR_RATIO, FEC_HISTORY, LINK_SPEED)
