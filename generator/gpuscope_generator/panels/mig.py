"""MIG over the cluster: how many instances, of which size, held or free, and what of it works."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, partition
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Matcher, Vector, ratio, select, sum_by
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    BarGauge,
    Explanation,
    LineStyle,
    Query,
    Stat,
    Thresholds,
    TimeSeries,
    Unit,
    palette,
)

__all__ = [
    "IN_PROFILE",
    "busy_share",
    "gpu_equivalents",
    "instances_by_profile",
    "instances_over_time",
    "instances_total",
    "mig_gpus",
    "slices_held",
    "slices_unconfigured",
]

IN_PROFILE = Matcher("profile", "=~", "$profile")
NO_MIG = "No GPU is in MIG mode here, or no exporter tells of it: see Data health"
_SOURCE = "the gpuscope agent, or dcgm-exporter, counted by recording rules."
_SLICES = 7


def _slices(state: str) -> Vector:
    return sum_by(select(partition.CLUSTER_SLICES, IN_CLUSTER, state=state), "cluster")


def _instances(state: str) -> Vector:
    return sum_by(select(partition.CLUSTER_INSTANCES, IN_CLUSTER, IN_PROFILE, state=state), "cluster")


def mig_gpus() -> Stat:
    """GPUs in MIG mode, beside all GPUs."""
    return Stat(
        key="mig_gpus",
        title="GPUs in MIG mode",
        explanation=Explanation(
            shows="GPUs that are split into MIG instances (parts in hardware, with memory and cores of their own), "
            "beside all GPUs that answer.",
            source=_SOURCE,
            good="What you configured; GPUs with and without MIG may live side by side, and both are counted here.",
            do="Fewer than configured: a mode change needs a GPU reset. See Configuration below.",
        ),
        queries=(
            Query(expression=sum_by(select(partition.CLUSTER_GPUS, IN_CLUSTER), "cluster"), legend="in MIG mode"),
            Query(expression=sum_by(select(cluster.GPUS, IN_CLUSTER, state="present"), "cluster"), legend="all GPUs"),
        ),
        unit=Unit.COUNT,
        width=5,
        no_value="No GPU is known: see Data health",
    )


def instances_total() -> Stat:
    """Instances, and how many of them are free."""
    return Stat(
        key="instances_total",
        title="MIG instances",
        explanation=Explanation(
            shows="MIG instances of the chosen profiles, and of these the ones that no pod or job holds.",
            source=_SOURCE + " Which are free is known where the agent, or the exporter, knows the owners.",
            good="A few free ones of each profile that people ask for.",
            do="Pods wait and none is free: see Profiles; free ones of another profile do not help them.",
        ),
        queries=(
            Query(expression=_instances("total"), legend="all"),
            Query(expression=_instances("free"), legend="free"),
        ),
        unit=Unit.COUNT,
        width=5,
        no_value=NO_MIG,
    )


def slices_held() -> Stat:
    """Share of the slices that somebody holds."""
    return Stat(
        key="slices_held",
        title="Slices held",
        explanation=Explanation(
            shows="Compute slices that a pod or job holds, of all slices of the GPUs in MIG mode. An H100 or A100 has "
            "seven of them, an A30 four; an instance 3g.40gb has three.",
            source=_SOURCE,
            good="High, while nobody waits.",
            do="Low while pods wait: instances have the wrong sizes. See Fragmentation.",
        ),
        queries=(Query(expression=ratio(_slices("allocated"), _slices("total"))),),
        unit=Unit.RATIO,
        width=4,
        low=0,
        high=1,
        no_value="No GPU is in MIG mode, or the owners of its instances are unknown",
    )


def busy_share(settings: Settings) -> Stat:
    """Share of the held slices that work."""
    return Stat(
        key="busy_share",
        title="Activity of held slices",
        explanation=Explanation(
            shows="Compute activity of all instances, each weighted by its slices, over the slices that are held.",
            source="the gpuscope agent on Hopper and newer GPUs (GPM), or profiling metrics of dcgm-exporter. Plain "
            "utilization (GPU_UTIL) does not exist in MIG mode, by design of the driver.",
            good=f"Above {settings.thresholds.low_utilization_ratio:.0%}; below it the color changes.",
            do="Low: look for idle instances in the table of instances, and give their pods smaller profiles.",
        ),
        queries=(Query(expression=ratio(_slices("busy"), _slices("allocated"))),),
        unit=Unit.RATIO,
        width=5,
        low=0,
        high=1,
        thresholds=Thresholds(palette.WARN, ((settings.thresholds.low_utilization_ratio, palette.OK),)),
        no_value="Activity of instances is not reported: A100 and A30 need profiling metrics of dcgm-exporter",
    )


def slices_unconfigured() -> Stat:
    """Slices that are in no instance."""
    return Stat(
        key="slices_unconfigured",
        title="Slices in no instance",
        explanation=Explanation(
            shows="Compute slices of GPUs in MIG mode that are part of no instance: nobody can get them.",
            source=_SOURCE,
            good="0, or what a layout leaves over by nature: two instances 3g.40gb leave one slice.",
            do="See Fragmentation for the GPUs, and add instances, or choose another layout.",
        ),
        queries=(Query(expression=_slices("total") - _slices("configured")),),
        unit=Unit.COUNT,
        width=5,
        thresholds=Thresholds(palette.OK, ((1, palette.WARN),)),
        no_value=NO_MIG,
    )


def instances_by_profile() -> BarGauge:
    """Instances by profile."""
    return BarGauge(
        key="instances_by_profile",
        title="Instances by profile",
        explanation=Explanation(
            shows="MIG instances by profile: slices of compute, then memory, as in 3g.40gb.",
            source=_SOURCE,
            good="The profiles that your pods ask for.",
            do="A profile that nobody asks for: change the layout of some nodes.",
        ),
        queries=(
            Query(
                expression=sum_by(
                    select(partition.CLUSTER_INSTANCES, IN_CLUSTER, IN_PROFILE, state="total"), "cluster", "profile"
                ),
                legend="{{profile}}",
            ),
        ),
        unit=Unit.COUNT,
        width=8,
        low=0,
        no_value=NO_MIG,
    )


def instances_over_time() -> TimeSeries:
    """Held and free instances by profile."""

    def counted(state: str) -> Query:
        series = select(partition.CLUSTER_INSTANCES, IN_CLUSTER, IN_PROFILE, state=state)
        return Query(expression=sum_by(series, "cluster", "profile"), legend=f"{{{{profile}}}} {state}")

    return TimeSeries(
        key="instances_over_time",
        title="Held and free instances by profile",
        explanation=Explanation(
            shows="MIG instances that a pod or job holds, and those that are free, by profile.",
            source=_SOURCE,
            good="Free ones of every profile that people ask for.",
            do="A profile without free instances while another has many: change the layout of some nodes.",
        ),
        queries=(counted("allocated"), counted("free")),
        unit=Unit.COUNT,
        width=8,
        low=0,
        stacked=True,
        styles={"/ free$/": LineStyle(color=palette.IDLE)},
        no_value="No GPU is in MIG mode, or the owners of its instances are unknown",
    )


def gpu_equivalents() -> TimeSeries:
    """Slices as whole GPUs."""

    def whole(state: str, legend: str) -> Query:
        return Query(expression=_slices(state) / _SLICES, legend=legend)

    return TimeSeries(
        key="gpu_equivalents",
        title="MIG in whole GPUs",
        explanation=Explanation(
            shows="Slices divided by seven, as so many whole GPUs: all, those in instances, those held, and those that "
            "work. An instance that is busy half of the time counts with half of its slices.",
            source=_SOURCE,
            good="The lines lie close together.",
            do="Between held and working lies waste: see Instances. Between all and in instances: see Fragmentation.",
        ),
        queries=(
            whole("total", "all"),
            whole("configured", "in instances"),
            whole("allocated", "held"),
            whole("busy", "working"),
        ),
        unit=Unit.COUNT,
        width=8,
        low=0,
        decimals=1,
        styles={
            "all": LineStyle(color=palette.IDLE, dashed=True),
            "in instances": LineStyle(color=palette.NEUTRAL),
            "held": LineStyle(color=palette.INFO),
            "working": LineStyle(color=palette.OK),
        },
        no_value=NO_MIG,
    )
