"""Checks that are late or cannot tell, rules that are not evaluated, sources that are missing, and too many alerts."""

from pathlib import Path

import pytest
from tests.generator.alerting import fires, says
from tests.generator.alerts.nodes import LONG, agent, series, slurm_node, together

from gpuscope_generator.settings import Settings, Thresholds

AT = {"cluster": "c", "job": "gpuscope", "instance": "n1:9836", "node": "n1"}
ONLY = ("checks", "monitoring")
GUARDED = (*ONLY, "maintenance", "collector")


def last(check: str, values: str) -> dict[str, str]:
    return series("gpuscope_cycle_last_success_timestamp_seconds", values, **AT, tier=check)


def stale(node: str = ',node="n1"') -> list[str]:
    return [f'GpuCheckStale{{cluster="c"{node},severity="warning"}}']


def test_a_check_is_late_after_five_minutes_and_told_after_five_more(tmp_path: Path) -> None:
    """The last success is that of the tenth minute."""
    samples = last("fast", "0+60x10 600x60") | last("slow", "0+60x80")
    fires(tmp_path, samples, {"10m": [], "19m": [], "22m": stale()}, every="1m", only=ONLY)


def test_a_check_that_is_just_in_time_is_no_alert(tmp_path: Path) -> None:
    """One success every five minutes."""
    rhythm = " ".join(f"{start * 300}x4" for start in range(12))
    fires(tmp_path, last("slow", rhythm), {"20m": [], "40m": [], "54m": []}, every="1m", only=ONLY)


def test_what_is_read_once_is_not_late(tmp_path: Path) -> None:
    samples = last("static", "0x60") | last("fast", "0+60x60")
    fires(tmp_path, samples, {"59m": []}, every="1m", only=ONLY)


def test_a_collector_that_hangs_is_late_and_one_that_waits_is_not(tmp_path: Path) -> None:
    name = "gpuscope_collector_last_success_timestamp_seconds"
    samples = series(name, "0+60x80", cluster="c", instance="a:9837", scheduler="slurm")
    samples |= series(name, "0x80", cluster="c", instance="b:9837", scheduler="slurm")
    samples |= series(name, "0x80", cluster="c", instance="a:9837", scheduler="kubernetes")
    fires(tmp_path, samples, {"20m": stale("")}, every="1m", only=ONLY)


def test_a_late_check_says_since_when(tmp_path: Path) -> None:
    says(
        tmp_path,
        last("fast", "0x80") | last("slow", "600x80") | last("activity", "0+60x80"),
        "GpuCheckStale",
        [
            {
                "labels": {
                    "cluster": "c",
                    "node": "n1",
                    "severity": "warning",
                    "scope": "monitoring",
                    "component": "monitoring",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "Checks have not succeeded for a long time.",
                    "description": "On node n1 these checks last succeeded: fast cycle (30m 0s ago), slow cycle "
                    "(20m 0s ago); right would be less than 300 s ago. What they found last is old: their green means "
                    "nothing.",
                    "location": "node n1",
                    "measured": "30m 0s since the last success of the oldest",
                    "recommended_action": "Read the log of the agent, or of the collector, and restart it. Do not "
                    "trust what it showed last.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuCheckStale.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=n1",
                },
            }
        ],
        at="30m",
        every="1m",
        only=ONLY,
    )


def test_a_collector_that_hangs_says_for_which_schedulers(tmp_path: Path) -> None:
    at = {"cluster": "c", "instance": "a:9837"}
    samples = series("gpuscope_collector_last_success_timestamp_seconds", "0x80", **at, scheduler="slurm")
    samples |= series("gpuscope_collector_last_success_timestamp_seconds", "300x80", **at, scheduler="kubernetes")
    says(
        tmp_path,
        samples,
        "GpuCheckStale",
        [
            {
                "labels": {
                    "cluster": "c",
                    "severity": "warning",
                    "scope": "monitoring",
                    "component": "monitoring",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "Checks have not succeeded for a long time.",
                    "description": "In the collector these checks last succeeded: kubernetes by the collector (25m 0s "
                    "ago), slurm by the collector (30m 0s ago); right would be less than 300 s ago. What they found "
                    "last is old: their green means nothing.",
                    "location": "",
                    "measured": "30m 0s since the last success of the oldest",
                    "recommended_action": "Read the log of the agent, or of the collector, and restart it. Do not "
                    "trust what it showed last.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuCheckStale.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=",
                },
            }
        ],
        at="30m",
        every="1m",
        only=ONLY,
    )


@pytest.mark.parametrize("state", ["ready", "maintenance"])
def test_checks_of_a_node_under_maintenance_are_no_alert(tmp_path: Path, state: str) -> None:
    samples = last("fast", "0x80") | about("up") | about("collector_success", "0x80", collector="ecc")
    told = [*stale(), *unknown("ecc")] if state == "ready" else []
    fires(tmp_path, samples | slurm_node("n1", state), {"30m": told}, every="1m", only=GUARDED, alerts="GpuCheck.*")


