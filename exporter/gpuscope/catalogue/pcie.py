"""PCIe traffic, errors and link."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier, Unit

__all__ = ["BYTES", "ERRORS", "GENERATION", "METRICS", "REPLAYS", "WIDTH"]

BYTES = Metric(
    name="gpuscope_gpu_pcie_bytes_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("direction",),
    unit=Unit.BYTES,
    help="Bytes over PCIe: tx from the GPU, rx to it.",
    tier=Tier.FAST,
    source="fields 197, 198, unwrapped at 32 bits; else Σ GPM metrics 20, 21 × window",
    mig=MigBehaviour.PARENT,
    dcgm=("PROF_PCIE_TX_BYTES", "PROF_PCIE_RX_BYTES"),
    dcgm46=("PROF_PCIE_TX_BYTES", "PROF_PCIE_RX_BYTES", "PROF_PCIE_TX_BYTES_TOTAL", "PROF_PCIE_RX_BYTES_TOTAL"),
    dcgm_labels=('direction="tx"', 'direction="rx"', 'direction="tx"', 'direction="rx"'),
    dcgm_note="PROF_*_BYTES is a rate: compare with rate() of ours; *_BYTES_TOTAL is a counter like ours",
    values=(("tx", "rx"),),
    note="Absent where the driver never counts (some L40S drivers stay at 0 for ever). nvmlDeviceGetPcieThroughput is not used: it blocks 20 ms per direction.",
)
REPLAYS = Metric(
    name="gpuscope_gpu_pcie_replays_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    help="Packets that had to be sent again over PCIe.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetPcieReplayCounter",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_PCIE_REPLAY_COUNTER",),
    dcgm46=("DEV_PCIE_REPLAY_TOTAL",),
)
ERRORS = Metric(
    name="gpuscope_gpu_pcie_errors_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("type",),
    help="Errors of the PCIe link, by how bad they are.",
    tier=Tier.SLOW,
    source="fields 173, 179, 180",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_PCIE_COUNT_CORRECTABLE_ERRORS",),
    dcgm46=("DEV_PCIE_CORRECTABLE_ERROR_TOTAL",),
    dcgm_labels=('type="correctable"',),
    values=(("correctable", "non_fatal", "fatal"),),
)
GENERATION = Metric(
    name="gpuscope_gpu_pcie_link_generation",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("state",),
    help="PCIe generation of the link: now, and the best that GPU and slot can do.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetCurrPcieLinkGeneration, …MaxPcieLinkGeneration",
    smi="pcie.link.gen.current, pcie.link.gen.max",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_PCIE_LINK_GEN", "DEV_PCIE_MAX_LINK_GEN"),
    dcgm_labels=('state="current"', 'state="max"'),
    values=(("current", "max"),),
    high=10,
    note="The generation falls while the GPU is idle; that is normal.",
)
WIDTH = Metric(
    name="gpuscope_gpu_pcie_link_width",
    kind=Kind.GAUGE,
    level=Level.GPU,
    extra=("state",),
    help="PCIe lanes of the link: now, and the most that GPU and slot can do.",
    tier=Tier.SLOW,
    source="nvmlDeviceGetCurrPcieLinkWidth, …MaxPcieLinkWidth",
    smi="pcie.link.width.current, pcie.link.width.max",
    mig=MigBehaviour.PARENT,
    dcgm=("DEV_PCIE_LINK_WIDTH", "DEV_PCIE_MAX_LINK_WIDTH"),
    dcgm_labels=('state="current"', 'state="max"'),
    values=(("current", "max"),),
    high=32,
)

METRICS = (BYTES, REPLAYS, ERRORS, GENERATION, WIDTH)
