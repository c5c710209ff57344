"""Jobs as our collector tells of them, and as operators do where it does not look."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.jobs import OWNER, UP, counter, ended, held, histogram, of_job

RULES = ("training", "kubeflow", "jobset", "hyperpod-training")
OPERATOR = 'cluster="c",instance="op:8080",job="operator"'
HYPERPOD = f'{OPERATOR},namespace="aws-hyperpod",exported_namespace="ml",jobName="llama"'


def total(name: str, *by: str) -> str:
    return f"sum by ({', '.join(('cluster', *by))}) ({name})"


def kubeflow(name: str, values: str) -> dict[str, str]:
    return {f'training_operator_jobs_{name}_total{{{OPERATOR},job_namespace="ml",framework="pytorch"}}': values}


def test_the_first_failure_of_a_job_is_counted(tmp_path: Path) -> None:
    """Defect 7, and complaint 9: counters that begin with their first event, and raw counters on boards."""
    failed = 'increase(team:training_jobs_ended_total:union{outcome="failed"}[5m])'
    first = kubeflow("created", "1x40") | kubeflow("failed", "_x15 1x25")
    expect(
        tmp_path,
        first | {ended("failed").replace('cluster="c"', 'cluster="d"'): "0x15 1x25"},
        {f"round(sum by (cluster, source) ({failed}))": {
            '{cluster="c",source="training-operator"}': 1, '{cluster="d",source="collector"}': 1,
        }},
        only=RULES,
    )  # fmt: skip


def test_a_collector_that_restarts_or_hands_over_counts_nothing_twice(tmp_path: Path) -> None:
    """Defect 7: counters that are lost with their process."""
    known = {ended("succeeded"): "500x15 _x30", ended("succeeded", "b:9837"): "_x16 500x10 502x20"}
    anew = {key.replace('cluster="c"', 'cluster="d"'): "500x15 0x10 2x20" for key in (ended("succeeded"),)}
    rose = 'increase(team:training_jobs_ended_total:union{outcome="succeeded"}[30m])'
    expect(
        tmp_path,
        known | anew,
        {f"round(sum by (cluster) ({rose}))": {'{cluster="c"}': 2, '{cluster="d"}': 2}},
        at="20m",
        only=RULES,
    )


def test_two_scrapes_of_one_collector_are_one(tmp_path: Path) -> None:
    twice = {ended("succeeded"): "3x40", ended("succeeded").replace('job="collector"', 'job="again"'): "3x40"}
    expect(
        tmp_path,
        twice,
        {total("team:training_jobs_ended_total:union", "outcome"): {'{cluster="c",outcome="succeeded"}': 3}},
        only=RULES,
    )


def test_our_collector_wins_over_operators_for_its_scheduler_only(tmp_path: Path) -> None:
    other = {key.replace('cluster="c"', 'cluster="d"'): value for key, value in kubeflow("created", "9x40").items()}
    slurm = UP.replace("kubernetes", "slurm").replace('cluster="c"', 'cluster="d"')
    samples = kubeflow("created", "5x40") | other | {UP: "1x40", slurm: "1x40"}
    samples |= {counter("jobs_created", workload_kind="TrainJob"): "7x40"}
    expect(
        tmp_path,
        samples,
        {total("team:training_jobs_created_total:union", "source"): {
            '{cluster="c",source="collector"}': 7, '{cluster="d",source="training-operator"}': 9,
        }},
        only=RULES,
    )  # fmt: skip


def test_a_slurm_job_has_no_namespace_whatever_its_collector_runs_in(tmp_path: Path) -> None:
    pod = OWNER.replace('scheduler="kubernetes",namespace="ml"', 'scheduler="slurm",namespace="monitoring"')
    facts = 'workload="llama",job_id="17",user="mei",workload_kind="job",priority="1"'
    expect(
        tmp_path,
        {f"gpuscope_training_job_info{{{pod},{facts}}}": "1x40"},
        {"job:training_info:union": {
            'job:training_info:union{cluster="c",scheduler="slurm",workload="llama",job_id="17",team="nlp",queue="q",'
            'user="mei",workload_kind="job",priority="1",held_by="17"}': 1
        }},
        only=RULES,
    )  # fmt: skip


def test_state_of_a_job_as_a_word_and_as_a_number(tmp_path: Path) -> None:
    where = 'cluster="c",scheduler="kubernetes",namespace="ml",workload="llama",job_id="1"'
    samples = {of_job("job_state", state="queued"): "0x40", of_job("job_state", state="recovering"): "1x40"}
    expect(
        tmp_path,
        samples | {held("training"): "0+240x40", held("stalled"): "0x40"},
        {
            "job:training_state:bool": {f'job:training_state:bool{{{where},state="recovering"}}': 1},
            "job:training_state:enum": {f"job:training_state:enum{{{where}}}": 7},
            "sum by (state) (team:training_gpus:rate5m)": {'{state="training"}': 8, '{state="stalled"}': 0},
        },
        only=RULES,
    )


def test_jobsets_that_ended(tmp_path: Path) -> None:
    base = f'{OPERATOR},namespace="jobset-system",exported_namespace="ml",jobset_name'
    samples = {f'jobset_completed_total{{{base}="a"}}': "3x40", f'jobset_completed_total{{{base}="b"}}': "1x40"}
    expect(
        tmp_path,
        samples,
        {total("team:training_jobs_ended_total:union", "namespace", "workload_kind", "outcome"): {
            '{cluster="c",namespace="ml",workload_kind="JobSet",outcome="succeeded"}': 4,
            '{cluster="c",namespace="ml",workload_kind="JobSet",outcome="failed"}': 0,
        }},
        only=RULES,
    )  # fmt: skip


def test_hyperpod_counts_restarts_as_faults_with_their_reason(tmp_path: Path) -> None:
    lead = "hyperpod_training_operator_jobs"
    samples = {
        f"{lead}_created_total{{{HYPERPOD}}}": "4x40",
        f'{lead}_restarted_total{{{HYPERPOD},reason="INSTANCE_FAULT"}}': "2x40",
        f'{lead}_restarted_total{{{HYPERPOD},reason="JOB_HANG"}}': "1x40",
        f'{lead}_fault_detection_latency_bucket{{{HYPERPOD},le="30"}}': "2x40",
        f'{lead}_restart_latency_bucket{{{HYPERPOD},le="300"}}': "3x40",
    }
    expect(
        tmp_path,
        samples,
        {
            total("team:training_faults_total:union", "workload", "fault_type", "domain"): {
                '{cluster="c",workload="llama",fault_type="INSTANCE_FAULT",domain="infrastructure"}': 2,
                '{cluster="c",workload="llama",fault_type="JOB_HANG",domain="unknown"}': 1,
            },
            total("team:training_interruptions_total:union", "domain"): {
                '{cluster="c",domain="infrastructure"}': 2, '{cluster="c",domain="unknown"}': 1,
            },
            # Defect 9: two histograms are two, and their buckets are never added.
            total("cluster:training_phase_seconds_bucket_total:union", "phase", "le"): {
                '{cluster="c",phase="detection",le="30"}': 2
            },
            total("cluster:training_recovery_seconds_bucket_total:union", "until", "le"): {
                '{cluster="c",until="running",le="300"}': 3
            },
        },
        only=RULES,
    )  # fmt: skip


def test_hyperpods_numbers_of_a_day_under_either_of_their_names(tmp_path: Path) -> None:
    """Defect 8: documentation and board of HyperPod name them differently. Defect 11: a window inside the exporter."""
    job = f'{{{OPERATOR},job_name="%s"}}'
    samples = {
        "training_manual_restart_count" + job % "a": "1x40",
        "training_manual_recovery_count" + job.replace('cluster="c"', 'cluster="d"') % "a": "2x40",
        "training_auto_recovery_downtime" + job % "a": "90000x40",
        "training_time_ms" + job % "a": "9000x40",
        "training_uptime_percentage" + job % "a": "90x40",
        "training_time_ms" + job % "b": "10000x40",
        "training_uptime_percentage" + job % "b": "50x40",
    }
    day = 'window="1d"'
    expect(
        tmp_path,
        samples,
        {
            "cluster:training_restarts:increase": {
                f'cluster:training_restarts:increase{{cluster="c",trigger="manual",{day}}}': 1,
                f'cluster:training_restarts:increase{{cluster="d",trigger="manual",{day}}}': 2,
            },
            "cluster:training_downtime_seconds:increase": {
                f'cluster:training_downtime_seconds:increase{{cluster="c",kind="automatic",{day}}}': 90
            },
            # 9 of 10 seconds and 10 of 20: 19 of 30, and not the mean of 90 and 50 percent.
            "round(cluster:training_uptime:ratio, 0.001)": {f'{{cluster="c",{day}}}': 0.633},
        },
        only=RULES,
    )


def test_hyperpods_day_gives_way_to_the_collector(tmp_path: Path) -> None:
    samples = {f'training_manual_restart_count{{{OPERATOR},job_name="a"}}': "1x40", UP: "1x40"}
    expect(tmp_path, samples, {"cluster:training_restarts:increase": None}, only=RULES)


def test_histograms_keep_their_bounds_and_labels(tmp_path: Path) -> None:
    samples = histogram("recovery_phase_seconds", {"5": 1, "+Inf": 2}, 14, phase="action", domain="platform")
    name = "cluster:training_phase_seconds_%s_total:union"
    where = '{cluster="c",phase="action",domain="platform"%s}'
    keys = ("phase", "domain")
    expect(
        tmp_path,
        samples,
        {
            total(name % "bucket", *keys, "le"): {where % ',le="5"': 1, where % ',le="+Inf"': 2},
            total(name % "sum", *keys): {where % "": 14},
            total(name % "count", *keys): {where % "": 2},
        },
        at="15m",
        only=RULES,
    )
