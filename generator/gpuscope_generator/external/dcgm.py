"""dcgm-exporter 3.x to 4.5, with the field names of DCGM before and since 4.6.

The names follow from the catalogue, which gives the DCGM fields of every metric of ours; the exporter prints whatever
name its CSV file holds, so one cluster may have both. Labels as of dcgm-exporter 4.5 (2026-05): ``Hostname`` became
``hostname``, and metrics of links name the GPU ``gpu_uuid`` and ``model_name``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpuscope.catalogue.metric import Kind, Metric
from gpuscope_generator.promql import Counter, Gauge, counter, gauge, matchers

__all__ = [
    "BLANK",
    "BLANK_INT32",
    "BLANK_INT64",
    "CLOCK_EVENT_BITS",
    "EXPORTER",
    "LABELS",
    "LINK_LABELS",
    "PRESENCE",
    "XID_LAST",
    "XID_WINDOW",
    "Field",
    "divisor",
    "fields",
]

EXPORTER = "dcgm-exporter"
_POD = ("pod", "namespace", "container", "exported_pod", "exported_namespace", "exported_container")
_OLD_POD = ("pod_name", "pod_namespace", "container_name")
LABELS = (
    "gpu", "UUID", "uuid", "gpu_uuid", "pci_bus_id", "device", "modelName", "model_name", "GPU_I_PROFILE", "GPU_I_ID",
    "Hostname", "hostname", *_POD, *_OLD_POD, "vgpu", "hpc_job", "DCGM_FI_DRIVER_VERSION",
)  # fmt: skip
LINK_LABELS = (*LABELS, "nvlink", "nvswitch")

BLANK_INT32 = 0x7FFFFFF0
"""From here on a 32-bit value says why there is none: blank, not found, not supported, not permitted."""
BLANK = 2.0**47
"""The same for floating-point values."""
BLANK_INT64 = 9.2e18
"""The same for 64-bit values, such as counters of nanoseconds."""

CLOCK_EVENT_BITS = {
    "sw_power_cap": 2,
    "hw_slowdown": 3,
    "sync_boost": 4,
    "sw_thermal": 5,
    "hw_thermal": 6,
    "hw_power_brake": 7,
}
"""Bits of the mask of clock event reasons. Idleness (0) and the clocks that somebody set (1, 8) hold nothing down."""


@dataclass(frozen=True, slots=True)
class Field:
    """One DCGM field under all its names.

    Attributes:
        series: one for each name, the older first.
        labels: labels of our metric that the field stands for, such as ``sensor="gpu"``.
    """

    series: tuple[Gauge | Counter, ...]
    labels: Mapping[str, str]


def _series(name: str, metric: Metric) -> Gauge | Counter:
    make = counter if metric.kind is Kind.COUNTER else gauge
    return make(f"DCGM_FI_{name}", *LINK_LABELS, meaning=metric.help, source=EXPORTER)


def fields(metric: Metric, **equal: str) -> Iterator[Field]:
    """The DCGM fields that stand for a metric of ours, the one to prefer first.

    Args:
        metric: of the catalogue.
        equal: labels that the fields must stand for.
    """
    pairs = metric.dcgm_pairs
    told = metric.dcgm_labels or ("",) * len(pairs)
    for names, text in zip(pairs, told, strict=True):
        labels = {matcher.label: matcher.value for matcher in matchers(text)}
        if all(labels.get(label, value) == value for label, value in equal.items()):
            known = dict.fromkeys(name for name in names if name)
            yield Field(tuple(_series(name, metric) for name in known), labels)


def divisor(metric: Metric) -> float:
    """What a DCGM value must be divided by to become ours; 1 where the units agree.

    ``DEV_GPU_UTIL_RATIO`` of DCGM 4.6 is still a percentage, whatever its name says.

    Raises:
        ValueError: the catalogue gives no factor.
    """
    note = metric.dcgm_note
    if not note:
        return 1.0
    if note.startswith("/"):
        return float(note[1:])
    if note.startswith("x"):
        return 1 / float(note[1:])
    raise ValueError(f"{metric.name}: no factor: {note}")


def _all(name: str, *more: str) -> Gauge:
    return gauge(name, *LABELS, *more, source=EXPORTER)


PRESENCE = (
    _all("DCGM_FI_DEV_GPU_TEMP"),
    _all("DCGM_FI_DEV_GPU_TEMP_CELSIUS"),
    _all("DCGM_FI_DEV_FB_USED"),
)
"""Which of them there are says which GPUs, and which pods hold them: at least one is in every CSV file."""
XID_WINDOW = _all("DCGM_EXP_XID_ERRORS_COUNT", "xid", "window_size_in_ms")
"""XID errors of the last minutes, five where nothing else is set; typed as a counter, but it falls."""
XID_LAST = (_all("DCGM_FI_DEV_XID_ERRORS"), _all("DCGM_FI_DEV_XID_ERROR"))
"""The last code, for ever: its changes are the least that happened."""