def unknown(*checks: str) -> list[str]:
    return ['GpuCheckUnknown{cluster="c",node="n1",severity="warning"}'] if checks else []


def about(name: str, values: str = LONG, **labels: str) -> dict[str, str]:
    return series(f"gpuscope_{name}", values, **AT, **labels)


@pytest.mark.parametrize(
    ("samples", "checks"),
    [
        (about("collector_success", "0x80", collector="ecc"), ["ecc"]),
        (about("collector_success", "1x80", collector="ecc"), []),
        (about("ready", "0x80"), ["first cycle"]),
        (about("event_watcher_up", "0x80"), ["XID errors"]),
        (about("event_watcher_up", "0x80") | about("kernel_log_up", "0x80"), ["XID errors"]),
        (about("event_watcher_up", "0x80") | about("kernel_log_up", "1x80"), []),
        (about("kernel_log_up", "0x80") | about("event_watcher_up", "1x80"), []),
        (about("attribution_source_failure_info", source="kubelet", reason="permission"), ["allocations from kubelet"]),
    ],
)
def test_what_cannot_tell_is_unknown_and_not_healthy(
    tmp_path: Path, samples: dict[str, str], checks: list[str]
) -> None:
    times = {"14m": [], "16m": unknown(*checks)}
    fires(tmp_path, about("up") | samples, times, every="1m", only=ONLY)


def test_without_a_driver_the_driver_is_what_is_told(tmp_path: Path) -> None:
    samples = about("up", "0x80") | about("ready", "0x80") | about("collector_success", "0x80", collector="ecc")
    fires(tmp_path, samples, {"30m": []}, every="1m", only=ONLY)


def test_a_short_gap_of_a_check_is_no_alert(tmp_path: Path) -> None:
    samples = about("up") | about("collector_success", " ".join(["0 1"] * 40), collector="ecc")
    fires(tmp_path, samples, {f"{minute}m": [] for minute in range(14, 60, 9)}, every="1m", only=ONLY)


def test_an_unknown_check_gives_the_reasons_of_the_agent(tmp_path: Path) -> None:
    failure = about("attribution_source_failure_info", source="kubelet", reason="permission")
    says(
        tmp_path,
        about("up") | failure | about("event_watcher_up", "0x80"),
        "GpuCheckUnknown",
        [
            {
                "labels": {
                    "cluster": "c",
                    "node": "n1",
                    "severity": "warning",
                    "scope": "monitoring",
                    "component": "monitoring",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "Checks cannot tell whether all is well.",
                    "description": "On node n1 these checks have no result: XID errors, allocations from kubelet. "
                    "Nobody knows whether all is well there, and nothing acts on it. XID events: the driver gives no "
                    "events. allocations from kubelet: permission.",
                    "location": "node n1",
                    "recommended_action": "Open the row Data health of the cluster board and read the reason: mostly a "
                    "missing permission, a tool that is not there, or a code that this release does not know.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuCheckUnknown.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=n1",
                },
            }
        ],
        at="20m",
        every="1m",
        only=("checks", "health", "monitoring"),
    )


RULES = ("evaluation", "monitoring")
GROUP = "/etc/prometheus/rules/gpuscope.yaml;gpuscope-level-node"


def failing(group: str, severity: str = "warning") -> list[str]:
    return [f'GpuRulesFailing{{cluster="c",group="{group}",severity="{severity}"}}']


@pytest.mark.parametrize(
    "failures",
    [
        series("prometheus_rule_evaluation_failures_total", "0x10 1x60", cluster="c", rule_group=GROUP),
        series("cortex_prometheus_rule_evaluation_failures_total", "0x10 1x60", cluster="c", rule_group=GROUP),
        series("vmalert_recording_rules_errors_total", "0x10 1x60", cluster="c", group="gpuscope-level-node"),
        series("vmalert_alerting_rules_errors_total", "0x10 1x60", cluster="c", group="gpuscope-level-node"),
        series("prometheus_rule_group_iterations_missed_total", "0+1x60", cluster="c", rule_group=GROUP),
    ],
)
def test_rules_that_fail_are_told_by_every_server(tmp_path: Path, failures: dict[str, str]) -> None:
    fires(tmp_path, failures, {"18m": failing("gpuscope-level-node")}, every="1m", only=RULES)


def test_it_clears_and_rules_of_others_and_a_restart_are_no_concern(tmp_path: Path) -> None:
    name = "prometheus_rule_evaluation_failures_total"
    samples = series(name, "0x10 1x60", cluster="c", rule_group=GROUP)
    samples |= series(name, "0+1x60", cluster="c", rule_group="/etc/x.yaml;node-exporter.rules")
    samples |= series(name, "7x10 0x50", cluster="d", rule_group=GROUP)
    samples |= series("prometheus_rule_group_iterations_missed_total", "0x20 4x40", cluster="d", rule_group=GROUP)
    fires(tmp_path, samples, {"15m": [], "18m": failing("gpuscope-level-node"), "23m": []}, every="1m", only=RULES)


