"""Sources that were there and are gone, whichever they are."""

from pathlib import Path

import pytest
from tests.generator.alerting import fires, says
from tests.generator.alerts.nodes import LONG, agent, series, slurm_node, together

from gpuscope_generator.external.sources import SOURCES
from gpuscope_generator.rules.alerts.sources import ELSEWHERE, GPU_EXPORTERS, WATCHED

ONLY = ("health", "exporters", "collector", "gpuscope", "devices", "level-node", "maintenance", "monitoring")
OURS = "GpuSourceLost"
GONE = "1x20 stale"


def kube_state(values: str, instance: str = "ksm-0:8080") -> dict[str, str]:
    """A kube-state-metrics, as long as it is there."""
    return series("kube_node_info", values, cluster="c", job="ksm", instance=instance, node="n1")


def lost(*sources: str) -> list[str]:
    return [f'GpuSourceLost{{cluster="c",source="{source}",severity="warning"}}' for source in sources]


@pytest.mark.parametrize("source", [one for one in SOURCES if one.key in WATCHED], ids=lambda one: one.key)
def test_each_source_that_lives_as_long_as_its_cluster_is_missed(tmp_path: Path, source) -> None:
    other = "node_uname_info" if source.key != "node-exporter" else "kube_node_info"
    samples = series(source.markers[0].name, GONE, cluster="c", job="j", instance="i:1")
    samples |= series(other, LONG, cluster="c", job="other", instance="o:1", node="n1")
    fires(tmp_path, samples, {"29m": [], "35m": lost(source.key), "90m": lost(source.key)}, every="1m", only=ONLY,
          alerts=OURS)  # fmt: skip


def test_it_clears_when_the_source_is_back_and_a_restart_is_no_alert(tmp_path: Path) -> None:
    samples = together(kube_state("1x20 stale _x20 1x5 stale _x4 1x60"), agent("n1"))
    fires(tmp_path, samples, {"40m": lost("kube-state-metrics"), "45m": [], "55m": [], "60m": []}, every="1m",
          only=ONLY, alerts=OURS)  # fmt: skip


def test_one_of_two_is_not_missed(tmp_path: Path) -> None:
    samples = together(kube_state(GONE), kube_state(LONG, "ksm-1:8080"), agent("n1"))
    fires(tmp_path, samples, {"40m": []}, every="1m", only=ONLY, alerts=OURS)


def test_what_was_never_there_and_a_cluster_that_is_gone_are_not_missed(tmp_path: Path) -> None:
    samples = together(agent("n1"), series("kube_node_info", GONE, cluster="d", job="ksm", instance="x:1", node="m"))
    samples |= series("up", LONG, cluster="e", job="node", instance="n:1")
    fires(tmp_path, samples, {"40m": []}, every="1m", only=ONLY, alerts=OURS)


def test_all_exporters_of_gpus_that_are_gone_are_missed(tmp_path: Path) -> None:
    """Where none is left nobody expects one of a node."""
    gone = [agent(node, up=GONE, told=GONE) for node in ("n1", "n2")]
    samples = together(*gone, slurm_node("n1"), slurm_node("n2"), kube_state(LONG))
    times = {"29m": [], "35m": lost("gpuscope")}
    fires(tmp_path, samples, times, every="1m", only=ONLY, alerts="GpuSourceLost|GpuExporter.*")


def test_exporters_that_others_replace_or_that_do_not_answer_are_told_of_elsewhere(tmp_path: Path) -> None:
    down = together(agent("n1", up="1x20 0x100", told=GONE), slurm_node("n1"))
    fires(tmp_path, down, {"40m": []}, every="1m", only=ONLY, alerts=OURS)
    field = series("DCGM_FI_DEV_FB_USED", GONE, cluster="c", job="dcgm", instance="n1:9400", Hostname="n1", gpu="0")
    (tmp_path / "replaced").mkdir()
    fires(tmp_path / "replaced", together(field, agent("n1")), {"40m": []}, every="1m", only=(*ONLY, "dcgm"),
          alerts=OURS)  # fmt: skip


def test_nobody_forgot_a_source() -> None:
    known = sorted((*WATCHED, *GPU_EXPORTERS, *ELSEWHERE))
    assert known == sorted(source.key for source in SOURCES)


def test_it_says_which(tmp_path: Path) -> None:
    says(
        tmp_path,
        together(kube_state(GONE), agent("n1")),
        "GpuSourceLost",
        [
            {
                "labels": {
                    "cluster": "c",
                    "source": "kube-state-metrics",
                    "severity": "warning",
                    "scope": "monitoring",
                    "component": "monitoring",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "A source of metrics is gone.",
                    "description": "In cluster c kube-state-metrics told something within the last day, and has told "
                    "nothing for ten minutes. Alerts that need it are silent, and boards have gaps: what it would "
                    "tell is unknown.",
                    "recommended_action": "Look at its pods and at the page Targets of Prometheus: the source is "
                    "down, or its scrape was removed. If it was removed on purpose, silence this alert for a day.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuSourceLost.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c",
                },
            }
        ],
        at="40m",
        every="1m",
        only=ONLY,
    )
