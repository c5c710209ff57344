"""Functions and aggregations: the text, the labels of the result, and the types that they refuse."""

from collections.abc import Callable

import promql_parser
import pytest

from gpuscope.catalogue import power, xid
from gpuscope_generator.promql import (
    QueryError,
    Vector,
    as_counter,
    as_gauge,
    as_histogram,
    as_info,
    avg_by,
    avg_over_time,
    bottomk,
    changes,
    clamp,
    count_by,
    count_values,
    counter,
    deriv,
    floor,
    gauge,
    group_by,
    histogram,
    histogram_quantile,
    increase,
    info,
    label_join,
    label_replace,
    last_over_time,
    max_by,
    max_over_time,
    min_by,
    min_over_time,
    now,
    predict_linear,
    present_over_time,
    quantile_by,
    rate,
    resampled,
    scalar,
    select,
    sum_by,
    sum_over_time,
    timestamp,
    topk,
    vector,
)
from gpuscope_generator.promql.filling import Filling, filled

LEVEL = select(gauge("node:level:sum", "cluster", "node"))
FACTS = select(info("node:info:union", "cluster", "node", "model"))
EVENTS = select(counter("node:events_total:sum", "cluster", "node"))
BUCKETS = select(histogram("s", "node", source="test").buckets)
LABELS = {"cluster", "node"}


@pytest.mark.parametrize(
    ("expression", "text", "labels"),
    [
        (rate(EVENTS), "rate(node:events_total:sum[$__rate_interval])", LABELS),
        (increase(EVENTS, "1h"), "increase(node:events_total:sum[1h])", LABELS),
        (changes(EVENTS, "1h"), "changes(node:events_total:sum[1h])", LABELS),
        (deriv(LEVEL, "1h"), "deriv(node:level:sum[1h])", LABELS),
        (predict_linear(LEVEL, "6h", 86400), "predict_linear(node:level:sum[6h], 86400)", LABELS),
        (avg_over_time(LEVEL), "avg_over_time(node:level:sum[$__range])", LABELS),
        (max_over_time(LEVEL, "1h"), "max_over_time(node:level:sum[1h])", LABELS),
        (max_over_time(LEVEL, "6h", until="1h"), "max_over_time(node:level:sum[6h] offset 1h)", LABELS),
        (min_over_time(FACTS, "1h"), "min_over_time(node:info:union[1h])", LABELS | {"model"}),
        (sum_over_time(LEVEL, "1h"), "sum_over_time(node:level:sum[1h])", LABELS),
        (last_over_time(EVENTS, "1h"), "last_over_time(node:events_total:sum[1h])", LABELS),
        (present_over_time(LEVEL, "1h"), "present_over_time(node:level:sum[1h])", LABELS),
        (resampled("avg_over_time", LEVEL, "1h", "1m"), "avg_over_time(node:level:sum[1h:1m])", LABELS),
        (
            resampled("max_over_time", LEVEL + LEVEL, "1h"),
            "max_over_time((node:level:sum + node:level:sum)[1h:])",
            LABELS,
        ),
        (resampled("max_over_time", LEVEL * 2, "1h"), "max_over_time((node:level:sum * 2)[1h:])", LABELS),
        (resampled("max_over_time", LEVEL.offset("1d"), "1h"), "max_over_time(node:level:sum offset 1d[1h:])", LABELS),
        (timestamp(LEVEL), "timestamp(node:level:sum)", LABELS),
        (clamp(LEVEL, low=0), "clamp_min(node:level:sum, 0)", LABELS),
        (clamp(LEVEL, low=-1, high=1.5), "clamp_max(clamp_min(node:level:sum, -1), 1.5)", LABELS),
        (
            label_replace(LEVEL, "x", "$1", "node", '(.*)"\\.'),
            r'label_replace(node:level:sum, "x", "$1", "node", "(.*)\"\\.")',
            LABELS | {"x"},
        ),
        (label_join(LEVEL, "x", "-", "a", "b"), 'label_join(node:level:sum, "x", "-", "a", "b")', LABELS | {"x"}),
        (
            histogram_quantile(0.9, sum_by(rate(BUCKETS), "le")),
            "histogram_quantile(0.9, sum by (le) (rate(s_bucket[$__rate_interval])))",
            set(),
        ),
        (histogram_quantile("$quantile", sum_by(rate(BUCKETS), "le", "node")), None, {"node"}),
        (sum_by(LEVEL, "node"), "sum by (node) (node:level:sum)", {"node"}),
        (avg_by(LEVEL), "avg(node:level:sum)", set()),
        (max_by(LEVEL, "node", "cluster"), "max by (node, cluster) (node:level:sum)", LABELS),
        (min_by(LEVEL), "min(node:level:sum)", set()),
        (count_by(LEVEL, "cluster"), "count by (cluster) (node:level:sum)", {"cluster"}),
        (group_by(FACTS, "model"), "group by (model) (node:info:union)", {"model"}),
        (quantile_by(0.5, LEVEL, "cluster"), "quantile by (cluster) (0.5, node:level:sum)", {"cluster"}),
        (topk(5, LEVEL), "topk(5, node:level:sum)", LABELS),
        (topk("$top", LEVEL), None, LABELS),
        (bottomk(5, LEVEL), "bottomk(5, node:level:sum)", LABELS),
        (count_values("value", LEVEL), 'count_values("value", node:level:sum)', {"value"}),
        (count_values("v", LEVEL, "node"), 'count_values by (node) ("v", node:level:sum)', {"v", "node"}),
        (vector(3), "vector(3)", set()),
        (vector(now()), "vector(time())", set()),
        (LEVEL.compare(">", scalar(sum_by(LEVEL))), "node:level:sum > scalar(sum(node:level:sum))", LABELS),
    ],
)
def test_text_and_labels(expression: Vector, text: str | None, labels: set[str]) -> None:
    assert text is None or expression.text == text
    assert expression.labels == labels
    promql_parser.parse(filled(expression.text, Filling(values={"quantile": "0.5", "top": "3"})))


