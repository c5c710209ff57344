"""Success, MTBF, MTTR, goodput, ETTR and uptime on known numbers."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.jobs import ended, fault, held, histogram, interrupted, of_job

RULES = ("training", "level-reliability")
DAY = '{cluster="c",window="1d"}'


def shown(name: str, **labels: str) -> str:
    """The value over a day without its name, rounded: windows of ten minutes end on full ten minutes."""
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return f'round({name}{{window="1d"{more}}}, 0.0001)'


def test_all_that_can_be_said_of_a_day_with_one_failure(tmp_path: Path) -> None:
    """30 minutes: 8 GPUs trained all the time and stalled for half of it on top; one interruption, one recovery."""
    samples = {
        ended("succeeded"): "0x19 3x41",
        ended("failed"): "0x19 1x41",
        ended("cancelled"): "0x19 5x41",
        interrupted("infrastructure"): "0x24 1x36",
        interrupted("unknown"): "0x60",
        fault("xid", "infrastructure"): "0x24 1x36",
        fault("unknown", "unknown", "unknown"): "0x60",
        held("training"): "0+240x60",
        held("stalled"): "0+80x60",
        of_job("job_gpus"): "8x60",
        of_job("state_seconds_total", state="queued"): "0+10x60",
        of_job("state_seconds_total", state="training"): "0+15x60",
        of_job("state_seconds_total", state="recovering"): "0+5x60",
    } | histogram(
        "recovery_seconds", {"60": 0, "120": 1, "+Inf": 1}, 90, when="0x24 {}x36", until="running",
        domain="infrastructure",
    )  # fmt: skip
    expect(
        tmp_path,
        samples,
        {
            shown("cluster:training_success:ratio"): {DAY: 0.75},
            shown("cluster:training_jobs_ended:increase", outcome="cancelled"): {
                '{cluster="c",outcome="cancelled",window="1d"}': 5
            },
            shown("cluster:training_interruptions:increase", domain="infrastructure"): {
                '{cluster="c",domain="infrastructure",window="1d"}': 1
            },
            shown("cluster:training_unknown_faults:ratio"): {DAY: 0},
            # Three times ten minutes with 16 seconds of GPUs a second.
            shown("cluster:training_mtbf_gpu_seconds:ratio"): {DAY: 60 * 320},
            "cluster:training_mtbf_gpu_seconds:lower_bound": None,
            shown("cluster:training_goodput:ratio"): {DAY: 0.75},
            shown("cluster:training_ettr:ratio"): {DAY: 0.5},
            shown("cluster:training_uptime:ratio"): {DAY: 0.75},
            shown("cluster:training_downtime_seconds:increase"): {'{cluster="c",kind="recovering",window="1d"}': 300},
            shown("cluster:training_mttr_seconds:mean"): {'{cluster="c",until="running",window="1d"}': 90},
            shown("cluster:training_mttr_seconds:p90"): {'{cluster="c",until="running",window="1d"}': 114},
            shown("cluster:training_recoveries:increase"): {'{cluster="c",until="running",window="1d"}': 1},
        },
        at="30m",
        only=RULES,
    )


def test_without_any_interruption_mtbf_has_a_lower_bound(tmp_path: Path) -> None:
    """Three times nothing happened in 86,400 GPU-seconds: at least a third of them, with 95 % confidence."""
    samples = {held("training"): "0+240x60", interrupted("infrastructure"): "0x60", interrupted("planned"): "0x24 9x36"}
    expect(
        tmp_path,
        samples,
        {
            "cluster:training_mtbf_gpu_seconds:ratio": None,
            shown("cluster:training_mtbf_gpu_seconds:lower_bound"): {DAY: 4800},
        },
        at="30m",
        only=RULES,
    )


def test_shares_of_nothing_are_not_there_and_unknown_stays_unknown(tmp_path: Path) -> None:
    samples = {
        fault("unknown", "unknown", "unknown"): "0x24 3x36",
        fault("oom", "workload", "job"): "0x24 1x36",
        ended("succeeded"): "4x60",
        ended("failed"): "4x60",
        held("queued"): "0x60",
    }
    expect(
        tmp_path,
        samples,
        {
            shown("cluster:training_unknown_faults:ratio"): {DAY: 0.75},
            "cluster:training_success:ratio": None,
            "cluster:training_goodput:ratio": None,
            "cluster:training_mtbf_gpu_seconds:lower_bound": None,
        },
        at="30m",
        only=RULES,
    )


def test_a_collector_that_begins_anew_is_not_counted_backwards(tmp_path: Path) -> None:
    """900 jobs of before are no jobs of this day, and neither a fall to 0 nor a new instance adds them."""
    samples = {
        ended("succeeded"): "900x30 0x10 2x20",
        ended("failed"): "50x24 _x36",
        ended("failed", "b:9837"): "_x25 50x10 51x25",
    }
    expect(
        tmp_path,
        samples,
        {
            f"round(cluster:training_jobs_ended:increase{{window='1d',outcome='{outcome}'}})": {
                f'{{cluster="c",outcome="{outcome}",window="1d"}}': number
            }
            for outcome, number in (("succeeded", 2), ("failed", 1))
        },
        at="30m",
        only=RULES,
    )


def test_waits_of_workers_are_the_slope_of_a_gauge(tmp_path: Path) -> None:
    """Ray publishes totals as gauges, one a rank: the slowest rank counts."""
    base = 'ray_train_report_total_blocked_time_s{cluster="c",instance="r",job="ray",ray_train_run_name="llama"'
    samples = {
        base + ',ray_train_worker_world_rank="0"}': "0+3x60",
        base + ',ray_train_worker_world_rank="1"}': "0+6x60",
    }
    where = 'job:training_blocked:ratio_rate5m{cluster="c",workload="llama",what="checkpoint"}'
    expect(tmp_path, samples, {"round(job:training_blocked:ratio_rate5m, 0.01)": {
        where.replace("job:training_blocked:ratio_rate5m", ""): 0.2
    }}, only=("ray-train",))  # fmt: skip
