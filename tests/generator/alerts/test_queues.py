"""Alerts about work that waits: a full cluster, free GPUs in the wrong places, slow queues."""

from pathlib import Path

from tests.generator.alerting import fires, says
from tests.generator.alerts.story import Story

from gpuscope_generator.settings import Settings, Thresholds

EVERY = "1m"
RULES = ("level-demand", "queues")
LONG = "x60"
FULL_CLUSTER = 'GpuClusterSaturated{cluster="c", severity="warning"}'
FULL_TEAM = 'GpuClusterSaturated{cluster="c", namespace="ml", team="nlp", severity="info"}'
RUNBOOK = "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuClusterSaturated.md"
SPLIT_CLUSTER = 'GpuClusterFragmented{cluster="c", severity="warning"}'
SPLIT_WORK = (
    'GpuClusterFragmented{cluster="c", namespace="ml", workload_kind="JobSet", workload="train", team="nlp", '
    'severity="info"}'
)


def nodes(*free: int, usable: int = 8, cluster: str = "c") -> dict[str, str]:
    """Nodes with so many free GPUs each, of eight."""
    found = {
        f'node:gpus_free:count{{cluster="{cluster}",node="n{number}"}}': f"{count}{LONG}"
        for number, count in enumerate(free)
    }
    whole = f'cluster:gpus:count{{cluster="{cluster}",model="H100",state="allocatable"}}'
    return found | {whole: f"{usable * len(free)}{LONG}"}


def pods(count: int, size: int, values: str = f"{{}}{LONG}", *, node: str = "", name: str = "train") -> dict[str, str]:
    """Pods that ask for so many GPUs each; without a node they wait."""
    work = f'namespace="ml",workload_kind="JobSet",workload="{name}",team="nlp",queue="q"'
    return {
        f'pod:gpus_requested:sum{{cluster="c",{work},pod="{name}-{number}",node="{node}",resource="nvidia_com_gpu"}}': (
            values.format(size)
        )
        for number in range(count)
    }


def test_work_waits_and_nothing_is_free(tmp_path: Path) -> None:
    expected = {"29m": [], "31m": [FULL_CLUSTER, FULL_TEAM], "50m": [FULL_CLUSTER, FULL_TEAM]}
    fires(tmp_path, nodes(0, 0) | pods(1, 8), expected, every=EVERY, only=RULES)


def test_a_full_cluster_without_waiting_work_and_a_waiting_one_with_room(tmp_path: Path) -> None:
    times = {"40m": [], "55m": []}
    fires(tmp_path / "full", nodes(0, 0) | pods(2, 8, node="n1"), times, every=EVERY, only=RULES)
    # One of 20 is five in a hundred, and not below.
    fires(tmp_path / "room", nodes(1, 0, usable=10) | pods(1, 1), times, every=EVERY, only=RULES)
    # Nobody knows how many are free; nodes that take no work; no GPUs at all.
    fires(tmp_path / "unknown", pods(1, 8), times, every=EVERY, only=RULES)
    fires(tmp_path / "cordoned", nodes(0, 0, usable=0) | pods(1, 8), times, every=EVERY, only=RULES)


def test_a_wait_that_ends_before_half_an_hour(tmp_path: Path) -> None:
    samples = nodes(0, 0) | pods(1, 8, "{}x29 stale")
    fires(tmp_path, samples, {"29m": [], "31m": [], "50m": []}, every=EVERY, only=RULES)


def test_jobs_of_slurm_and_quotas_of_kueue_wait_as_well(tmp_path: Path) -> None:
    job = Story().phase("queued", 60)
    rules = ("training", *RULES)
    found = {"32m": [FULL_CLUSTER, FULL_TEAM]}
    fires(tmp_path / "jobs", nodes(0) | job.samples(), found, every=EVERY, only=rules)
    quota = 'queue:quota:sum{cluster="c",source="kueue",queue="q",resource="nvidia.com/gpu",state="pending"}'
    fires(tmp_path / "queues", nodes(0) | {quota: f"16{LONG}"}, {"32m": [FULL_CLUSTER]}, every=EVERY, only=RULES)


def test_enough_gpus_on_the_wrong_nodes(tmp_path: Path) -> None:
    """Eight are free, and no node has more than four."""
    expected = {"29m": [], "31m": [SPLIT_CLUSTER, SPLIT_WORK]}
    fires(tmp_path, nodes(4, 4) | pods(1, 8), expected, every=EVERY, only=RULES)


