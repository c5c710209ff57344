"""Exporters that come and go: no gap is long enough for an alert, and yet nobody watches these GPUs."""

from pathlib import Path

import pytest
from tests.generator.alerting import fires, says
from tests.generator.alerts.nodes import agent, fired, slurm_node, together

from gpuscope_generator.settings import Settings, Thresholds

ONLY = ("exporters", "collector", "maintenance", "gpuscope", "devices", "level-node", "level-cluster", "monitoring")
FLAPPING = fired("GpuExporterFlapping", "warning", ["n1"])
OURS = "GpuExporter.*"


def flaps(node: str, down: int, up: int, times: int = 30) -> dict[str, str]:
    """An agent that answers for ten minutes, and then is down and up again and again, for so many minutes each."""
    answers = "1x9 " + " ".join([f"0x{down - 1} 1x{up - 1}"] * times) + " 1x200"
    told = "1x9 " + " ".join(["stale " + (f"_x{down - 1} " if down > 1 else "") + f"1x{up - 1}"] * times) + " 1x200"
    return agent(node, up=answers, told=told)


@pytest.mark.parametrize(("down", "up"), [(2, 2), (1, 1), (4, 1)])
def test_an_exporter_that_flaps_is_told(tmp_path: Path, down: int, up: int) -> None:
    samples = together(flaps("n1", down, up), agent("n2"))
    fires(tmp_path, samples, {"10m": [], "40m": FLAPPING, "65m": FLAPPING}, every="1m", only=ONLY, alerts=OURS)


def test_it_clears_half_an_hour_after_the_last_gaps(tmp_path: Path) -> None:
    samples = together(flaps("n1", 2, 2, times=8), agent("n2"))
    fires(tmp_path, samples, {"40m": FLAPPING, "72m": []}, every="1m", only=ONLY, alerts=OURS)


@pytest.mark.parametrize(
    ("down", "up", "times"),
    [(4, 60, 1), (4, 8, 2), (1, 6, 10)],
    ids=["a rollout", "a rollout and one back", "a scrape in seven is lost"],
)
def test_a_rollout_and_single_lost_scrapes_are_no_alert(tmp_path: Path, down: int, up: int, times: int) -> None:
    samples = together(flaps("n1", down, up, times), agent("n2"))
    silent: dict[str, list[str]] = {f"{minute}m": [] for minute in range(10, 80, 5)}
    fires(tmp_path, samples, silent, every="1m", only=ONLY, alerts=OURS)


def test_one_long_gap_is_down_and_does_not_flap(tmp_path: Path) -> None:
    samples = together(agent("n1", up="1x10 0x60", told="1x10 stale"), agent("n2"))
    down = fired("GpuExporterDown", "warning", ["n1"])
    fires(tmp_path, samples, {"40m": down}, every="1m", only=ONLY, alerts=OURS)


def test_maintenance_is_no_alert(tmp_path: Path) -> None:
    samples = together(flaps("n1", 2, 2), agent("n2"), slurm_node("n1", "maintenance"), slurm_node("n2"))
    fires(tmp_path, samples, {"40m": [], "60m": []}, every="1m", only=ONLY, alerts=OURS)


def test_the_share_is_a_setting(tmp_path: Path) -> None:
    samples = together(flaps("n1", 2, 2), agent("n2"))
    patient = Settings(thresholds=Thresholds(exporter_flapping_ratio=0.6))
    fires(tmp_path, samples, {"40m": [], "60m": []}, every="1m", only=ONLY, alerts=OURS, settings=patient)


def test_it_says_how_much_was_lost_and_what_to_do(tmp_path: Path) -> None:
    says(
        tmp_path,
        together(flaps("n1", 2, 2), agent("n2")),
        "GpuExporterFlapping",
        [
            {
                "labels": {
                    "cluster": "c",
                    "node": "n1",
                    "severity": "warning",
                    "scope": "node",
                    "component": "monitoring",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "An exporter of GPUs comes and goes.",
                    "description": "In the last half hour exporters of GPUs on node n1 went down at least three "
                    "times, and were down for 51.61% of it; more than 20 % is too much. Each time alerts about these "
                    "GPUs begin to wait anew: a fault may never be told.",
                    "location": "node n1",
                    "owner": "nobody known",
                    "measured": "down for 51.61% of half an hour",
                    "recommended_action": "Look why its pod or service restarts (kubectl describe pod, journalctl): "
                    "memory, a liveness probe, a driver that hangs, or scrapes that take too long.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/"
                    "GpuExporterFlapping.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=n1",
                },
            }
        ],
        at="60m",
        every="1m",
        only=ONLY,
    )
