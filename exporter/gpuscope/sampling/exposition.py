"""Samples to bytes: Prometheus' classic text and OpenMetrics, made once per cycle.

A scrape writes finished bytes. Work is kept small by rendering each source's blocks once, when they change, and by
remembering the ``name{labels}`` part of a series, which is the same in both formats.
"""

import gzip
from collections.abc import Iterable, Mapping
from functools import lru_cache

from gpuscope.catalogue.metric import Kind, Metric, Sample

__all__ = [
    "Blocks",
    "Exposition",
    "escape_help",
    "escape_label",
    "forget_series",
    "number_text",
    "render_blocks",
    "series_text",
]

Blocks = Mapping[Metric, str]
"""For each metric the finished sample lines of one source, every line ended by a newline."""

_OPENMETRICS_TYPE = {
    Kind.GAUGE: "gauge",
    Kind.COUNTER: "counter",
    Kind.INFO: "gauge",
    Kind.STATE_SET: "gauge",
    Kind.HISTOGRAM: "histogram",
}


@lru_cache(maxsize=16384)
def escape_label(value: str) -> str:
    """Escapes a label value: backslash, double quote and newline; the same in both formats."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def escape_help(text: str) -> str:
    """Escapes a help text: backslash and newline."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")


@lru_cache(maxsize=16384)
def series_text(metric_name: str, names: tuple[str, ...], values: tuple[str, ...]) -> str:
    """The part of a line before the number, ``name{labels}`` and a space; the last 16,384 are remembered."""
    if not names:
        return metric_name + " "
    return _pattern(metric_name, names) % tuple(map(escape_label, values))


@lru_cache(maxsize=4096)
def _pattern(metric_name: str, names: tuple[str, ...]) -> str:
    """The line with a place for each value; too many values, or too few, do not fit."""
    return metric_name + "{" + ",".join(f'{name}="%s"' for name in names) + "} "


def _part_text(metric_name: str, names: tuple[str, ...], values: tuple[str, ...]) -> str:
    """The same for a part of a histogram: its bucket, sum or count."""
    *own, part = values
    if part in {"sum", "count"}:
        return series_text(f"{metric_name}_{part}", names, tuple(own))
    return series_text(f"{metric_name}_bucket", (*names, "le"), values)


def forget_series() -> None:
    """Drops the remembered label texts; for when many of them will not come back, as after a MIG change."""
    series_text.cache_clear()
    escape_label.cache_clear()


def number_text(value: float) -> str:
    """A finite number in the shortest form that loses nothing."""
    if value == (whole := int(value)) and abs(whole) < 1 << 53:
        return str(whole)
    return repr(float(value))


def render_blocks(samples: Iterable[Sample]) -> dict[Metric, str]:
    """Renders one source's samples to lines, grouped by metric, in the order given.

    Shapes: N samples -> one string per distinct metric. Values must be finite; the sink guarantees it.
    """
    lines: dict[Metric, list[str]] = {}
    for metric, labels, value in samples:
        series = _part_text if metric.buckets else series_text
        line = series(metric.name, metric.labels, labels) + number_text(value) + "\n"
        try:
            lines[metric].append(line)
        except KeyError:
            lines[metric] = [line]
    return {metric: "".join(parts) for metric, parts in lines.items()}


@lru_cache(maxsize=4096)
def _header(metric: Metric, openmetrics: bool) -> str:
    name, kind = metric.name, _OPENMETRICS_TYPE[metric.kind]
    if openmetrics and kind == "counter":
        name = name.removesuffix("_total")
    return f"# HELP {name} {escape_help(metric.help)}\n# TYPE {name} {kind}\n"


class Exposition:
    """Finished bodies of one snapshot in both formats; compressed ones are made at the first request for them.

    Args:
        sources: blocks of every source, in the order in which their lines shall stand inside a family.
        order: all metrics in the order of the families.
        foreign: text that another renderer made (``process_*`` of prometheus_client), classic and OpenMetrics.
    """

    __slots__ = ("_bodies", "series")

    def __init__(
        self,
        sources: Iterable[Blocks] = (),
        order: Iterable[Metric] = (),
        foreign: tuple[str, str] = ("", ""),
    ) -> None:
        blocks = list(sources)
        classic: list[str] = []
        openmetrics: list[str] = []
        self.series = 0
        for metric in order:
            parts = [block[metric] for block in blocks if metric in block]
            if not parts:
                continue
            body = "".join(parts)
            self.series += body.count("\n")
            classic += (_header(metric, False), body)
            openmetrics += (_header(metric, True), body)
        classic.append(foreign[0])
        openmetrics += (foreign[1], "# EOF\n")
        self._bodies: dict[tuple[bool, bool], bytes] = {
            (False, False): "".join(classic).encode(),
            (True, False): "".join(openmetrics).encode(),
        }

    def body(self, *, openmetrics: bool = False, compressed: bool = False) -> bytes:
        """The bytes to send; ``compressed`` gives them as gzip."""
        key = (openmetrics, compressed)
        if key not in self._bodies:
            self._bodies[key] = gzip.compress(self._bodies[(openmetrics, False)], compresslevel=1, mtime=0)
        return self._bodies[key]
