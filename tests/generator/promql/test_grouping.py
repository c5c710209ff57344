"""Aggregations by a chosen label, and one of several series."""

import pytest

from gpuscope_generator.promql import QueryError, gauge, select
from gpuscope_generator.promql.grouping import grouped
from gpuscope_generator.promql.joins import one_of

POWER = gauge("pod:power_watts:sum", "cluster", "namespace", "pod")


def test_the_chosen_label_stands_behind_the_fixed_ones() -> None:
    found = grouped("sum", select(POWER), "aggregate_by", "cluster", "namespace")
    assert found.text == "sum by (cluster, namespace, $aggregate_by) (pod:power_watts:sum)"
    assert found.labels is None


def test_a_fixed_label_that_nobody_carries_and_another_function_are_refused() -> None:
    with pytest.raises(QueryError, match="no label team"):
        grouped("sum", select(POWER), "aggregate_by", "team")
    with pytest.raises(QueryError, match="no stddev"):
        grouped("stddev", select(POWER), "aggregate_by", "cluster")


def test_one_of_keeps_all_labels() -> None:
    found = one_of(select(POWER), "cluster", "pod")
    assert found.text == "topk by (cluster, pod) (1, pod:power_watts:sum)"
    assert found.labels == {"cluster", "namespace", "pod"}
    with pytest.raises(QueryError, match="no label uid"):
        one_of(select(POWER), "uid")
