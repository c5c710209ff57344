"""GPUs that work waits for, the places where it would fit, ports, and shares of what was lost: known in, known out."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.jobs import OWNER, of_job

from gpuscope_generator.normalized import demand, objective, port, training
from gpuscope_generator.promql import select

WAITS = 'pod:gpus_requested:sum{{cluster="c",namespace="ml",workload_kind="JobSet",workload="w",team="nlp",{}}}'


def test_what_waits_and_where_it_would_fit(tmp_path: Path) -> None:
    samples = {
        WAITS.format('pod="a",node="",resource="nvidia_com_gpu"'): "8x20",
        WAITS.format('pod="b",node="",resource="nvidia_com_gpu"'): "8x20",
        WAITS.format('pod="c",node="",resource="nvidia_com_gpu"'): "2x20",
        # One that has a node, one that wants a part of a GPU, and one that wants none.
        WAITS.format('pod="d",node="n1",resource="nvidia_com_gpu"'): "8x20",
        WAITS.format('pod="e",node="",resource="nvidia_com_mig_1g_10gb"'): "1x20",
        WAITS.format('pod="f",node="",resource="nvidia_com_gpu"'): "0x20",
        'node:gpus_free:count{cluster="c",node="n1"}': "8x20",
        'node:gpus_free:count{cluster="c",node="n2"}': "5x20",
        'queue:quota:sum{cluster="c",source="kueue",queue="q",resource="nvidia.com/gpu",state="pending"}': "24x20",
        'queue:quota:sum{cluster="c",source="kueue",queue="q",resource="cpu",state="pending"}': "900x20",
        f'job:training_state:bool{{{_job("1")},state="queued"}}': "1x20",
        f"job:training_gpus:union{{{_job('1')}}}": "16x20",
        f'job:training_info:union{{{_job("1")},team="nlp"}}': "1x20",
        f'job:training_state:bool{{{_job("2")},state="training"}}': "1x20",
        f"job:training_gpus:union{{{_job('2')}}}": "64x20",
    }
    work = 'workload:pods_waiting:count{cluster="c",namespace="ml",workload_kind="JobSet",workload="w",team="nlp",size='
    slots = 'cluster:gpu_slots:count{cluster="c",size='
    expect(
        tmp_path,
        samples,
        {
            select(demand.WAITING_PODS): {f'{work}"8"}}': 2, f'{work}"2"}}': 1},
            select(demand.CLUSTER_WAITED_FOR): {
                f'cluster:gpus_waited_for:sum{{cluster="c",told_by="{source}"}}': gpus
                for source, gpus in (("pods", 18), ("jobs", 16), ("queues", 24))
            },
            select(demand.FREE): {'cluster:gpus_free:sum{cluster="c"}': 13},
            'cluster:gpu_slots:count{size=~"1|4|8|16"}': {
                f'{slots}"1"}}': 13, f'{slots}"4"}}': 3, f'{slots}"8"}}': 1, f'{slots}"16"}}': 0,
            },
        },
        at="5m",
        only=["level-demand"],
    )  # fmt: skip


def _job(number: str) -> str:
    return f'cluster="c",scheduler="slurm",workload="w",job_id="{number}"'


def test_ports_and_which_of_them_are_in_use(tmp_path: Path) -> None:
    at = 'cluster="c",job="node-exporter",instance="n1:9100"'
    first, other = (f'{at},device="mlx5_{number}",port="1"' for number in (0, 1))
    samples = {
        f'node_uname_info{{{at},nodename="n1"}}': "1x40",
        f"node_infiniband_state_id{{{first}}}": "4x20 1x20",
        f"node_infiniband_state_id{{{other}}}": "1x40",
        f"node_infiniband_rate_bytes_per_second{{{first}}}": "100x20 50x20",
        f"node_infiniband_link_downed_total{{{first}}}": "7x40",
        f"node_infiniband_symbol_error_total{{{first}}}": "9x40",
    }
    where = 'cluster="c",node="n1",device="mlx5_{}",port="1"'
    one, two = where.format(0), where.format(1)
    expect(
        tmp_path,
        samples,
        {
            select(port.UP): {f"port:up:bool{{{one}}}": 0, f"port:up:bool{{{two}}}": 0},
            select(port.RECENTLY_UP): {f"port:up:max1h{{{one}}}": 1, f"port:up:max1h{{{two}}}": 0},
            select(port.EXPECTED): {f"port:expected:bool{{{one}}}": 1},
            select(port.RATE): {f"port:rate_bytes:union{{{one}}}": 50},
            select(port.BEST_RATE): {f"port:rate_bytes:max7d{{{one}}}": 100},
            select(port.LINK_DOWNS): {f"port:link_downs_total:union{{{one}}}": 7},
            select(port.ERRORS): {f"port:symbol_errors_total:union{{{one}}}": 9},
        },
        at="18m",
        only=["node-exporter", "ports"],
    )


def test_what_the_collector_tells_of_the_end_and_the_pace_of_a_job(tmp_path: Path) -> None:
    met = {"outcome": "interrupted", "fault_type": "node_down", "domain": "infrastructure"}
    samples = {
        of_job("job_end_timestamp_seconds", "done", "2", **met): "120x20",
        of_job("job_progress_timestamp_seconds"): "90x20",
        of_job("job_restarts_total"): "3x20",
    }
    job = 'cluster="c",scheduler="kubernetes",namespace="ml",workload="{}",job_id="{}"'
    end = ",".join(f'{label}="{value}"' for label, value in met.items())
    llama = job.format("llama", "1")
    expect(
        tmp_path,
        samples,
        {
            select(training.JOB_END_TIME): {
                f"job:training_end_timestamp_seconds:union{{{job.format('done', '2')},{end}}}": 120
            },
            select(training.JOB_PROGRESS_TIME): {f"job:training_progress_timestamp_seconds:union{{{llama}}}": 90},
            select(training.JOB_RESTARTS): {f"job:training_restarts_total:union{{{llama}}}": 3},
        },
        at="5m",
        only=["training"],
    )


def test_gpus_that_were_held_and_lost_by_team(tmp_path: Path) -> None:
    """Of 16 GPUs 12 trained or saved, 4 recovered; of two more nobody knows."""

    def held(state: str, gpus: int) -> dict[str, str]:
        return {f'gpuscope_training_gpu_seconds_total{{{OWNER},state="{state}"}}': f"0+{gpus * 30}x40"}

    samples = held("training", 10) | held("checkpointing", 2) | held("recovering", 4) | held("unknown", 2)
    team = 'team:training_gpus_by_use:sum{cluster="c",namespace="ml",team="nlp",use='
    expect(
        tmp_path,
        samples,
        {
            select(objective.TEAM_GPUS): {f'{team}"held"}}': 16, f'{team}"lost"}}': 4},
            'team:training_badput:ratio{window="5m"}': {
                'team:training_badput:ratio{cluster="c",namespace="ml",team="nlp",window="5m"}': 0.25
            },
            # A quarter of an hour of 16 GPUs is less than 64 GPU-hours.
            'team:training_badput:ratio{window="1h"}': {},
        },
        at="15m",
        only=["training", "level-objective"],
    )
