"""PCIe errors by their cause."""

from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Tier

__all__ = ["DETAILS", "METRICS"]

DETAILS = Metric(
    name="gpuscope_gpu_pcie_error_details_total",
    kind=Kind.COUNTER,
    level=Level.GPU,
    extra=("type",),
    help="PCIe errors by cause; one bad packet may count under several.",
    tier=Tier.SLOW,
    source="fields 169, 174-178, 181-183",
    mig=MigBehaviour.PARENT,
    values=(
        (
            "unsupported_request",
            "bad_tlp",
            "bad_dllp",
            "lcrc",
            "lane",
            "receiver",
            "nak_received",
            "nak_sent",
            "l0_recovery",
        ),
    ),
    default=False,
)

METRICS = (DETAILS,)