def test_sums_that_are_older_than_five_minutes_are_told(tmp_path: Path) -> None:
    """The rules of nodes are evaluated, those of the cluster are not."""
    fires(
        tmp_path,
        agent("n1"),
        {"4m": [], "6m": failing("gpuscope-level-cluster")},
        every="1m",
        only=("gpuscope", "level-node", "monitoring"),
        alerts="GpuRulesFailing",
    )


SOURCES = ("gpuscope", "amd", "devices", "level-node", "level-cluster", "exporters", "collector", "monitoring")


def missing(*readings: str, vendor: str = "nvidia") -> list[str]:
    of = f',vendor="{vendor}"' if vendor else ""
    return [f'GpuMetricSourceMissing{{cluster="c"{of},reading="{reading}",severity="info"}}' for reading in readings]


def test_readings_that_no_gpu_of_a_maker_has_are_told(tmp_path: Path) -> None:
    fires(
        tmp_path,
        agent("n1"),
        {"29m": [], "32m": missing("activity", "memory")},
        every="1m",
        only=SOURCES,
        alerts="GpuMetricSourceMissing",
    )


def test_one_node_that_has_them_is_enough(tmp_path: Path) -> None:
    at = AT | {"gpu": "0", "uuid": "n1-0"}
    samples = agent("n1") | agent("n2")
    samples |= series("gpuscope_gpu_graphics_active_ratio", "0x200", **at)
    samples |= series("gpuscope_gpu_memory_total_bytes", LONG, **at) | series(
        "gpuscope_gpu_memory_reserved_bytes", "0x200", **at
    )
    fires(tmp_path, samples, {"40m": []}, every="1m", only=SOURCES, alerts="GpuMetricSourceMissing")


def test_gpus_that_only_the_scheduler_knows_are_told(tmp_path: Path) -> None:
    samples = slurm_node("n1")
    told = missing("everything", vendor="")
    fires(tmp_path, samples, {"32m": told}, every="1m", only=SOURCES, alerts="GpuMetricSourceMissing")


NOISE = ("level-noise", "monitoring")


def alerts(count: int, severity: str, *, team: str = "", times: int = 1) -> dict[str, str]:
    """So many alerts, each of which begins so often; ten minutes lie between two samples."""
    found: dict[str, str] = {}
    for index in range(count):
        labels = {"cluster": "c", "severity": severity, "scope": "gpu", "audience": "owner", "alertstate": "firing"}
        labels |= {"team": team} if team else {}
        found |= series("ALERTS", " ".join(["_ 1"] * times), alertname=f"A{index}", **labels)
    return found


def noise(what: str, team: str = "") -> list[str]:
    of = f',team="{team}"' if team else ""
    return [f'AlertNoiseBudget{{cluster="c",what="{what}"{of},severity="info"}}']


def test_more_pages_than_five_a_day_for_a_team(tmp_path: Path) -> None:
    """36 in a week for one team, 35 for another."""
    samples = alerts(4, "critical", team="vision", times=9) | alerts(5, "critical", team="speech", times=7)
    fires(tmp_path, samples, {"200m": noise("pages", "vision")}, every="10m", only=NOISE, alerts="AlertNoiseBudget")


def test_more_warnings_than_fifty_a_day_of_all_teams(tmp_path: Path) -> None:
    limits = Settings(thresholds=Thresholds(warnings_per_day=5.0))
    samples = alerts(3, "warning", team="vision", times=6) | alerts(3, "warning", team="speech", times=6)
    expected = {"200m": noise("warnings")}
    fires(tmp_path, samples, expected, every="10m", only=NOISE, settings=limits, alerts="AlertNoiseBudget")


def test_alerts_of_others_and_alerts_that_last_are_no_noise(tmp_path: Path) -> None:
    limits = Settings(thresholds=Thresholds(pages_per_day=0.5, warnings_per_day=0.5))
    samples = together(
        *(series("ALERTS", "_ 1x30", alertname=f"Long{index}", **OURS) for index in range(3)),
        *(
            series(
                "ALERTS", " ".join(["_ 1"] * 15), alertname=f"Other{index}", alertstate="firing", severity="critical"
            )
            for index in range(9)
        ),
    )
    fires(tmp_path, samples, {"280m": []}, every="10m", only=NOISE, settings=limits, alerts="AlertNoiseBudget")


OURS = {"severity": "critical", "scope": "gpu", "audience": "platform", "alertstate": "firing"}


def test_a_recovery_action_that_nobody_knows_is_unknown(tmp_path: Path) -> None:
    """The agent throws the code away and counts it, at each look; other readings that it throws away are no check."""
    name = "gpuscope_implausible_values_total"
    what = {"metric": "gpuscope_gpu_recovery_action", "reason": "bounds"}
    samples = series(name, "0x10 1+1x30 31x40", **AT, **what)
    samples |= series(name, "0+5x80", **AT, metric="gpuscope_gpu_power_watts", reason="sentinel")
    told = ['GpuCheckUnknown{cluster="c",node="n1",severity="warning"}']
    fires(tmp_path, samples, {"20m": [], "40m": told, "75m": []}, every="1m", only=ONLY)
