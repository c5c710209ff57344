"""Reading dcgm-exporter: one series a GPU, whatever its names, labels and copies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuscope.catalogue.metric import Kind, Metric
from gpuscope_generator.external.dcgm import BLANK, BLANK_INT32, BLANK_INT64, PRESENCE, divisor, fields
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.promql import Counter, Gauge, Matcher, Vector, first_of, max_by, rate
from gpuscope_generator.rules.sources.agent import Agent
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.rules.sources.labels import first_label, labelled
from gpuscope_generator.rules.sources.ownership import not_of_exporter
from gpuscope_generator.settings import Settings

__all__ = ["INSTANCE", "SOURCE", "WHOLE", "Dcgm"]

SOURCE = "dcgm"
WHOLE = Matcher("GPU_I_ID", "=", "")
"""Samples of whole GPUs."""
INSTANCE = Matcher("GPU_I_ID", "!=", "")
"""Samples of MIG instances."""
_OWN_PODS = Matcher("pod", "!~", ".*dcgm-exporter.*|")


@dataclass(frozen=True, slots=True)
class Dcgm:
    """The exporter's series, as rules read them.

    Attributes:
        settings: for the selectors of the exporter and the label of the cluster.
        agent: our own agent, which this source yields to.
    """

    settings: Settings
    agent: Agent

    def level(self, series: Gauge | Counter, blank: float, *conditions: Matcher) -> Vector:
        """A field as it was scraped, without the values by which DCGM says that it has none."""
        return of_source(series, self.settings, SOURCE, *conditions).compare("<", blank)

    def rated(self, series: Gauge | Counter, blank: float, *conditions: Matcher) -> Vector:
        """Rate of a counter over five minutes, without the jumps to such a value."""
        counter = Counter(series.name, series.labels, series.unit, series.meaning, series.origin, series.source)
        return rate(of_source(counter, self.settings, SOURCE, *conditions), "5m").compare("<", blank)

    def named(self, vector: Vector) -> Vector:
        """With our labels for cluster, node and GPU.

        A node that the scrape names comes first: some installations give the exporter's pod as ``Hostname``.
        """
        with_uuid = first_label(vector, "uuid", "UUID", "gpu_uuid", "uuid")
        return canonical(with_uuid, self.settings, node_from=("node", "Hostname", "hostname"))

    def reading(
        self,
        metric: Metric,
        *extra: str,
        equal: Mapping[str, str] | None = None,
        only: Matcher | None = None,
        yields_to: tuple[Metric, ...] | None = None,
    ) -> Vector:
        """One series a GPU of the fields that stand for a metric of ours, in our unit.

        Copies make no difference: with time-slicing every pod has one, and in MIG mode every instance has one of what
        is known of the GPU as a whole.

        Args:
            metric: of the catalogue.
            extra: labels beside those of the GPU, which the fields stand for.
            equal: labels that the fields must stand for.
            only: whole GPUs, or instances.
            yields_to: where the agent has one of these, this is absent; by default the metric itself.
        """
        wanted = dict(equal or {})
        conditions = () if only is None else (only,)
        by_labels: dict[tuple[str, ...], list[Vector]] = {}
        for field in fields(metric, **wanted):
            raw = (self.level(series, _blank(metric), *conditions) for series in field.series)
            by_labels.setdefault(tuple(field.labels[label] for label in extra), []).extend(raw)
        found = (
            labelled(max_by(self.named(first_of(*raw)), *GPU), **dict(zip(extra, values, strict=True)))
            for values, raw in by_labels.items()
        )
        result = first_of(*found)
        for other in (metric,) if yields_to is None else yields_to:
            result = self.agent.yields(result, other, **(wanted if other is metric else {}))
        return _scaled(result, metric)

    def presence(self, *conditions: Matcher, partitioned: bool | None = None) -> Vector:
        """Some sample of every GPU, or only of those in MIG mode, or of the others; with its model, and all labels."""
        if partitioned is not None:
            conditions = (*conditions, INSTANCE if partitioned else WHOLE)
        found = (of_source(series, self.settings, SOURCE, *conditions) for series in PRESENCE)
        return self.named(first_label(first_of(*found), "model", "modelName", "model_name"))

    def pods(self, *conditions: Matcher) -> Vector:
        """Samples of GPUs that a pod holds, with ``namespace`` and ``pod`` of that pod; never the exporter's own."""
        exported = self.presence(Matcher("exported_pod", "!=", ""), *conditions)
        old = self.presence(Matcher("pod_name", "!=", ""), *conditions)
        plain = self.presence(Matcher("exported_pod", "=", ""), Matcher("pod_name", "=", ""), _OWN_PODS, *conditions)
        return first_of(
            first_label(first_label(exported, "pod", "exported_pod"), "namespace", "exported_namespace"),
            first_label(first_label(old, "pod", "pod_name"), "namespace", "pod_namespace"),
            not_of_exporter(plain, self.settings),
        )

    def jobs(self, *conditions: Matcher) -> Vector:
        """Samples of GPUs that a Slurm job holds, with ``job_id``."""
        return first_label(self.presence(Matcher("hpc_job", "!=", ""), *conditions), "job_id", "hpc_job")


def _blank(metric: Metric) -> float:
    if metric.kind is Kind.COUNTER:
        return BLANK_INT64
    return BLANK if metric.dcgm_note.startswith("PROF") else BLANK_INT32


def _scaled(value: Vector, metric: Metric) -> Vector:
    if metric.dcgm_note == "decode":
        return value
    by = divisor(metric)
    if by == 1:
        return value
    return value / by if by > 1 else value * round(1 / by)
