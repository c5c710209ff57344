"""Schedulers that do not answer, and nodes that take no work."""

from pathlib import Path

import pytest
from tests.generator.alerting import fires, says
from tests.generator.alerts.nodes import LONG, fired, series, slurm_node, together
from tests.generator.rules.test_nodes import kube_node

from gpuscope_generator.settings import Intervals, Settings

ONLY = ("collector", "maintenance", "nvsentinel", "devices", "level-node", "scheduler")
NODES = "GpuNodeNotReady"
AWAY = "GpuCapacityOutOfService"
DAY = "NodeDrainedTooLong"


def test_a_node_that_goes_down_under_work_wakes_somebody_after_three_minutes(tmp_path: Path) -> None:
    """The warning comes with the fifteenth minute; a node on which nobody worked gets no more."""
    samples = together(
        slurm_node("n1", "ready:11 down:80", held=2), slurm_node("n2", "ready:11 down:80"), slurm_node("n3")
    )
    woken = fired(NODES, "critical", ["n1"])
    told = fired(NODES, "warning", ["n1", "n2"])
    times = {"12m": [], "16m": woken, "24m": woken, "28m": woken + told}
    fires(tmp_path, samples, times, every="1m", only=ONLY, alerts=NODES)


@pytest.mark.parametrize("state", ["drained", "draining", "maintenance", "ready"])
def test_nodes_that_were_taken_out_on_purpose_are_not_down(tmp_path: Path, state: str) -> None:
    fires(tmp_path, slurm_node("n1", state, held=2), {"30m": []}, every="1m", only=ONLY, alerts=NODES)


def test_a_node_that_does_not_respond_is_not_ready(tmp_path: Path) -> None:
    """Complaint 27: it must not count as idle."""
    woken = fired(NODES, "critical", ["n1"])
    fires(tmp_path, slurm_node("n1", "unknown", held=1), {"5m": woken}, every="1m", only=ONLY, alerts=NODES)


def test_a_node_that_comes_back_in_time_is_no_alert_and_flapping_is_none(tmp_path: Path) -> None:
    samples = together(
        slurm_node("n1", "ready:11 down:2 ready:80", held=2),
        slurm_node("n2", " ".join(["down:1 ready:1"] * 40), held=2),
    )
    fires(tmp_path, samples, {f"{minute}m": [] for minute in range(10, 70, 7)}, every="1m", only=ONLY, alerts=NODES)


def test_it_clears_when_the_node_is_ready(tmp_path: Path) -> None:
    samples = slurm_node("n1", "ready:11 down:30 ready:60", held=2)
    both = fired(NODES, "critical", ["n1"]) + fired(NODES, "warning", ["n1"])
    fires(tmp_path, samples, {"35m": both, "46m": []}, every="1m", only=ONLY, alerts=NODES)


def test_nodes_of_kubernetes_with_and_without_gpus(tmp_path: Path) -> None:
    """Complaint 32: a node without GPUs is somebody else's concern."""
    samples = kube_node("n1", status="unknown") | kube_node("n2", status="false", gpus=0) | kube_node("n3")
    samples = {key: value for key, value in samples.items() if "allocatable" not in key}
    fires(
        tmp_path,
        samples,
        {"18m": fired_in_none(NODES, "warning", "n1")},
        every="1m",
        only=(*ONLY, "kubernetes"),
        alerts=NODES,
    )


def fired_in_none(name: str, severity: str, node: str) -> list[str]:
    return [f'{name}{{node="{node}",severity="{severity}"}}']


def test_a_node_that_is_down_gives_its_reason(tmp_path: Path) -> None:
    why = {"scheduler": "slurm", "exported_node": "n1", "reason": "Not responding", "cluster": "c"}
    reason = series("gpuscope_scheduler_node_reason_info", LONG, **why)
    says(
        tmp_path,
        slurm_node("n1", "down") | reason,
        NODES,
        [
            {
                "labels": {
                    "cluster": "c",
                    "node": "n1",
                    "severity": "warning",
                    "scope": "node",
                    "component": "scheduler",
                    "audience": "platform",
                    "fault_class": "node_down",
                },
                "annotations": {
                    "summary": "A node with GPUs is not ready.",
                    "description": "Node n1 is not ready, or does not answer its scheduler. Its GPUs are paid for and "
                    "get no work. Its scheduler says: Not responding.",
                    "location": "node n1",
                    "owner": "nobody known",
                    "recommended_action": "Look at the host: console, power, kernel log, kubelet or slurmd. Reboot it, "
                    "or mark it as under maintenance while it is repaired.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuNodeNotReady.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=n1",
                },
            }
        ],
        at="20m",
        every="1m",
        only=ONLY,
    )


WATCHED = ("health", "checks", "scheduler")


def gone(scheduler: str) -> list[str]:
    return [f'SchedulerUnavailable{{cluster="c",scheduler="{scheduler}",severity="critical"}}']


