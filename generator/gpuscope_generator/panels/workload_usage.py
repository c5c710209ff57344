"""What workloads hold and use now: the figures at the top of the Task board, and its table."""

from __future__ import annotations

from gpuscope_generator.normalized import workload
from gpuscope_generator.panels.chosen import CHOSEN, of_workloads
from gpuscope_generator.panels.classes import CLASS_TEXTS
from gpuscope_generator.promql import Gauge, Vector, max_by, ratio, select, sum_by
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Link,
    Noun,
    Query,
    Stat,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    cell,
    palette,
)

__all__ = ["busy_gpus", "held_gpus", "idle_gpus", "pods_by_phase", "usage_by_workload", "workload_links"]

HOLDING = (
    "who holds what comes from the gpuscope agent or dcgm-exporter, joined with the workload by the collector or "
    "kube-state-metrics. A GPU that several pods share is split evenly, which is an estimate; MIG instances count by "
    "their slices."
)
_NONE_HELD = "No GPU is held by what is chosen, or nobody tells who holds GPUs (see Data health)"
_ACTIVITY = "the gpuscope agent, dcgm-exporter or AMD's device-metrics-exporter, by recording rules."


def _total(state: str) -> Vector:
    return sum_by(of_workloads(workload.WORKLOAD_GPUS, state=state), "cluster")


def held_gpus() -> Stat:
    """GPUs that the chosen workloads hold."""
    return Stat(
        key="held_gpus",
        title="GPUs held",
        explanation=Explanation(
            shows="GPUs that the chosen workloads hold, whether they use them or not. MIG instances count as their "
            "share of a GPU.",
            source=HOLDING,
            good="It is what you asked for.",
            do="Fewer than you asked for: some pods wait. See the row Pods for the reason.",
        ),
        queries=(Query(expression=_total("allocated")),),
        unit=Unit.COUNT,
        decimals=1,
        no_value=_NONE_HELD,
        width=5,
    )


def busy_gpus() -> Stat:
    """GPUs that are held and work."""
    return Stat(
        key="busy_gpus",
        title="GPUs at work",
        explanation=Explanation(
            shows="GPUs that the chosen workloads hold and that do something now: held ones less idle ones.",
            source=_ACTIVITY,
            good="It equals the GPUs held. Short dips are normal while data loads or a checkpoint is written.",
            do="If it stays below, open the row GPU and look which GPU waits.",
        ),
        queries=(Query(expression=_total("allocated") - _total("idle")),),
        unit=Unit.COUNT,
        decimals=1,
        no_value=_NONE_HELD,
        width=5,
    )


def idle_gpus() -> Stat:
    """GPUs that are held and do nothing."""
    return Stat(
        key="idle_gpus",
        title="GPUs held and idle",
        explanation=Explanation(
            shows="GPUs that the chosen workloads hold and whose compute activity is below the threshold of idleness.",
            source=_ACTIVITY,
            good="0, or a few for a moment.",
            do="If it lasts: does the job hang, does it wait for data, or was it forgotten? Stop what nobody needs.",
        ),
        queries=(Query(expression=_total("idle")),),
        unit=Unit.COUNT,
        decimals=1,
        thresholds=Thresholds(base=palette.OK, steps=((0.5, palette.WARN),)),
        no_value="Unknown: no source tells activity of these GPUs",
        width=5,
    )


def pods_by_phase() -> Stat:
    """Pods that run, wait and failed."""
    keys = ("cluster", "phase")
    found = sum_by(of_workloads(workload.WORKLOAD_PODS), *keys)
    return Stat(
        key="pods_by_phase",
        title="Pods by phase",
        explanation=Explanation(
            shows="Pods of the chosen workloads: running, pending (not scheduled, or images are still pulled), failed "
            "and succeeded. Slurm jobs have no pods.",
            source="kube-state-metrics, joined with the workload.",
            good="All run, or succeeded.",
            do="Pending for minutes: the row Pods says why. Failed: it shows the last exit code of each container.",
        ),
        queries=(Query(expression=found, legend="{{phase}}"),),
        unit=Unit.COUNT,
        text_mode="value_and_name",
        no_value="No pods: kube-state-metrics is absent, or these are Slurm jobs",
        width=9,
    )


