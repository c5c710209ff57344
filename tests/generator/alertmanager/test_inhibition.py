# ruff: noqa: E501 - one row is one pair
"""What is held back because of what."""

from __future__ import annotations

import dataclasses
import re

import pytest

from gpuscope_generator.alertmanager.causes import CAUSES, NEVER
from gpuscope_generator.alertmanager.inhibition import Inhibition, inhibitions
from gpuscope_generator.alertmanager.routing import Match
from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.settings import AlertChange, Settings

ALERTS = all_alerts(Settings())
RULES = inhibitions(Settings())
GRAVITY = ("info", "warning", "critical")


def _matches(matches: tuple[Match, ...], labels: dict[str, str]) -> bool:
    def holds(match: Match) -> bool:
        value = labels.get(match.label, "")
        if "~" in match.operator:
            return (re.fullmatch(match.value, value) is not None) is (match.operator == "=~")
        return (value == match.value) is (match.operator == "=")

    return all(holds(match) for match in matches)


def _holds_back(rule: Inhibition, source: dict[str, str], target: dict[str, str]) -> bool:
    equal = all(source.get(label, "") == target.get(label, "") for label in rule.equal)
    return equal and _matches(rule.source, source) and _matches(rule.target, target)


def _held(source: dict[str, str], target: dict[str, str]) -> bool:
    return any(_holds_back(rule, source, target) for rule in RULES)


def _labels(name: str, severity: str, **more: str) -> dict[str, str]:
    scope = next(one.scope.value for one in ALERTS if one.name == name)
    return {"alertname": name, "severity": severity, "scope": scope, "cluster": "c", **more}


def test_every_name_is_an_alert_of_ours() -> None:
    named = {name for cause in CAUSES for name in (*cause.sources, *cause.targets)} | set(NEVER)
    assert named - {one.name for one in ALERTS} == set()


def test_what_is_compared_is_carried_by_both_sides() -> None:
    labels = {one.name: one.expression.labels or frozenset() for one in ALERTS}
    for cause in CAUSES:
        for name in (*cause.sources, *cause.targets):
            # An alert that carries none of them could never hold back, or be held back.
            assert set(cause.equal) - labels[name] <= {"cluster"}, (cause.about, name)


def test_what_is_never_held_back_is_no_target() -> None:
    for one in ALERTS:
        if one.name in NEVER:
            labels = _labels(one.name, one.severity.value, node="n", gpu="0", rack="r", workload="w")
            assert not [rule for rule in RULES if _matches(rule.target, labels)], one.name


def test_nothing_milder_holds_back_what_is_graver() -> None:
    for rule in RULES:
        (source,) = (match.value for match in rule.source if match.label == "severity")
        (targets,) = (match.value.split("|") for match in rule.target if match.label == "severity")
        assert all(GRAVITY.index(one) <= GRAVITY.index(source) for one in targets), rule


def test_what_must_be_equal_must_be_there_on_both_sides() -> None:
    for rule in RULES:
        there = [{match.label for match in side if match.value == ".+"} for side in (rule.source, rule.target)]
        assert there[0] == there[1]
        assert there[0]
        assert there[0] <= set(rule.equal)
        bare = {match.label: match.value.split("|")[0] for match in rule.source if match.value != ".+"}
        assert not _matches(rule.source, bare)


def test_every_alert_that_is_there_in_two_severities_is_told_in_one() -> None:
    names = [(one.name, one.audience) for one in ALERTS]
    for name, audience in {one for one in names if names.count(one) > 1}:
        variants = [one for one in ALERTS if (one.name, one.audience) == (name, audience)]
        severities = {one.severity.value for one in variants}
        grave, *_, mild = sorted(severities, key=GRAVITY.index, reverse=True)
        labels = frozenset.intersection(*(one.expression.labels or frozenset() for one in variants))
        same = dict.fromkeys(labels, "x")
        assert _held(_labels(name, grave) | same, _labels(name, mild) | same), name
        assert not _held(_labels(name, mild) | same, _labels(name, grave) | same), name


@pytest.mark.parametrize("name", ["GpuClusterSaturated", "GpuClusterFragmented"])
def test_what_the_platform_knows_is_told_to_the_owner_as_well(name: str) -> None:
    assert not _held(_labels(name, "warning"), _labels(name, "info", namespace="ml", workload="w", team="nlp"))


