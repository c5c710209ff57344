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