def workload_links() -> tuple[Link, ...]:
    """Where a workload leads: its own view of this board, and the boards of training and of inference."""
    where = {"cluster": cell("cluster"), "namespace": cell("namespace"), "workload": cell("workload")}
    return (
        Link("Only this workload", Noun.TASK, where),
        Link("Its training progress and restarts", Noun.TRAINING, where),
        Link("Its requests, if it serves a model", Noun.INFERENCE, where),
    )


def usage_by_workload(settings: Settings) -> Table:
    """One row a workload: what it holds and uses."""
    low = settings.thresholds.low_utilization_ratio
    scarce = Thresholds(base=palette.WARN, steps=((low, palette.OK),))
    full = Thresholds(base=palette.OK, steps=((settings.thresholds.memory_high_ratio, palette.WARN),))

    def summed(series: Gauge, **equal: str) -> Vector:
        return sum_by(of_workloads(series, **equal), *workload.WORKLOAD)

    gpus = summed(workload.WORKLOAD_GPUS, state="allocated")
    return Table(
        key="usage_by_workload",
        title="Resource usage by workload",
        explanation=Explanation(
            shows="One row for each workload, the top of the chain of owners: Deployment and not ReplicaSet, JobSet "
            "and not Job, or a Slurm job. GPU columns are means over the GPUs that it holds; CPU and memory are sums "
            "over its pods. Use is its class over the last hour.",
            source=HOLDING + " CPU and memory come from cAdvisor.",
            good="GPU activity is high and GPU memory is well used. High is not bad here: low is.",
            do="Click a workload to see it alone with its pods below, or to go on to its training or its requests.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="team", title="Team"),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(label="workload_kind", title="Kind", hidden=True),
            LabelColumn(label="workload", title="Workload", links=workload_links()),
            LabelColumn(label="queue", title="Queue"),
            ValueColumn(title="GPUs", expression=gpus, unit=Unit.COUNT, decimals=2),
            ValueColumn(
                title="GPU activity",
                expression=ratio(summed(workload.WORKLOAD_COMPUTE_ACTIVE), gpus),
                unit=Unit.RATIO,
                cell=Cell.COLORED_TEXT,
                thresholds=scarce,
                decimals=0,
            ),
            ValueColumn(
                title="Tensor activity",
                expression=ratio(summed(workload.WORKLOAD_TENSOR_ACTIVE), gpus),
                unit=Unit.RATIO,
                decimals=0,
            ),
            ValueColumn(
                title="GPU memory",
                expression=ratio(summed(workload.WORKLOAD_GPU_MEMORY_USED), summed(workload.WORKLOAD_GPU_MEMORY_TOTAL)),
                unit=Unit.RATIO,
                cell=Cell.COLORED_TEXT,
                thresholds=full,
                decimals=0,
            ),
            ValueColumn(title="GPU power", expression=summed(workload.WORKLOAD_POWER), unit=Unit.WATTS, decimals=0),
            ValueColumn(title="CPUs", expression=summed(workload.WORKLOAD_CPU), unit=Unit.COUNT, decimals=1),
            ValueColumn(title="Memory", expression=summed(workload.WORKLOAD_MEMORY), unit=Unit.BYTES),
            LabelColumn(label="class", title="Use", texts=CLASS_TEXTS),
            ValueColumn(
                title="Class",
                expression=max_by(select(workload.WORKLOAD_CLASS, *CHOSEN), *workload.WORKLOAD, "class"),
                hidden=True,
            ),
        ),
        sort_by="GPUs",
        paginate=True,
        no_value="No workload matches, or neither the collector nor kube-state-metrics is there",
    )
