"""Chip-to-chip links between GPU and CPU (Grace)."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["BANDWIDTH_MAX", "BYTES", "ERRORS", "LINKS", "LINK_UP", "METRICS"]

LINKS = Metric(
    name="gpuscope_gpu_c2c_links",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="Chip-to-chip links between GPU and CPU.",
    tier=Tier.SLOW,
    source="field 170 C2C_LINK_COUNT",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_C2C_LINK_COUNT",),
    dcgm46=("DEV_C2C_LINK_QUANTITY",),
    high=64,
)
LINK_UP = Metric(
    name="gpuscope_gpu_c2c_link_up",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("link",),
    help="1 while the chip-to-chip link is active.",
    tier=Tier.SLOW,
    source="field 171 C2C_LINK_GET_STATUS",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_C2C_LINK_STATUS",),
    high=1,
)
BANDWIDTH_MAX = Metric(
    name="gpuscope_gpu_c2c_bandwidth_max_bytes_per_second",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("link",),
    unit=Unit.BYTES_PER_SECOND,
    help="Highest rate of one chip-to-chip link.",
    tier=Tier.SLOW,
    source="field 172 C2C_LINK_GET_MAX_BW (MB/s)",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_C2C_MAX_BANDWIDTH",),
    dcgm_note="x1000000",
    high=10000000000000.0,
)
ERRORS = Metric(
    name="gpuscope_gpu_c2c_errors_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("type",),
    help="Errors of the chip-to-chip links by type, over all links.",
    tier=Tier.SLOW,
    source="fields 231-233",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_C2C_LINK_ERROR_INTR", "DEV_C2C_LINK_ERROR_REPLAY", "DEV_C2C_LINK_ERROR_REPLAY_B2B"),
    dcgm_labels=('type="intr"', 'type="replay"', 'type="replay_b2b"'),
    values=(("intr", "replay", "replay_b2b"),),
)
BYTES = Metric(
    name="gpuscope_gpu_c2c_bytes_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("direction",),
    unit=Unit.BYTES,
    help="Bytes over the chip-to-chip links.",
    tier=Tier.ACTIVITY,
    source="Σ GPM metrics 100, 101 × window",
    mig=MigBehaviour.PARENT,
    dcgm=("PROF_C2C_TX_ALL_BYTES", "PROF_C2C_RX_ALL_BYTES"),
    dcgm_labels=('direction="tx"', 'direction="rx"'),
    dcgm_note="a rate: compare with rate() of ours",
    values=(("tx", "rx"),),
)

METRICS = (LINKS, LINK_UP, BANDWIDTH_MAX, ERRORS, BYTES)
