"""Row remapping, page retirement and repairs of GPU memory."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = [
    "BANKS",
    "FAILED",
    "METRICS",
    "REPAIR_PENDING",
    "RETIRED_PAGES",
    "RETIRED_PENDING",
    "ROWS",
    "ROWS_PENDING",
    "UNREPAIRABLE",
]

RETIRED_PAGES = Metric(
    name="gpuscope_gpu_retired_pages",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("cause",),
    help="Memory pages taken out of use (before Ampere).",
    tier=Tier.SLOW,
    source="fields 29, 30",
    smi="retired_pages.single_bit_ecc.count",
    mig=MigBehaviour.NOT_APPLICABLE,
    dcgm=("DEV_RETIRED_SBE", "DEV_RETIRED_DBE"),
    dcgm46=("DEV_PAGE_RETIRED_SBE_TOTAL", "DEV_PAGE_RETIRED_DBE_TOTAL"),
)
RETIRED_PENDING = Metric(
    name="gpuscope_gpu_retired_pages_pending",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when a page retirement waits for a reset (before Ampere).",
    tier=Tier.SLOW,
    source="field 31",
    smi="retired_pages.pending",
    mig=MigBehaviour.NOT_APPLICABLE,
    dcgm=("DEV_RETIRED_PENDING",),
    dcgm46=("DEV_PAGE_RETIRED_PENDING",),
)
ROWS = Metric(
    name="gpuscope_gpu_remapped_rows",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("cause",),
    help="Memory rows replaced by spare ones.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetRemappedRows",
    smi="remapped_rows.uncorrectable",
    mig=MigBehaviour.BLOCKED,
    dcgm=("DEV_CORRECTABLE_REMAPPED_ROWS", "DEV_UNCORRECTABLE_REMAPPED_ROWS"),
    dcgm46=("DEV_ROW_REMAP_CORRECTABLE_TOTAL", "DEV_ROW_REMAP_UNCORRECTABLE_TOTAL"),
)
ROWS_PENDING = Metric(
    name="gpuscope_gpu_remapped_rows_pending",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when a row remapping waits for a reset of the GPU.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetRemappedRows",
    smi="remapped_rows.pending",
    mig=MigBehaviour.BLOCKED,
    dcgm=("DEV_ROW_REMAP_PENDING",),
    high=1,
)
FAILED = Metric(
    name="gpuscope_gpu_remapping_failed",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when a row could not be remapped: the board is to be replaced.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetRemappedRows",
    smi="remapped_rows.failure",
    mig=MigBehaviour.BLOCKED,
    dcgm=("DEV_ROW_REMAP_FAILURE",),
    dcgm46=("DEV_ROW_REMAP_FAILED",),
    high=1,
)
BANKS = Metric(
    name="gpuscope_gpu_row_remapper_banks",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("availability",),
    help="Memory banks by how many spare rows they have left.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetRowRemapperHistogram",
    smi="remapped_rows.histogram.max",
    mig=MigBehaviour.PARENT,
    dcgm=(
        "DEV_BANKS_REMAP_ROWS_AVAIL_MAX",
        "DEV_BANKS_REMAP_ROWS_AVAIL_HIGH",
        "DEV_BANKS_REMAP_ROWS_AVAIL_PARTIAL",
        "DEV_BANKS_REMAP_ROWS_AVAIL_LOW",
        "DEV_BANKS_REMAP_ROWS_AVAIL_NONE",
    ),
)
REPAIR_PENDING = Metric(
    name="gpuscope_gpu_repair_pending",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("kind",),
    help="1 when a channel or TPC repair waits for a reset.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetRepairStatus",
    mig=MigBehaviour.PARENT,
    high=1,
)
UNREPAIRABLE = Metric(
    name="gpuscope_gpu_memory_unrepairable",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when the memory cannot be repaired any more.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetUnrepairableMemoryFlag_v1",
    mig=MigBehaviour.PARENT,
    dcgm46=("DEV_MEMORY_UNREPAIRABLE",),
    high=1,
)

METRICS = (RETIRED_PAGES, RETIRED_PENDING, ROWS, ROWS_PENDING, FAILED, BANKS, REPAIR_PENDING, UNREPAIRABLE)