@pytest.mark.parametrize(
    ("source", "target", "held"),
    [
        (_labels("GpuFellOffBus", "critical", node="n", gpu="1"), _labels("GpuMemoryUncorrectable", "critical", node="n", gpu="1"), True),
        (_labels("GpuFellOffBus", "critical", node="n", gpu="1"), _labels("GpuMemoryUncorrectable", "critical", node="n", gpu="2"), False),
        (_labels("GpuFellOffBus", "critical", node="n", gpu="1"), _labels("GpuHealthCheckFailed", "warning", node="n", gpu="2"), True),
        (_labels("GpuFellOffBus", "critical", node="n", gpu="1"), _labels("GpuHealthCheckFailed", "warning", node="m", gpu="2"), False),
        (_labels("GpuCountBelowExpected", "critical", node="n"), _labels("GpuAllocatableBelowPresent", "warning", node="n"), True),
        (_labels("GpuCountBelowExpected", "critical", node="n"), _labels("GpuFellOffBus", "critical", node="n", gpu="1"), False),
        (_labels("GpuThermalSlowdown", "warning", node="n", gpu="1"), _labels("GpuStraggler", "warning", node="n", gpu="1"), True),
        (_labels("GpuThermalSlowdown", "warning", node="n", gpu="1"), _labels("GpuStraggler", "warning", node="n", gpu="2"), False),
        (_labels("GpuPowerBrake", "critical", node="n"), _labels("GpuStraggler", "warning", node="n", gpu="2"), True),
        (_labels("GpuPowerBrake", "critical", node="n"), _labels("GpuStraggler", "warning", node="m", gpu="2"), False),
        (_labels("GpuRecoveryActionReset", "warning", node="n", gpu="1"), _labels("GpuMemoryContained", "warning", node="n", gpu="1"), True),
        (_labels("GpuRecoveryActionReset", "warning", node="n", gpu="1"), _labels("GpuFirmwareFault", "critical", node="n", gpu="1"), False),
        (_labels("GpuRecoveryActionReset", "critical", node="n", gpu="1"), _labels("GpuFirmwareFault", "critical", node="n", gpu="1"), True),
        (_labels("GpuRecoveryActionReboot", "critical", node="n", gpu="1"), _labels("GpuRecoveryActionReset", "critical", node="n", gpu="1"), True),
        (_labels("StorageUnhealthy", "critical", filesystem="f"), _labels("JobStalled", "critical", workload="w"), True),
        (_labels("StorageUnhealthy", "critical", filesystem="f"), _labels("JobStalled", "critical", workload="w") | {"cluster": "d"}, False),
        # What runs goes on without a scheduler: a hang has another cause.
        (_labels("SchedulerUnavailable", "critical", scheduler="slurm"), _labels("JobStalled", "critical", workload="w"), False),
        (_labels("SchedulerUnavailable", "critical", scheduler="slurm"), _labels("JobFailedInfra", "warning", workload="w"), False),
        (_labels("SchedulerUnavailable", "critical", scheduler="slurm"), _labels("QueueWaitBudgetBurn", "warning", queue="q"), True),
        (_labels("GpuExporterDown", "warning", node="n"), _labels("GpuExporterFlapping", "warning", node="n"), True),
        (_labels("GpuExporterDownMany", "critical"), _labels("GpuExporterFlapping", "warning", node="n"), True),
        (_labels("GpuExporterDownMany", "critical"), _labels("GpuSourceLost", "warning", source="kube-state-metrics"), False),
        (_labels("JobStalled", "warning", workload="w"), _labels("GpuAllocatedIdle", "info", workload="w"), True),
        (_labels("JobStalled", "warning", workload="w", namespace="a"), _labels("GpuAllocatedIdle", "info", workload="w", namespace="b"), False),
        # A machine's fault is no reason to be silent about a job's owner.
        (_labels("GpuFellOffBus", "critical", node="n", gpu="1"), _labels("GpuAppFault", "info", workload="w"), False),
    ],
)  # fmt: skip
def test_causes_hold_back_what_follows_and_no_more(source: dict[str, str], target: dict[str, str], held: bool) -> None:
    assert _held(source, target) is held


def test_without_a_name_of_the_cluster_nodes_are_still_known() -> None:
    source = _labels("GpuFellOffBus", "critical", node="n", gpu="1")
    target = _labels("GpuMemoryUncorrectable", "critical", node="n", gpu="1")
    assert _held(source | {"cluster": ""}, target | {"cluster": ""})
    # But two clusters without names are not one.
    storage = _labels("StorageUnhealthy", "critical", filesystem="f") | {"cluster": ""}
    assert not _held(storage, _labels("JobStalled", "critical", workload="w") | {"cluster": ""})


def test_an_alert_that_is_off_holds_nothing_back() -> None:
    changed = dataclasses.replace(Settings(), alerts={"GpuFellOffBus": AlertChange(enabled=False)})
    assert "GpuFellOffBus" in str(RULES)
    assert "GpuFellOffBus" not in str(inhibitions(changed))


def test_what_a_user_made_milder_holds_back_no_more_than_that() -> None:
    changed = dataclasses.replace(Settings(), alerts={"StorageUnhealthy": AlertChange(severity="warning")})
    for rule in inhibitions(changed):
        if _matches(rule.source, _labels("StorageUnhealthy", "warning", filesystem="f")):
            assert not _matches(rule.target, _labels("JobStalled", "critical", workload="w"))
