"""Alerts about the watchers."""

from pathlib import Path

from tests.generator.alerting import fires, says


def test_watchdog_fires_on_an_empty_prometheus(tmp_path: Path) -> None:
    fires(tmp_path, {}, {"0m": ['Watchdog{severity="none"}']}, alerts=".*", only=["monitoring"])


def test_watchdog_says_what_it_is(tmp_path: Path) -> None:
    runbook = "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/Watchdog.md"
    says(
        tmp_path,
        {},
        "Watchdog",
        [
            {
                "labels": {
                    "severity": "none",
                    "scope": "monitoring",
                    "component": "monitoring",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "The way from Prometheus through Alertmanager works.",
                    "description": "This alert always fires. Something outside the cluster expects it, and tells when "
                    "it stays away.",
                    "recommended_action": "Nothing while it fires. When it stays away, look at Prometheus and at "
                    "Alertmanager.",
                    "runbook_url": runbook,
                    "dashboard_url": "/d/gpuscope-cluster/cluster",
                },
            }
        ],
        at="1m",
        only=["monitoring"],
    )