def test_a_gang_needs_all_its_places(tmp_path: Path) -> None:
    """Two pods of eight: one fits, and the rest of the free GPUs lies on two nodes."""
    fires(tmp_path, nodes(8, 4, 4) | pods(2, 8), {"31m": [SPLIT_CLUSTER, SPLIT_WORK]}, every=EVERY, only=RULES)


def test_what_fits_or_could_not_fit_anyhow_is_not_fragmented(tmp_path: Path) -> None:
    times = {"40m": [], "55m": []}
    fires(tmp_path / "fits", nodes(8, 4) | pods(1, 8), times, every=EVERY, only=RULES)
    fires(tmp_path / "too-large", nodes(4, 3) | pods(1, 8), times, every=EVERY, only=RULES)
    fires(tmp_path / "odd", nodes(20, 20) | pods(1, 33), times, every=EVERY, only=RULES)


def waits(slow: int, soon: int, samples: int = 90) -> dict[str, str]:
    """So many workloads an hour that waited two hours, and ten minutes."""
    at = 'cluster="c",source="kueue",queue="nlp",instance="k:8443",until="admitted"'
    name = f"queue:wait_seconds_bucket_total:union{{{at},le="
    return {
        f'{name}"640"}}': f"0+{soon}x{samples}",
        f'{name}"2560"}}': f"0+{soon}x{samples}",
        f'{name}"5120"}}': f"0+{soon}x{samples}",
        f'{name}"+Inf"}}': f"0+{soon + slow}x{samples}",
    }


SLOW = 'QueueWaitBudgetBurn{cluster="c", source="kueue", queue="nlp", severity="warning"}'


def test_a_queue_in_which_most_wait_too_long(tmp_path: Path) -> None:
    """Every five minutes; 40 % waited too long, where a tenth may, and three tenths are three times too fast."""
    rules = ("level-objective", "queues")
    fires(tmp_path / "slow", waits(4, 6, 90), {"90m": [SLOW]}, every="5m", only=rules)
    fires(tmp_path / "well", waits(1, 9, 90), {"90m": [], "420m": []}, every="5m", only=rules)
    # Two workloads say nothing about a queue.
    few = {key: "0x10 2x80" if "Inf" in key else "0x90" for key in waits(1, 1)}
    fires(tmp_path / "few", few, {"60m": [], "90m": []}, every="5m", only=rules)


def test_a_threshold_is_a_setting(tmp_path: Path) -> None:
    settings = Settings(thresholds=Thresholds(free_gpus_low_ratio=0.2))
    found = {"31m": [FULL_CLUSTER, FULL_TEAM]}
    fires(tmp_path, nodes(1, 0) | pods(1, 8), found, every=EVERY, settings=settings, only=RULES)


def test_what_it_says(tmp_path: Path) -> None:
    says(
        tmp_path,
        nodes(0, 0) | pods(2, 8),
        "GpuClusterSaturated",
        [
            {
                "labels": {
                    "cluster": "c",
                    "severity": "warning",
                    "scope": "cluster",
                    "component": "usage",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "Work waits and the cluster has hardly any free GPU.",
                    "description": "Less than 5 % of the GPUs that can be used in cluster c are free, and waiting "
                    "work has "
                    "asked for 16 GPUs for half an hour.",
                    "measured": "16 GPUs waited for",
                    "recommended_action": "Look at who holds GPUs and how many of them are idle; then at quotas, or "
                    "add "
                    "nodes.",
                    "runbook_url": RUNBOOK,
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c",
                },
            },
            {
                "labels": {
                    "cluster": "c",
                    "namespace": "ml",
                    "team": "nlp",
                    "severity": "info",
                    "scope": "cluster",
                    "component": "usage",
                    "audience": "owner",
                },
                "annotations": {
                    "summary": "Your work waits, as the cluster has hardly any free GPU.",
                    "description": "Work of team nlp in ml has waited for 16 GPUs for half an hour while nearly all "
                    "GPUs of the cluster are in use.",
                    "location": "namespace ml",
                    "owner": "team nlp",
                    "measured": "16 GPUs waited for",
                    "recommended_action": "Give back GPUs that you hold and do not use, or wait; ask the platform team "
                    "for the order of the queue.",
                    "runbook_url": RUNBOOK,
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c",
                },
            },
        ],
        at="40m",
        every=EVERY,
        only=RULES,
    )
