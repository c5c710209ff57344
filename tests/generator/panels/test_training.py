"""The Training board: the number that each panel shows on known jobs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.generator.promtool import expect

from gpuscope_generator.dashboards.training import training_board
from gpuscope_generator.panels import checkpoint, faults, nccl, queue, recovery, reliability, training, training_nodes
from gpuscope_generator.promql import Expression
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Link, Noun, Panel, Table

NOW = Settings()
CHOSEN = {"window": "1d"}
COUNTED = 'cluster="c",source="collector",instance="a",scheduler="slurm",team="{team}",queue="q",workload_kind="job"'
JOB = 'cluster="c",scheduler="slurm",workload="{name}",job_id="{name}-1"'
ROW = '{{cluster="c",scheduler="slurm",workload="{name}",job_id="{name}-1"}}'


def counted(name: str, team: str = "nlp", **labels: str) -> str:
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return f"team:training_{name}_total:union{{{COUNTED.format(team=team)}{more}}}"


def of_job(series: str, name: str, **labels: str) -> str:
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return f"{series}{{{JOB.format(name=name)}{more}}}"


def known(name: str, team: str = "nlp") -> dict[str, str]:
    facts = {"team": team, "queue": "q", "user": "mei", "workload_kind": "job", "held_by": f"{name}-1"}
    return {of_job("job:training_info:union", name, **facts): "1x60"}


def shown(panel: Panel, index: int = 0) -> Expression:
    return panel.queries[index].expression


def rounded(panel: Panel, index: int = 0, to: float = 0.001) -> str:
    return f"round({shown(panel, index)}, {to})"


def column(table: Table, title: str) -> str:
    expression = next(one.expression for one in table.values if one.title == title)
    return f"round({expression}, 0.001)"


def ask(
    folder: Path,
    samples: dict[str, str],
    expected: Mapping[Any, Mapping[str, float] | None],
    at: str = "20m",
    **more: str,
) -> None:
    expect(folder, samples, expected, at=at, variables=CHOSEN | more, rules=False, range_s=1200)


def rising(by: int) -> str:
    """So much more in the last 20 minutes, begun before them."""
    return f"7x19 {7 + by}x41"


def test_all_went_well_is_a_hundred_percent_and_no_gap(tmp_path: Path) -> None:
    """Defect 12 of other boards, here for jobs: no failure, and none ever, is not "no data"."""
    ask(
        tmp_path,
        {counted("jobs_created"): rising(5), counted("jobs_ended", outcome="succeeded"): rising(4)},
        {
            rounded(training.jobs_created(), to=1): {'{cluster="c"}': 5},
            rounded(training.jobs_succeeded(), to=1): {'{cluster="c"}': 4},
            rounded(training.jobs_failed(), to=1): {'{cluster="c"}': 0},
            rounded(training.jobs_removed(), to=1): {'{cluster="c"}': 0},
            rounded(training.success_rate()): {'{cluster="c"}': 1},
        },
    )


def test_totals_are_of_all_jobs_and_follow_the_team(tmp_path: Path) -> None:
    """Defect 6: totals that were of one job, which had to be chosen. Defect 7: counters shown raw."""
    samples = {
        counted("jobs_ended", outcome="succeeded"): rising(3),
        counted("jobs_ended", outcome="failed"): rising(1),
        counted("jobs_ended", outcome="timed_out"): rising(2),
        counted("jobs_ended", outcome="cancelled"): rising(9),
        counted("jobs_ended", "vision", outcome="succeeded"): rising(3),
    }
    figures = (training.jobs_succeeded(), training.jobs_failed(), training.jobs_removed(), training.success_rate())
    for name, team, numbers in (("all", ".*", (6, 3, 9, 0.667)), ("one", "nlp", (3, 3, 9, 0.5))):
        folder = tmp_path / name
        folder.mkdir()
        expected = {rounded(one): {'{cluster="c"}': float(n)} for one, n in zip(figures, numbers, strict=True)}
        ask(folder, samples | {counted("jobs_created"): "0x60"}, expected, team=team)


def test_one_line_a_job(tmp_path: Path) -> None:
    samples = known("a") | known("b", "vision") | {
        of_job("job:training_state:enum", "a"): "4x60",
        of_job("job:training_state:enum", "b"): "0x60",
        of_job("job:training_gpus:union", "a"): "16x60",
        of_job("job:training_progress:ratio_union", "a"): "0.25x60",
        of_job("job:training_remaining_seconds:union", "a"): "7200x60",
        of_job("job:training_state_seconds_total:union", "a", state="training"): "0+24x60",
        of_job("job:training_state_seconds_total:union", "a", state="recovering"): "0+6x60",
        of_job("job:checkpoint_timestamp_seconds:union", "a"): "600x60",
    }  # fmt: skip
    table, here = training.jobs(NOW), ROW.format(name="a")
    ask(
        tmp_path,
        samples,
        {
            column(table, "State"): {here: 4, ROW.format(name="b"): 0},
            column(table, "GPUs"): {here: 16},
            column(table, "Done"): {here: 0.25},
            column(table, "Remaining"): {here: 7200},
            column(table, "Productive share"): {here: 0.8},
            column(table, "Checkpoint age"): {here: 600},
            shown(training.job_states()): {'{cluster="c",workload="a",job_id="a-1"}': 4},
            shown(training.progress()): {'{cluster="c",workload="a",job_id="a-1"}': 0.25},
            shown(checkpoint.checkpoint_age(NOW)): {'{cluster="c",workload="a",job_id="a-1"}': 600},
        },
    )


def test_jobs_follow_what_is_chosen(tmp_path: Path) -> None:
    samples = known("a") | known("b", "vision")
    samples |= {of_job("job:training_gpus:union", name): "8x60" for name in ("a", "b")}
    samples |= {of_job("job:training_state:enum", name): "4x60" for name in ("a", "b")}
    ask(tmp_path, samples, {column(training.jobs(NOW), "GPUs"): {ROW.format(name="b"): 8}}, team="vision")


def test_a_job_that_ended_is_no_row(tmp_path: Path) -> None:
    table = training.jobs(NOW)
    samples = known("a") | known("b") | {of_job("job:training_state:enum", "a"): "4x60"}
    samples |= {of_job("job:training_gpus:union", name): "8x60" for name in ("a", "b")}
    ask(tmp_path, samples, {column(table, "GPUs"): {ROW.format(name="a"): 8}})


def test_gpus_and_lost_hours_by_what_jobs_did(tmp_path: Path) -> None:
    """Defect 11: what is lost is counted over the range of the board, and not over a day that the exporter chose."""
    gpus = 'team:training_gpus:rate5m{cluster="c",scheduler="slurm",team="%s",queue="q",state="training"}'
    jobs = 'team:training_jobs:count{cluster="c",scheduler="slurm",team="nlp",queue="q",state="queued"}'
    samples = {
        gpus % "nlp": "8x60",
        gpus % "vision": "4x60",
        jobs: "3x60",
        counted("gpu_seconds", state="training"): "0+240x60",
        counted("gpu_seconds", state="stalled"): "0+90x60",
    }
    ask(
        tmp_path,
        samples,
        {
            shown(training.gpus_by_state()): {'{cluster="c",state="training"}': 12},
            shown(training.jobs_by_state()): {'{cluster="c",state="queued"}': 3},
            rounded(reliability.lost_gpu_hours()): {'{cluster="c",state="stalled"}': 1},
        },
    )


def test_reliability_over_the_chosen_window(tmp_path: Path) -> None:
    def of(name: str, value: float, window: str = "1d", **labels: str) -> dict[str, str]:
        more = "".join(f',{label}="{text}"' for label, text in labels.items())
        return {f'cluster:training_{name}{{cluster="c",window="{window}"{more}}}': f"{value}x60"}

    samples = (
        of("uptime:ratio", 0.9) | of("goodput:ratio", 0.8) | of("ettr:ratio", 0.5) | of("ettr:ratio", 0.1, "7d")
        | of("mtbf_gpu_seconds:ratio", 864_000) | of("mttr_seconds:mean", 300, until="running")
        | of("mttr_seconds:p90", 500, until="running") | of("recoveries:increase", 4, until="running")
        | of("mttr_seconds:mean", 300, until="resources") | of("recoveries:increase", 0, until="resources")
        | of("interruptions:increase", 4, domain="workload") | of("unknown_faults:ratio", 0.25)
        | of("restarts:increase", 3, trigger="manual") | of("downtime_seconds:increase", 90, kind="suspended")
    )  # fmt: skip
    samples |= {'cluster:training_mtbf_gpu_seconds:lower_bound{cluster="d",window="1d"}': "172800x60"}
    one = {'{cluster="c"}': 0.0}
    ask(
        tmp_path,
        samples,
        {
            shown(reliability.efficiency(), 0): dict.fromkeys(one, 0.9),
            shown(reliability.efficiency(), 1): dict.fromkeys(one, 0.8),
            shown(reliability.efficiency(), 2): dict.fromkeys(one, 0.5),
            shown(reliability.mtbf(), 0): dict.fromkeys(one, 10.0),
            shown(reliability.mtbf(), 1): {'{cluster="d"}': 2},
            shown(reliability.mttr(), 0): {'{cluster="c",until="running"}': 300},
            shown(reliability.mttr(), 1): {'{cluster="c",until="running"}': 500},
            shown(reliability.interruptions()): {'{cluster="c",domain="workload"}': 4},
            shown(reliability.unknown_share(NOW)): dict.fromkeys(one, 0.25),
            shown(recovery.restarts()): {'{cluster="c",trigger="manual"}': 3},
            shown(recovery.downtime()): {'{cluster="c",kind="suspended"}': 90},
        },
    )


def test_faults_by_type_and_over_time(tmp_path: Path) -> None:
    """Defect 10: differences over a minute miss what happens between two scrapes."""
    samples = {
        counted("faults", fault_type="xid_79", domain="infrastructure", scope="node"): "1x38 3x22",
        counted("faults", fault_type="oom", domain="workload", scope="job"): "0x60",
        counted("restarts", trigger="automatic", fault_type="xid_79"): "1x38 2x22",
    }
    ask(
        tmp_path,
        samples,
        {
            rounded(faults.faults_by_type(), to=1): {'{cluster="c",fault_type="xid_79"}': 2},
            rounded(faults.faults_by_domain(), to=1): {
                '{cluster="c",fault_type="xid_79",domain="infrastructure",scope="node"}': 2
            },
            rounded(faults.fault_trend(), to=1): {'{cluster="c",fault_type="xid_79"}': 2},
            rounded(recovery.restart_trend(), to=1): {'{cluster="c",trigger="automatic",fault_type="xid_79"}': 1},
        },
        team="nlp",
    )


def test_detection_and_remediation_are_two_things(tmp_path: Path) -> None:
    """Defect 9: counts of two histograms were added. Complaint: quantiles of phases do not add either."""
    base = 'cluster="c",source="collector",instance="a",scheduler="slurm",domain="platform"'
    phase = f'cluster:training_phase_seconds_%s_total:union{{{base},phase="%s"%s}}'
    until = f'cluster:training_recovery_seconds_bucket_total:union{{{base},until="%s",le="%s"}}'
    samples = {
        phase % ("bucket", "detection", ',le="10"'): "0x19 2x41",
        phase % ("bucket", "detection", ',le="+Inf"'): "0x19 2x41",
        phase % ("count", "detection", ""): "0x19 2x41",
        phase % ("sum", "detection", ""): "0x19 8x41",
        phase % ("count", "start", ""): "0x60",
        phase % ("bucket", "start", ',le="+Inf"'): "0x60",
        until % ("resources", "60"): "0x38 1x22",
        until % ("running", "60"): "0x38 5x22",
    }
    here = '{cluster="c",phase="detection",domain="platform"}'
    table = recovery.phases()
    ask(
        tmp_path,
        samples,
        {
            rounded(recovery.remediation_latency(), to=1): {'{cluster="c",le="60"}': 1},
            column(table, "Mean"): {here: 4},
            column(table, "90th percentile"): {here: 9},
            shown(recovery.latency_quantiles(), 1): {'{cluster="c",phase="detection"}': 9},
        },
    )


def test_queues_their_waits_and_their_quota(tmp_path: Path) -> None:
    base = 'cluster="c",source="kueue",queue="nlp"'
    wait = f'queue:wait_seconds_bucket_total:union{{{base},instance="a",until="%s",le="%s"}}'
    samples = {
        f'queue:workloads:count{{{base},state="pending"}}': "3x60",
        f'queue:pending:count{{{base},reason="waits_for_quota"}}': "3x60",
        f'queue:pending:count{{{base},reason="cannot_be_admitted"}}': "0x60",
        wait % ("admitted", "20"): "0x19 2x41",
        wait % ("admitted", "+Inf"): "0x19 2x41",
        wait % ("ready", "20"): "4x60",
        wait % ("ready", "+Inf"): "4x60",
        f'queue:evicted_total:union{{{base},instance="a",reason="NodeFailures",cause=""}}': "0x38 1x22",
        f'queue:quota:sum{{{base},resource="gpu",state="nominal"}}': "16x60",
        f'queue:quota:sum{{{base},resource="gpu",state="used"}}': "12x60",
    }
    ask(
        tmp_path,
        samples,
        {
            shown(queue.queue_lengths()): {'{cluster="c",queue="nlp",state="pending"}': 3},
            shown(queue.pending_by_reason()): {'{cluster="c",queue="nlp",reason="waits_for_quota"}': 3},
            shown(queue.waiting_times(), 0): {'{cluster="c",queue="nlp",until="admitted"}': 10},
            shown(queue.waiting_times(), 1): {'{cluster="c",queue="nlp",until="admitted"}': 18},
            rounded(queue.evictions(), to=1): {'{cluster="c",queue="nlp",reason="NodeFailures"}': 1},
            column(queue.quota(), "Used share"): {'{cluster="c",source="kueue",queue="nlp",resource="gpu"}': 0.75},
        },
    )


def test_the_slowest_rank_and_the_nodes_of_a_job(tmp_path: Path) -> None:
    gpu = '{cluster="c",node="n%s",gpu="%s",span="network",collective="AllReduce"}'
    nodes = '{cluster="c",node="n%s",span="network",collective="AllReduce"}'
    times = {(1, 0): 0.002, (1, 1): 0.002, (2, 0): 0.003}
    samples = {"gpu:nccl_exec_seconds:max" + gpu % key: f"{value}x60" for key, value in times.items()} | {
        "node:nccl_bus_bandwidth_bytes:min" + nodes % 1: "4e10x60",
        "node:nccl_bus_bandwidth_bytes:min" + nodes % 2: "2e10x60",
        'pod:gpu_share:ratio{cluster="c",node="n1",workload="a",gpu="0",uuid="u"}': "1x60",
        'node:state:bool{cluster="c",node="n1",state="cordoned"}': "1x60",
        'node:state:bool{cluster="c",node="n2",state="ready"}': "1x60",
        'node:compute_active:sum{cluster="c",node="n1"}': "4x60",
        'node:compute_active:count{cluster="c",node="n1"}': "8x60",
    }
    table = training_nodes.related_nodes()
    ask(
        tmp_path,
        samples,
        {
            rounded(nccl.stragglers()): {gpu % (2, 0): 1.5},
            shown(nccl.bus_bandwidth(), 0): {'{cluster="c",span="network",collective="AllReduce"}': 3e10},
            shown(nccl.bus_bandwidth(), 1): {'{cluster="c",span="network",collective="AllReduce"}': 2e10},
            column(table, "Known"): {'{cluster="c",node="n1",state="cordoned"}': 1},
            column(table, "GPU activity"): {'{cluster="c",node="n1"}': 0.5},
        },
    )


def test_no_panel_shows_anything_where_nothing_is_known(tmp_path: Path) -> None:
    queries: dict[Any, None] = {
        query.expression: None
        for panel in training_board(NOW).panels
        for query in panel.queries
        if panel.key != "sources"
    }
    ask(tmp_path, {'up{job="x"}': "1x40"}, queries)


def test_links_lead_to_the_workload_the_node_and_the_files() -> None:
    board = training_board(NOW)
    links = [
        link
        for panel in board.panels
        for one in (panel.links, *(getattr(c, "links", ()) for c in getattr(panel, "columns", ())))
        for link in one
        if isinstance(link, Link)
    ]
    assert {link.board for link in links} >= {Noun.TASK, Noun.TRAINING, Noun.CLUSTER, Noun.FILESYSTEM}
    assert all("cluster" in link.carry for link in links)
    task = next(link for link in links if link.board is Noun.TASK)
    assert "held_by" in task.carry["workload"]