@pytest.mark.parametrize(
    ("samples", "scheduler"),
    [
        (
            series("gpuscope_collector_source_up", "1x10 0x80", cluster="c", scheduler="slurm", instance="c:1")
            | series("gpuscope_collector_source_up", "1x80", cluster="c", scheduler="kubernetes", instance="c:1"),
            "slurm",
        ),
        (
            series("kueue_pending_workloads", "1x20 stale", cluster="c", job="kueue", instance="k:1"),
            "kueue",
        ),
        (
            series("slurm_nodes", "1x20 stale", cluster="c", job="slurm", instance="s:1"),
            "slurm",
        ),
        (
            series("training_operator_jobs_created_total", "1x20 stale", cluster="c", job="to", instance="t:1")
            | series("up", "1x20 0x60", cluster="c", job="to", instance="t:1"),
            "training-operator",
        ),
    ],
    ids=["slurmctld", "kueue", "slurm's own metrics", "training-operator"],
)
def test_a_scheduler_that_does_not_answer(tmp_path: Path, samples: dict[str, str], scheduler: str) -> None:
    times = {"9m": [], "32m": gone(scheduler)}
    fires(tmp_path, samples, times, every="1m", only=WATCHED, alerts="SchedulerUnavailable")


def test_what_tells_nothing_after_a_restart_is_not_gone(tmp_path: Path) -> None:
    """Counters of operators begin with the first job; a second collector, and an exporter of Slurm beside it, wait."""
    samples = together(
        series("training_operator_jobs_created_total", "1x20 stale", cluster="c", job="to", instance="t:1"),
        series("up", "1x80", cluster="c", job="to", instance="t:1"),
        series("gpuscope_collector_source_up", "1x80", cluster="c", scheduler="slurm", instance="c:1"),
        series("gpuscope_collector_source_up", "0x80", cluster="c", scheduler="slurm", instance="c:2"),
        series("slurm_nodes", "1x20 stale", cluster="c", job="slurm", instance="s:1"),
    )
    fires(tmp_path, samples, {"40m": []}, every="1m", only=WATCHED, alerts="SchedulerUnavailable")


def test_a_short_silence_of_a_scheduler_is_none(tmp_path: Path) -> None:
    values = " ".join(["1x5 0x2"] * 8)
    samples = series("gpuscope_collector_source_up", values, cluster="c", scheduler="slurm", instance="c:1")
    times: dict[str, list[str]] = {f"{minute}m": [] for minute in range(8, 60, 9)}
    fires(tmp_path, samples, times, every="1m", only=WATCHED, alerts="SchedulerUnavailable")


def out(severity: str) -> str:
    return f'{AWAY}{{cluster="c",severity="{severity}"}}'


def fleet(out_of_work: int, of: int, state: str = "drained") -> dict[str, str]:
    return together(*(slurm_node(f"n{index}", state if index < out_of_work else "ready") for index in range(of)))


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (fleet(1, 20), []),
        (fleet(1, 19), [out("warning")]),
        (fleet(1, 19, "down"), [out("warning")]),
        (fleet(1, 4), [out("warning")]),
        (fleet(3, 20), [out("warning")]),
        (fleet(3, 19), [out("warning"), out("critical")]),
        (fleet(9, 19, "maintenance"), []),
        (
            fleet(0, 10)
            | series("fault_quarantine_current_quarantined_nodes", LONG, cluster="c", node="n1", instance="q:1"),
            [out("warning")],
        ),
    ],
    ids=["a twentieth", "more", "down", "one node wakes nobody", "15 %", "more of several", "planned", "quarantined"],
)
def test_share_of_gpus_out_of_service(tmp_path: Path, samples: dict[str, str], expected: list[str]) -> None:
    fires(tmp_path, samples, {"29m": [], "33m": expected}, every="1m", only=ONLY, alerts=AWAY)


REASONS = {
    "n1": "",
    "n2": "NVSentinel: XID 79",
    "n3": "gpuscope: GPU lost",
    "n4": "Not responding",
    "n5": "Kill task failed",
    "n6": "waits for RMA 4711, ada",
}


def test_a_node_that_is_drained_for_a_day_without_a_word_of_people(tmp_path: Path) -> None:
    samples = slurm_node("n7", "ready:150 drained:200")
    for name, reason in REASONS.items():
        samples |= slurm_node(name, "drained:400")
        why = {"cluster": "c", "scheduler": "slurm", "exported_node": name, "reason": reason}
        samples |= series("gpuscope_scheduler_node_reason_info", "1x400", **why) if reason else {}
    samples = {key: value.replace("x200", "x400") for key, value in samples.items()}
    slowly = Settings(intervals=Intervals(normalize=300, aggregate=300))
    only = ("collector", "maintenance", "scheduler")
    told = {"1435m": [], "1450m": fired(DAY, "info", list(REASONS)[:-1])}
    fires(tmp_path, samples, told, every="5m", only=only, settings=slowly, alerts=DAY)
