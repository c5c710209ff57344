"""NVLink link by link.

With 18 links a GPU these are some hundred series for each GPU. The driver answers none of it for a GPU in MIG mode.
"""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = [
    "BIT_ERROR_RATIO",
    "FEC_HISTORY",
    "LINK_BYTES",
    "LINK_ERRORS",
    "LINK_PACKETS",
    "LINK_SPEED",
    "LINK_UP",
    "METRICS",
]

LINK_UP = Metric(
    name="gpuscope_gpu_nvlink_link_up",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("link",),
    help="1 while the link is active.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetNvLinkState",
    mig=MigBehaviour.BLOCKED,
    dcgm=("DEV_NVLINK_GET_STATE",),
    high=1,
    default=False,
)
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
    dcgm46=("PROF_NVLINK_TX_BYTES_PER_LINK", "PROF_NVLINK_RX_BYTES_PER_LINK"),
    dcgm_labels=('direction="tx"', 'direction="rx"'),
    dcgm_note="a rate: compare with rate() of ours",
    values=((), ("tx", "rx")),
    default=False,
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
    dcgm=("DEV_NVLINK_COUNT_TX_PACKETS", "DEV_NVLINK_COUNT_RX_PACKETS"),
    dcgm46=("DEV_NVLINK_TX_PACKET_TOTAL", "DEV_NVLINK_RX_PACKET_TOTAL"),
    dcgm_labels=('direction="tx"', 'direction="rx"'),
    values=((), ("tx", "rx")),
    default=False,
)
LINK_ERRORS = Metric(
    name="gpuscope_gpu_nvlink_link_errors_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("link", "type"),
    help="Errors and recoveries of one NVLink by type.",
    tier=Tier.SLOW,
    source="fields 161-163 (before Blackwell), 205-215, 219, 221",
    mig=MigBehaviour.BLOCKED,
    dcgm46=(
        "DEV_NVLINK_CRC_FLIT_ERROR_PER_LINK_TOTAL",
        "DEV_NVLINK_CRC_DATA_ERROR_PER_LINK_TOTAL",
        "DEV_NVLINK_REPLAY_ERROR_PER_LINK_TOTAL",
        "DEV_NVLINK_RECOVERY_ERROR_PER_LINK_TOTAL",
    ),
    dcgm_labels=('type="crc"', 'type="crc"', 'type="replay"', 'type="recovery_dl"'),
    values=(
        (),
        (
            "replay",
            "recovery_dl",
            "crc",
            "malformed",
            "buffer_overrun",
            "rcv",
            "rcv_remote",
            "rcv_general",
            "local_integrity",
            "xmit_discard",
            "vl15_dropped",
            "recovery_ok",
            "recovery_failed",
            "recovery",
            "effective",
            "symbol",
        ),
    ),
    default=False,
)
BIT_ERROR_RATIO = Metric(
    name="gpuscope_gpu_nvlink_link_bit_error_ratio",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("link", "kind"),
    unit=Unit.RATIO,
    help="Bit error ratio of one NVLink: effective, after forward error correction, and symbol, after every correction.",
    tier=Tier.SLOW,
    source="fields 220, 222: mantissa and exponent, decoded",
    mig=MigBehaviour.BLOCKED,
    dcgm=("DEV_NVLINK_COUNT_SYMBOL_BER_FLOAT", "DEV_NVLINK_COUNT_EFFECTIVE_BER_FLOAT"),
    dcgm46=("DEV_NVLINK_SYMBOL_BER_RATIO", "DEV_NVLINK_EFFECTIVE_BER_RATIO"),
    dcgm_labels=('kind="symbol"', 'kind="effective"'),
    values=((), ("effective", "symbol")),
    high=1,
    default=False,
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
    dcgm=tuple(f"DEV_NVLINK_COUNT_FEC_HISTORY_{number}" for number in range(16)),
    dcgm_labels=tuple(f'bin="{number}"' for number in range(16)),
    values=((), tuple(str(number) for number in range(16))),
    default=False,
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
    high=1000000000000.0,
    default=False,
)

METRICS = (LINK_UP, LINK_BYTES, LINK_PACKETS, LINK_ERRORS, BIT_ERROR_RATIO, FEC_HISTORY, LINK_SPEED)
