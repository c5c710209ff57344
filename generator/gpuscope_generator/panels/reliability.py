"""What interruptions cost: uptime, goodput, ETTR, MTBF and MTTR of the cluster over the chosen window."""

from __future__ import annotations

from gpuscope_generator.normalized import reliability, training
from gpuscope_generator.panels.training import COLLECTOR, NO_JOBS
from gpuscope_generator.panels.training_choice import IN_WINDOW, happened
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Gauge, Matcher, Vector, max_by, select, sum_by
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    BarGauge,
    Explanation,
    Query,
    Stat,
    Thresholds,
    TimeSeries,
    Unit,
    palette,
)

__all__ = [
    "efficiency",
    "efficiency_trend",
    "interruptions",
    "lost_gpu_hours",
    "mtbf",
    "mttr",
    "unknown_share",
]

_CLUSTER = "Of the whole cluster, whatever team is chosen, over the window that is chosen at the top. "
_SHARES = (("uptime", reliability.UPTIME), ("goodput", reliability.GOODPUT), ("ETTR", reliability.ETTR))
_DAY_S = 86_400


def _over(series: Gauge, *by: str) -> Vector:
    return max_by(select(series, IN_CLUSTER, IN_WINDOW), "cluster", *by)


def efficiency() -> Stat:
    """Uptime, goodput and ETTR."""
    return Stat(
        key="efficiency",
        title="Uptime, goodput and effective training time",
        explanation=Explanation(
            shows=f"{_CLUSTER}Uptime: time in which jobs trained, of their time after the queue. Goodput: productive "
            "GPU-time, of the GPU-time that jobs held. ETTR: productive time, of all time from submission on, weighted "
            "by GPUs. Upper bounds: steps that were lost with an interruption count as productive.",
            source="the gpuscope collector; without it HyperPod's operator tells the uptime of a day.",
            good="Goodput above 90 %. ETTR is lower by the time in queues.",
            do="Goodput low: see Lost GPU-hours beside. ETTR low while goodput is high: see Queueing.",
        ),
        queries=tuple(Query(expression=_over(series), legend=name) for name, series in _SHARES),
        unit=Unit.RATIO,
        decimals=1,
        low=0,
        high=1,
        width=7,
        text_mode="value_and_name",
        thresholds=Thresholds(base=palette.BAD, steps=((0.5, palette.WARN), (0.8, palette.OK))),
        no_value=NO_JOBS,
    )


def mtbf() -> Stat:
    """Mean time between failures."""
    return Stat(
        key="mtbf",
        title="MTBF in GPU-days",
        explanation=Explanation(
            shows=f"{_CLUSTER}GPU-days that jobs held, for each interruption by the infrastructure. A job of N GPUs is "
            "interrupted once in that many days over N. Without any interruption it is not infinite: then the number "
            "says what it is at least, with 95 % confidence.",
            source=COLLECTOR,
            good="It rises. Published fleets lie between 100 and 1,000.",
            do="It falls: look for nodes that interrupt again and again in the table of XID errors. Below five "
            "interruptions read the single ones instead.",
        ),
        queries=(
            Query(expression=_over(reliability.MTBF) / _DAY_S, legend="mean"),
            Query(expression=_over(reliability.MTBF_BOUND) / _DAY_S, legend="at least"),
        ),
        unit=Unit.COUNT,
        decimals=1,
        width=4,
        sparkline=True,
        text_mode="value_and_name",
        no_value="No GPU-time of jobs is known",
    )


