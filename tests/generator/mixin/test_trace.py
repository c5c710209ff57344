"""Where a number ends up: found in values, in queries and in prose, or known to be lost."""

import json
from collections.abc import Callable
from typing import Any

import _jsonnet
import pytest

from gpuscope_generator.loading import as_plain
from gpuscope_generator.mixin.parameter import LINK_PREFIX, parameters, with_cluster_label, with_trial
from gpuscope_generator.mixin.trace import Tracer, quoted
from gpuscope_generator.settings import Intervals, Settings, Thresholds

SETTINGS = Settings()
CHANGED = Settings(
    thresholds=Thresholds(idle_ratio=0.07, idle_minutes=45, memory_high_ratio=0.5, checkpoint_age_seconds=1800.0),
    intervals=Intervals(aggregate=90),
    link_prefix="/grafana",
    scrape_interval="10s",
)


def traced(build: Callable[[Settings], Any]) -> tuple[Any, Tracer]:
    """A document with other settings, by way of what the tracer found."""
    tracer = Tracer(SETTINGS, parameters(SETTINGS))
    found = list(tracer.changes(build(SETTINGS), build(with_trial(SETTINGS, 0)), build(with_trial(SETTINGS, 1))))
    result = json.loads(json.dumps(build(SETTINGS)))
    for change in found:
        program = f"local c = {json.dumps(as_plain(CHANGED))}; {change.expression}"
        value = json.loads(_jsonnet.evaluate_snippet("x", program))
        place = result
        for part in change.path[:-1]:
            place = place[part]
        place[change.path[-1]] = value
    return result, tracer


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.thresholds.idle_ratio,
        lambda s: {"a": [1, {"b": s.thresholds.idle_minutes}], "c": True},
        lambda s: s.thresholds.idle_minutes * 60,
        lambda s: 1 - s.thresholds.memory_high_ratio,
        lambda s: f'x{{le="0.5"}} < {s.thresholds.idle_ratio} and y[{s.thresholds.idle_minutes}m] > 30',
        lambda s: (
            f'Above {s.thresholds.memory_high_ratio:.0%} of memory it\'s "full" \\ {s.thresholds.idle_minutes} min.'
        ),
        lambda s: f"older than {s.thresholds.checkpoint_age_seconds / 3600:g} h",
        lambda s: f"{s.intervals.aggregate}s",
        lambda s: s.scrape_interval,
        lambda s: f"{s.link_prefix}/d/a?x=1",
        lambda s: f"see {s.link_prefix}/d/a and {s.link_prefix}/d/b",
        lambda s: f"{s.runbook_prefix}/page",
        lambda s: "nothing of it 30",
    ],
)
def test_what_follows_from_a_setting_follows_it(build: Callable[[Settings], Any]) -> None:
    found, tracer = traced(lambda settings: [build(settings)])
    assert tracer.lost == []
    assert found == [pytest.approx(build(CHANGED)) if isinstance(build(CHANGED), float) else build(CHANGED)]


@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.thresholds.idle_ratio * 7,
        lambda s: s.thresholds.idle_ratio + s.thresholds.memory_high_ratio,
        lambda s: "many" if s.thresholds.idle_minutes > 30 else "few",
        lambda s: f"{s.thresholds.idle_ratio * 7} x",
        lambda s: f"{s.link_prefix}/d {s.thresholds.idle_ratio * 7}",
    ],
)
def test_what_cannot_be_followed_is_known_to_be_lost(build: Callable[[Settings], Any]) -> None:
    _, tracer = traced(lambda settings: [build(settings)])
    assert tracer.lost == [(0,)]


@pytest.mark.parametrize(
    "build",
    [
        lambda s: [1] * s.thresholds.idle_minutes,
        lambda s: {f"k{s.thresholds.idle_minutes}": 1},
    ],
)
def test_a_number_that_decides_what_there_is_is_refused(build: Callable[[Settings], Any]) -> None:
    with pytest.raises(ValueError, match="a threshold or an interval decides"):
        traced(build)


@pytest.mark.parametrize("text", ["", "a'b", 'a"b', "a\\b", "a\nb", "ü", "\\\"'"])
def test_texts_of_jsonnet(text: str) -> None:
    assert json.loads(_jsonnet.evaluate_snippet("x", quoted(text))) == text


def test_trials_differ_from_each_other_and_from_the_defaults() -> None:
    every = [parameter.values for parameter in parameters(SETTINGS)]
    assert all(len(set(values)) == 3 for values in every)
    assert len({values[1:] for values in every}) == len(every)
    assert with_trial(SETTINGS, 0).link_prefix == f"{LINK_PREFIX}0"
    assert with_cluster_label(SETTINGS).cluster_label != "cluster"
