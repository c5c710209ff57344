"""Confidential computing."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["DEV_TOOLS", "ENABLED", "METRICS", "PROTECTED_TOTAL", "PROTECTED_USED", "READY"]

ENABLED = Metric(
    name="gpuscope_cc_enabled",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 while confidential computing is on.",
    tier=Tier.SLOW,
    source="nvmlSystemGetConfComputeState",
    dcgm=("DEV_CC_MODE",),
    high=1,
)
READY = Metric(
    name="gpuscope_cc_ready",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 while the GPUs accept work in confidential mode.",
    tier=Tier.SLOW,
    source="nvmlSystemGetConfComputeGpusReadyState",
    high=1,
)
DEV_TOOLS = Metric(
    name="gpuscope_cc_dev_tools_mode",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 while developer tools are let in, which ends confidentiality.",
    tier=Tier.SLOW,
    source="nvmlSystemGetConfComputeState",
    high=1,
)
PROTECTED_TOTAL = Metric(
    name="gpuscope_gpu_memory_protected_total_bytes",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.BYTES,
    help="Frame buffer inside the protected region, as a whole.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetConfComputeProtectedMemoryUsage",
    smi="protected_memory.total",
    mig=MigBehaviour.BLOCKED,
    high=4 * 2**40,
)
PROTECTED_USED = Metric(
    name="gpuscope_gpu_memory_protected_used_bytes",
    kind=Kind.GAUGE,
    level=Level.GPU,
    unit=Unit.BYTES,
    help="Frame buffer inside the protected region, as far as used.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetConfComputeProtectedMemoryUsage",
    smi="protected_memory.used",
    mig=MigBehaviour.BLOCKED,
    high=4 * 2**40,
)

METRICS = (ENABLED, READY, DEV_TOOLS, PROTECTED_TOTAL, PROTECTED_USED)