def mttr() -> Stat:
    """Mean time to recover."""
    until = Matcher("until", "=~", "running|resources")
    n = sum_by(select(reliability.RECOVERIES, IN_CLUSTER, IN_WINDOW, until), "cluster", "until")
    return Stat(
        key="mttr",
        title="Time to recover (MTTR)",
        explanation=Explanation(
            shows=f"{_CLUSTER}Time from the end of an interrupted attempt until all ranks run again, and until the job "
            "has resources again, which is all that Slurm tells. Jobs that never came back are in neither.",
            source="the gpuscope collector; HyperPod's operator.",
            good="Minutes. The 90th percentile is not far above the mean.",
            do="See the phases in the row Recovery for where the time goes.",
        ),
        queries=(
            Query(expression=_over(reliability.MTTR, "until").and_(n.compare(">", 0)), legend="mean, {{until}}"),
            Query(expression=_over(reliability.MTTR_P90, "until").and_(n.compare(">", 0)), legend="p90, {{until}}"),
        ),
        unit=Unit.SECONDS,
        width=5,
        decimals=0,
        text_mode="value_and_name",
        no_value="No recovery within the window",
    )


def interruptions() -> BarGauge:
    """The n behind it all."""
    return BarGauge(
        key="interruptions",
        title="Interruptions",
        explanation=Explanation(
            shows=f"{_CLUSTER}Attempts that ended without success: by the infrastructure, the program (workload), the "
            "platform, as planned, or nobody knows.",
            source="the gpuscope collector; HyperPod's operator.",
            good="Few by infrastructure and platform.",
            do="Below five the means beside say little: read the single ones in /api/v1/jobs of the collector.",
        ),
        queries=(Query(expression=_over(reliability.INTERRUPTIONS, "domain"), legend="{{domain}}"),),
        unit=Unit.COUNT,
        decimals=0,
        width=5,
        height=4,
        no_value=NO_JOBS,
    )


def unknown_share(settings: Settings) -> Stat:
    """How much of it is guesswork."""
    limit = settings.thresholds.unknown_fault_ratio
    return Stat(
        key="unknown_share",
        title="Unexplained",
        explanation=Explanation(
            shows=f"{_CLUSTER}Share of faults that nobody can explain.",
            source="the gpuscope collector; HyperPod's operator.",
            good=f"Below {limit:.0%}. Above it the shares of the others mean little.",
            do="Give the collector the agents (`--agents`), so that XID errors become evidence.",
        ),
        queries=(Query(expression=_over(reliability.UNKNOWN_FAULTS)),),
        unit=Unit.RATIO,
        decimals=0,
        low=0,
        high=1,
        width=3,
        thresholds=Thresholds(base=palette.OK, steps=((limit, palette.WARN),)),
        no_value="No fault within the window",
    )


def efficiency_trend() -> TimeSeries:
    """The same over time."""
    return TimeSeries(
        key="efficiency_trend",
        title="Uptime, goodput and ETTR over time",
        explanation=Explanation(
            shows="At each moment the value over the window before it.",
            source=COLLECTOR,
            good="Flat or rising.",
            do="A step down: see which faults happened then, in the row Faults.",
        ),
        queries=tuple(Query(expression=_over(series), legend=name) for name, series in _SHARES),
        unit=Unit.RATIO,
        low=0,
        high=1,
        width=12,
        no_value=NO_JOBS,
    )


def lost_gpu_hours() -> BarGauge:
    """Where GPU-time went that trained nothing."""
    unproductive = Matcher("state", "!~", "training|checkpointing")
    lost = happened(training.GPU_SECONDS, "cluster", "state", more=(unproductive,)) / 3600
    return BarGauge(
        key="lost_gpu_hours",
        title="Lost GPU-hours by cause",
        explanation=Explanation(
            shows="GPU-hours within the time range that chosen teams and queues held and did not train with, by what "
            "their jobs did instead.",
            source=COLLECTOR,
            good="Short bars beside the GPU-hours that were held.",
            do="Pulling and initializing: cache images and data. Stalled: shorten the time-out of NCCL. Recovering: "
            "see the row Recovery.",
        ),
        queries=(Query(expression=lost.compare(">", 0), legend="{{state}}"),),
        unit=Unit.COUNT,
        decimals=1,
        width=12,
        no_value="No GPU-time was lost, or there is no gpuscope collector",
    )
