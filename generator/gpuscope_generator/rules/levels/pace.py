"""How fast the GPUs of one job run: the median that each of them is held against."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, workload
from gpuscope_generator.promql import Vector, avg_over_time, count_by, group_by, join, max_by, quantile_by, select
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["OF_JOB", "busy_clocks", "pace_rules"]

OF_JOB = ("cluster", "namespace", "workload", "team", "model")
"""GPUs of different models have different clocks."""
_BUSY = 0.5
"""Mean compute activity from which on a low clock is no idleness."""
_ENOUGH = 4
"""GPUs from which on a median says something."""


def busy_clocks() -> Vector:
    """Mean clock of five minutes of each GPU that works, with the job that holds it alone, and its model."""
    busy = max_by(avg_over_time(select(gpu.COMPUTE_ACTIVE), "5m"), *gpu.GPU).compare(">", _BUSY)
    in_mig = max_by(select(gpu.MIG_MODE), *gpu.GPU).compare("==", 1)
    clock = max_by(avg_over_time(select(gpu.CLOCK), "5m"), *gpu.GPU)
    working = clock.and_(busy, on=gpu.GPU).unless(in_mig, on=gpu.GPU)
    alone = group_by(select(workload.POD_GPU_SHARE).compare("==", 1), *gpu.GPU, "namespace", "workload", "team")
    held = join(working, alone, on=gpu.GPU, take=("namespace", "workload", "team"))
    return join(held, select(gpu.INFO), on=gpu.GPU, take=("model",))


def pace_rules(settings: Settings) -> RuleFile:
    """Rules of the median clock of jobs."""
    clocks = busy_clocks()
    median = quantile_by(0.5, clocks, *OF_JOB)
    several = count_by(clocks, *OF_JOB).compare(">=", _ENOUGH)
    return RuleFile(
        path="recording/level-pace.yaml",
        comment="From clocks of GPUs that work to the median of the GPUs of one job, of jobs with four and more.",
        groups=(
            Group(
                "gpuscope-level-pace",
                settings.intervals.aggregate,
                (recording(workload.JOB_CLOCK, median.and_(several, on=OF_JOB)),),
            ),
        ),
    )
