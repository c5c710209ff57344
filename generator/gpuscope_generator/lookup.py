"""From the names that people know to ours: dcgm-exporter and nvidia-smi."""

from collections.abc import Iterator

from gpuscope.catalogue import METRICS
from gpuscope.catalogue.metric import Kind, Level, Metric, Unit
from gpuscope_generator.markdown import code, codes, table

__all__ = [
    "DCGM_LABELS",
    "WITHOUT_TWIN",
    "conversion",
    "dcgm_table",
    "label_table",
    "smi_fields",
    "smi_table",
    "without_twin_table",
]

_PREFIX = "DCGM_FI_"

DCGM_LABELS = (
    ("`gpu`", "`gpu`"),
    ("`UUID`", "`uuid`"),
    ("`GPU_I_ID`", "`gi`, on `gpuscope_mig_…` series only"),
    ("`GPU_I_PROFILE`", "`profile`, on `gpuscope_mig_…` series only"),
    ("`device` (`nvidia0`)", "`minor` of `gpuscope_gpu_info`"),
    ("`modelName`", "`model` of `gpuscope_gpu_info`"),
    ("`pci_bus_id`", "`pci_bus_id` of `gpuscope_gpu_info`"),
    ("`DCGM_FI_DRIVER_VERSION`", "`driver_version` of `gpuscope_driver_info`"),
    ("`Hostname`, `hostname`", "none: the scrape adds `instance`, and `node` where it is told to"),
    ("`err_code`", "`xid` of `gpuscope_gpu_xid_errors_total`"),
    ("`pod`, `namespace`, `container`", "none: pods are never part of what identifies a device series"),
)
"""Labels of dcgm-exporter, and where the same fact is with us."""

WITHOUT_TWIN = (
    (
        "DCGM_FI_DEV_FB_USED_PERCENT, DCGM_FI_DEV_FB_USED_RATIO",
        "gpuscope_gpu_memory_used_bytes / (gpuscope_gpu_memory_total_bytes - gpuscope_gpu_memory_reserved_bytes)",
    ),
    ("DCGM_FI_DEV_BAR1_FREE", "gpuscope_gpu_bar1_total_bytes - gpuscope_gpu_bar1_used_bytes"),
    ("DCGM_FI_DEV_PCIE_TX_THROUGHPUT", 'rate(gpuscope_gpu_pcie_bytes_total{direction="tx"}[5m])'),
    ("DCGM_FI_DEV_PCIE_RX_THROUGHPUT", 'rate(gpuscope_gpu_pcie_bytes_total{direction="rx"}[5m])'),
    ("DCGM_EXP_XID_ERRORS_COUNT", "increase(gpuscope_gpu_xid_errors_total[5m])"),
    ("DCGM_EXP_CLOCK_EVENTS_COUNT", "increase(gpuscope_gpu_clock_event_seconds_total[5m]) > 0"),
)
"""DCGM names that need no series of their own with us, and the query that gives the same."""


def dcgm_table() -> str:
    """DCGM field, its name since 4.6, our series, and how to convert; sorted by the DCGM name."""
    rows: dict[tuple[str, str], dict[Level, list[str]]] = {}
    notes: dict[tuple[str, str], list[str]] = {}
    for metric in METRICS:
        for pair, series in _dcgm_series(metric):
            rows.setdefault(pair, {}).setdefault(metric.level, []).append(series)
            note = conversion(metric)
            if note not in notes.setdefault(pair, []):
                notes[pair].append(note)
    return table(
        ("DCGM until 4.5", "DCGM since 4.6", "gpuscope", "with `GPU_I_ID`", "From DCGM to ours"),
        (
            (
                code(_full(pair[0])),
                code(_full(pair[1])) if pair[0] != pair[1] else "unchanged",
                codes(found.get(Level.GPU, []) + found.get(Level.NODE, []), "<br>"),
                codes(found.get(Level.MIG, []), "<br>"),
                "; ".join(notes[pair]),
            )
            for pair, found in sorted(rows.items(), key=lambda row: row[0][0] or row[0][1])
        ),
    )


def conversion(metric: Metric) -> str:
    """How a DCGM value becomes ours, in words."""
    words = {"": "same", "label": "a label", "decode": "decode the number"}
    return words.get(metric.dcgm_note, metric.dcgm_note)


def _full(name: str) -> str:
    return _PREFIX + name if name else ""


def _dcgm_series(metric: Metric) -> Iterator[tuple[tuple[str, str], str]]:
    matchers = metric.dcgm_labels or ("",) * len(metric.dcgm_pairs)
    for pair, matcher in zip(metric.dcgm_pairs, matchers, strict=True):
        yield pair, f"{metric.name}{{{matcher}}}" if matcher else metric.name


def label_table() -> str:
    """Where the labels of dcgm-exporter went."""
    return table(("Label of dcgm-exporter", "with us"), DCGM_LABELS)


def without_twin_table() -> str:
    """Queries in place of DCGM fields that have no series of their own with us."""
    return table(("DCGM", "Query"), ((codes(names.split(", ")), code(query)) for names, query in WITHOUT_TWIN))


_FROM_SMI = {
    Unit.BYTES: "MiB, x1048576",
    Unit.CELSIUS: "°C, same",
    Unit.HERTZ: "MHz, x1000000",
    Unit.RATIO: "%, /100",
    Unit.SECONDS: "µs, /1000000",
    Unit.WATTS: "W, same",
}
_SMI_WORDS = {"pstate": "P0 is 0", "fabric.status": "Success is 0"}


def smi_table() -> str:
    """Field of ``nvidia-smi --query-gpu``, our metric, and how the units differ; sorted by field."""
    rows = sorted((field, metric.name, _from_smi(metric, field)) for metric in METRICS for field in smi_fields(metric))
    return table(
        ("`nvidia-smi --query-gpu`", "gpuscope", "From nvidia-smi to ours"),
        ((code(field), code(name), conversion) for field, name, conversion in rows),
    )


def smi_fields(metric: Metric) -> tuple[str, ...]:
    """The nvidia-smi fields of a metric."""
    return tuple(field for field in metric.smi.split(", ") if field)


def _from_smi(metric: Metric, field: str) -> str:
    if field in _SMI_WORDS:
        return _SMI_WORDS[field]
    if metric.kind is Kind.INFO:
        return "a label"
    if metric.kind is Kind.STATE_SET:
        return "the series of that state is 1"
    if not metric.unit and metric.high == 1:
        return "Active, Enabled, Yes or True is 1"
    return _FROM_SMI.get(metric.unit, "same")
