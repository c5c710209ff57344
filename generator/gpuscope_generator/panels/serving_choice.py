"""What is chosen on the Inference board: what is shown of it, and how to read histograms."""

from __future__ import annotations

from gpuscope_generator.normalized import inference
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NAMESPACE, IN_POD, IN_WORKLOAD
from gpuscope_generator.promql import Gauge, Info, Matcher, Selector, Vector, histogram_quantile, select, sum_by, topk
from gpuscope_generator.view import Choice, LabelValues, Link, Noun, line

__all__ = [
    "DEPLOYMENT",
    "ENGINE",
    "IN_MODEL",
    "LEGEND",
    "OF_WORKLOAD",
    "QUANTILE",
    "SERVED_MODEL",
    "SERVER_POD",
    "SERVING_NAMESPACE",
    "model_links",
    "observed",
    "of_models",
    "of_servers",
    "quantile",
    "summed",
]

IN_ENGINE = Matcher("engine", "=~", "$engine")
IN_MODEL = Matcher("model", "=~", "$model")
_MODELS = (IN_CLUSTER, IN_NAMESPACE, IN_ENGINE, IN_MODEL, IN_WORKLOAD)
OF_WORKLOAD = ("cluster", "namespace", "workload")

SERVING_NAMESPACE = LabelValues(
    name="namespace", label="Namespace", selector=select(inference.MODEL_INFO, IN_CLUSTER), values_of="namespace"
)
ENGINE = LabelValues(
    name="engine",
    label="Engine",
    selector=select(inference.MODEL_INFO, IN_CLUSTER, IN_NAMESPACE),
    values_of="engine",
)
SERVED_MODEL = LabelValues(
    name="model",
    label="Model",
    selector=select(inference.MODEL_INFO, IN_CLUSTER, IN_NAMESPACE, IN_ENGINE),
    values_of="model",
)
DEPLOYMENT = LabelValues(
    name="workload",
    label="Deployment",
    selector=select(inference.MODEL_INFO, IN_CLUSTER, IN_NAMESPACE, IN_ENGINE, IN_MODEL),
    values_of="workload",
)
SERVER_POD = LabelValues(name="pod", label="Replica", selector=select(inference.SERVER_INFO, *_MODELS), values_of="pod")
QUANTILE = Choice(
    name="quantile", label="Percentile", options=(("p90", "90"), ("p50", "50"), ("p95", "95"), ("p99", "99"))
)
"""As percent: a point in a value would be escaped in queries."""
CHOSEN_QUANTILE = "$quantile / 100"
LEGEND = "{{model}} {{engine}} {{workload}}"
_MOST = 20


def of_models(series: Gauge | Info, *more: Matcher, **equal: str) -> Selector[Gauge | Info]:
    """A series of the chosen models."""
    return select(series, *_MODELS, *more, *(Matcher(label, "=", value) for label, value in equal.items()))


def of_servers(series: Gauge | Info, **equal: str) -> Selector[Gauge | Info]:
    """A series of the chosen replicas."""
    return select(series, *_MODELS, IN_POD, *(Matcher(label, "=", value) for label, value in equal.items()))


def summed(series: Gauge, *by: str, **equal: str) -> Vector:
    """Sum over the chosen models, by model and deployment where nothing else is given."""
    return sum_by(of_models(series, **equal), *(by or inference.MODEL))


def quantile(buckets: Gauge, level: float | str = CHOSEN_QUANTILE) -> Vector:
    """A quantile of each chosen model and engine; nothing, and no NaN, where nothing was observed.

    Engines are never added up: their buckets have other bounds.

    Args:
        buckets: one of `gpuscope_generator.normalized.latency`.
        level: 0 to 1; the percentile that the reader chose where not given.
    """
    seen = sum_by(of_models(buckets, le="+Inf"), *inference.MODEL).compare(">", 0)
    by_bound = sum_by(of_models(buckets), *inference.MODEL, "le")
    return topk(_MOST, histogram_quantile(level, by_bound.and_(seen, on=inference.MODEL)))


def observed(buckets: Gauge) -> Vector:
    """Buckets of the one chosen model that observed most, for a heat map: bounds of two engines do not fit together."""
    busiest = topk(1, sum_by(of_models(buckets, le="+Inf"), *inference.MODEL).compare(">", 0))
    return sum_by(of_models(buckets).and_(busiest, on=inference.MODEL), "cluster", "model", "engine", "le")


def model_links() -> tuple[Link, ...]:
    """Where the line of a model leads: its own view of this board, and its pods on the Task board."""
    where = {"cluster": line("cluster"), "namespace": line("namespace"), "workload": line("workload")}
    return (
        Link("Only ${__field.labels.model}", Noun.INFERENCE, {**where, "model": line("model")}),
        Link("Pods and GPUs of ${__field.labels.workload}", Noun.TASK, where),
    )
