"""The mixin, evaluated by Jsonnet: the same boards and rules, and what `_config` changes."""

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import _jsonnet
import pytest
import yaml

from gpuscope_generator.mixin.parameter import parameters
from gpuscope_generator.output import dashboard_files, mixin_files, rule_texts
from gpuscope_generator.publication import publish
from gpuscope_generator.settings import Intervals, Settings, Thresholds

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Evaluate = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory: pytest.TempPathFactory) -> Evaluate:
    """Evaluates the mixin with a configuration in Jsonnet."""
    folder = tmp_path_factory.mktemp("mixin")
    settings = Settings()
    publish(folder, {**dashboard_files(settings), **rule_texts(settings), **mixin_files(settings)}, ())

    def evaluated(config: str = "{}") -> dict[str, Any]:
        program = f"""
            local mixin = (import '{folder}/mixin/mixin.libsonnet') + {{ _config+:: {config} }};
            {{ boards: mixin.grafanaDashboards, rules: mixin.prometheusRules, alerts: mixin.prometheusAlerts }}
        """
        found: dict[str, Any] = json.loads(_jsonnet.evaluate_snippet("mine", program, jpathdir=[str(folder)]))
        return found

    return evaluated


def made(settings: Settings) -> dict[str, Any]:
    """What the generator itself gives."""
    boards = {path.name: json.loads(text) for path, text in dashboard_files(settings).items()}
    groups: dict[bool, list[Any]] = {True: [], False: []}
    for path, text in rule_texts(settings).items():
        groups["recording" in path.parts] += yaml.load(text, Loader=LOADER)["groups"]
    return {"boards": boards, "rules": {"groups": groups[True]}, "alerts": {"groups": groups[False]}}


def vars_of(thresholds: Thresholds) -> list[tuple[str, float]]:
    return [(field.name, getattr(thresholds, field.name)) for field in dataclasses.fields(thresholds)]


def rounded(found: Any) -> Any:
    """Numbers to twelve digits: Jsonnet calculates in its own order."""
    if isinstance(found, dict):
        return {key: rounded(value) for key, value in found.items()}
    if isinstance(found, list):
        return [rounded(item) for item in found]
    if isinstance(found, str):
        return re.sub(r"\d+\.\d{9,}", lambda match: f"{float(match[0]):.9g}", found)
    return float(f"{found:.12g}") if isinstance(found, float) else found


BOUNDS = {"ttft_slo_seconds", "inter_token_slo_seconds", "queue_wait_slo_seconds", "queue_min_workloads"}
"""Objectives become regular expressions over the bounds of histograms, which no arithmetic of Jsonnet follows; the last
one stands in the same expression as such a one."""


def test_without_changes_it_gives_the_same_boards_and_rules(evaluate: Evaluate) -> None:
    assert evaluate() == made(Settings())


def test_every_setting_of_the_mixin_takes_effect_as_in_the_generator(evaluate: Evaluate) -> None:
    # No halves: Python and Jsonnet round those in prose to different sides.
    thresholds = {
        name: value * 2 if isinstance(value, int) else value * 0.62
        for name, value in vars_of(Thresholds())
        if name not in BOUNDS
    }
    settings = Settings(
        cluster_label="k8s_cluster",
        thresholds=Thresholds(**thresholds),  # type: ignore[arg-type]
        intervals=Intervals(normalize=15, aggregate=45, slow=600),
        link_prefix="/grafana",
        runbook_prefix="https://wiki.example/x",
        scrape_interval="15s",
        extra_tags=("ml",),
        editable=True,
    )
    config = f"""{{
        cluster_label: 'k8s_cluster',
        thresholds+: {json.dumps(thresholds)},
        intervals+: {json.dumps(dataclasses.asdict(settings.intervals))},
        link_prefix: '/grafana',
        runbook_prefix: 'https://wiki.example/x',
        scrape_interval: '15s',
        extra_tags+: ['ml'],
        editable: true,
    }}"""
    assert rounded(evaluate(config)) == rounded(made(settings))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{ clusterLabel: 'x' }", "no such setting of the mixin: clusterLabel"),
        ("{ prices: {} }", "no such setting of the mixin: prices"),
        ("{ thresholds+: { ttft_slo_seconds: 1 } }", "thresholds.ttft_slo_seconds needs the generator"),
        ("{ thresholds+: { idle: 1 } }", "no such setting of the mixin: idle"),
        ("{ intervals+: { fast: 1 } }", "no such setting of the mixin: fast"),
        (
            "{ thresholds+: { storage_high_ratio: 0.99 } }",
            "thresholds.storage_high_ratio is above storage_critical_ratio",
        ),
    ],
)
def test_what_the_mixin_does_not_know_is_refused(evaluate: Evaluate, config: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        evaluate(config)


def test_every_number_that_is_no_bound_can_be_changed_in_the_mixin() -> None:
    (text,) = mixin_files(Settings()).values()
    assert set(re.findall(r"'thresholds\.(\w+) needs the generator'", text)) == BOUNDS
    assert text.count("needs the generator") == len(BOUNDS)
    assert {parameter.path for parameter in parameters(Settings())} == {
        *(f"thresholds.{field.name}" for field in dataclasses.fields(Thresholds)),
        *(f"intervals.{field.name}" for field in dataclasses.fields(Intervals)),
    }
