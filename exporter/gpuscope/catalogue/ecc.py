"""ECC mode and errors."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = ["ERRORS", "LIFETIME", "METRICS", "MODE_ENABLED", "MODE_PENDING", "SRAM_ERRORS", "SRAM_THRESHOLD"]

MODE_ENABLED = Metric(
    name="gpuscope_gpu_ecc_mode_enabled",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 while memory is protected by ECC.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetEccMode",
    smi="ecc.mode.current",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_ECC_CURRENT",),
    dcgm46=("DEV_ECC_MODE",),
    high=1,
)
MODE_PENDING = Metric(
    name="gpuscope_gpu_ecc_mode_pending",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when ECC will be on after the next reset.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetEccMode",
    smi="ecc.mode.pending",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_ECC_PENDING",),
    high=1,
)
ERRORS = Metric(
    name="gpuscope_gpu_ecc_errors_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("severity", "location"),
    help="ECC errors since the driver was loaded, by severity and place.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetTotalEccErrors, nvmlDeviceGetMemoryErrorCounter (volatile)",
    smi="ecc.errors.corrected.volatile.total, ecc.errors.corrected.volatile.dram, ecc.errors.corrected.volatile.sram, ecc.errors.uncorrected.volatile.total, ecc.errors.uncorrected.volatile.dram, ecc.errors.uncorrected.volatile.sram",
    mig=MigBehaviour.PARENT,
    dcgm=(
        "DEV_ECC_SBE_VOL_TOTAL",
        "DEV_ECC_DBE_VOL_TOTAL",
        "DEV_ECC_SBE_VOL_DEV",
        "DEV_ECC_DBE_VOL_DEV",
        "DEV_ECC_SBE_VOL_SRM",
        "DEV_ECC_DBE_VOL_SRM",
    ),
    dcgm_labels=(
        'severity="corrected",location="total"',
        'severity="uncorrected",location="total"',
        'severity="corrected",location="dram"',
        'severity="uncorrected",location="dram"',
        'severity="corrected",location="sram"',
        'severity="uncorrected",location="sram"',
    ),
    values=(("corrected", "uncorrected"), ("total", "dram", "sram")),
    note="location=total already holds the others: never sum over location.",
)
LIFETIME = Metric(
    name="gpuscope_gpu_ecc_errors_lifetime_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("severity",),
    help="ECC errors over the life of the board, by severity.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetTotalEccErrors (aggregate, InfoROM)",
    smi="ecc.errors.corrected.aggregate.total, ecc.errors.uncorrected.aggregate.total",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_ECC_SBE_AGG_TOTAL", "DEV_ECC_DBE_AGG_TOTAL"),
    dcgm_labels=('severity="corrected"', 'severity="uncorrected"'),
    values=(("corrected", "uncorrected"),),
)
SRAM_THRESHOLD = Metric(
    name="gpuscope_gpu_ecc_sram_threshold_exceeded",
    kind=Kind.GAUGE,
    level=Level.GPU,
    help="1 when the board had more SRAM errors than NVIDIA accepts: run field diagnostics.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetSramEccErrorStatus",
    smi="ecc.errors.uncorrected.aggregate.sram.thresholdExceeded",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_THRESHOLD_SRM",),
    dcgm46=("DEV_SRAM_EXCEEDED",),
    high=1,
)
SRAM_ERRORS = Metric(
    name="gpuscope_gpu_ecc_sram_errors_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("unit",),
    help="Uncorrected SRAM errors over the life of the board, by the unit that they were found in.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetSramEccErrorStatus",
    smi="ecc.errors.uncorrected.aggregate.sram.l2, ecc.errors.uncorrected.aggregate.sram.sm, ecc.errors.uncorrected.aggregate.sram.mcu, ecc.errors.uncorrected.aggregate.sram.pcie, ecc.errors.uncorrected.aggregate.sram.other",
    mig=MigBehaviour.PARENT,
    values=(("l2", "sm", "mcu", "pcie", "other"),),
)

METRICS = (MODE_ENABLED, MODE_PENDING, ERRORS, LIFETIME, SRAM_THRESHOLD, SRAM_ERRORS)