@pytest.mark.parametrize(
    "build",
    [
        lambda: rate(LEVEL),  # type: ignore[arg-type]
        lambda: increase(FACTS, "1h"),  # type: ignore[arg-type]
        lambda: deriv(EVENTS, "1h"),  # type: ignore[arg-type]
        lambda: predict_linear(EVENTS, "1h", 1),  # type: ignore[arg-type]
        lambda: avg_over_time(EVENTS),  # type: ignore[arg-type]
        lambda: resampled("rate", LEVEL, "1h"),
        lambda: clamp(LEVEL),
        lambda: histogram_quantile(0.5, LEVEL),
        lambda: sum_by(LEVEL, "pod"),
        lambda: count_values("x", LEVEL, "pod"),
    ],
)
def test_wrong_types_and_labels_are_refused(build: Callable[[], Vector]) -> None:
    with pytest.raises(QueryError):
        build()


def test_metrics_of_the_catalogue_keep_their_kind() -> None:
    assert as_gauge(power.POWER).source == "gpuscope"
    counters = [metric for metric in xid.METRICS if metric.name.endswith("_total")]
    assert rate(select(as_counter(counters[0])), "5m").text.startswith("rate(gpuscope_")
    for convert in (as_counter, as_info, as_histogram):
        with pytest.raises(TypeError, match=r"gpuscope_gpu_power_watts is a gauge"):
            convert(power.POWER)


def test_one_bit_of_a_mask() -> None:
    bits = gauge("mask", "gpu", source="x")
    bit = floor(select(bits) / 4) % 2
    assert bit.text == "floor(mask / 4) % 2"
    assert bit.labels is not None
    assert "gpu" in bit.labels


def test_a_label_is_joined_into_itself_only_as_the_first_part() -> None:
    # VictoriaMetrics writes the result over the label while it reads it: of "gpu-001" it makes ";pu-001".
    assert "node" in (label_join(LEVEL, "node", ";", "node", "a").labels or ())
    with pytest.raises(QueryError, match="label_join into node, which is read after others: put it first"):
        label_join(LEVEL, "node", ";", "a", "node")
