"""Pods of the chosen workloads: what each uses, whether it runs, when it started and how it ended."""

from __future__ import annotations

from gpuscope_generator.normalized import workload
from gpuscope_generator.panels.chosen import of_pods
from gpuscope_generator.promql import Gauge, Info, Matcher, Vector, first_of, max_by, ratio, sum_by
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Link,
    Noun,
    Query,
    StateTimeline,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    ValueText,
    cell,
    palette,
)

__all__ = ["container_exits", "pod_phases", "pod_start_times", "pods_that_wait", "usage_by_pod"]

_KSM = "kube-state-metrics, joined with the workload."
_NO_PODS = "No pods: kube-state-metrics is absent, or these are Slurm jobs"
_PHASES = {
    "1": ("Pending", palette.WARN),
    "2": ("Running", palette.OK),
    "3": ("Succeeded", palette.INFO),
    "4": ("Failed", palette.BAD),
    "5": ("Unknown", palette.IDLE),
}
_PHASE_TEXTS = {word: ValueText(word, color) for word, color in _PHASES.values()}


def _pod_columns() -> tuple[LabelColumn, ...]:
    """The pod and its node, which lead on."""
    where = {"cluster": cell("cluster"), "namespace": cell("namespace"), "pod": cell("pod")}
    return (
        LabelColumn(label="cluster", title="Cluster"),
        LabelColumn(label="namespace", title="Namespace"),
        LabelColumn(label="workload", title="Workload"),
        LabelColumn(label="pod", title="Pod", links=(Link("Only this pod", Noun.TASK, where),)),
        LabelColumn(
            label="node",
            title="Node",
            links=(
                Link("Node on the cluster board", Noun.CLUSTER, {"cluster": cell("cluster"), "node": cell("node")}),
                Link("MIG instances of the node", Noun.PARTITION, {"cluster": cell("cluster"), "node": cell("node")}),
            ),
        ),
    )


def _summed(series: Gauge | Info, *more: str) -> Vector:
    return sum_by(of_pods(series), *workload.POD, *more)


def usage_by_pod(settings: Settings) -> Table:
    """One row a pod: the second level of the table of workloads."""
    low = Thresholds(base=palette.WARN, steps=((settings.thresholds.low_utilization_ratio, palette.OK),))
    gpus = _summed(workload.POD_GPUS)
    return Table(
        key="usage_by_pod",
        title="Resource usage by pod",
        explanation=Explanation(
            shows="One row for each pod of the chosen workloads; Slurm jobs have one row a node, without a pod. GPU "
            "columns are means over its GPUs.",
            source="the same as of the table of workloads, before it is summed.",
            good="Pods of one job look alike.",
            do="A pod that differs: open its node, or see below how its containers ended.",
        ),
        columns=(
            *_pod_columns(),
            LabelColumn(label="phase", title="Phase", texts=_PHASE_TEXTS),
            ValueColumn(
                title="Has a phase",
                expression=max_by(of_pods(workload.POD_PHASE), *workload.POD, "phase"),
                hidden=True,
            ),
            ValueColumn(title="GPUs", expression=gpus, unit=Unit.COUNT, decimals=2),
            ValueColumn(
                title="GPU activity",
                expression=ratio(_summed(workload.POD_COMPUTE_ACTIVE), gpus),
                unit=Unit.RATIO,
                cell=Cell.COLORED_TEXT,
                thresholds=low,
                decimals=0,
            ),
            ValueColumn(
                title="GPU memory",
                expression=ratio(_summed(workload.POD_GPU_MEMORY_USED), _summed(workload.POD_GPU_MEMORY_TOTAL)),
                unit=Unit.RATIO,
                decimals=0,
            ),
            ValueColumn(title="CPUs", expression=_summed(workload.POD_CPU), unit=Unit.COUNT, decimals=1),
            ValueColumn(title="Memory", expression=_summed(workload.POD_MEMORY), unit=Unit.BYTES),
            ValueColumn(
                title="Restarts",
                expression=_summed(workload.POD_RESTARTS),
                unit=Unit.COUNT,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.OK, steps=((1, palette.WARN),)),
            ),
        ),
        sort_by="GPUs",
        paginate=True,
        no_value="No pod matches",
    )


def pod_phases() -> StateTimeline:
    """The phase of each pod over time."""
    coded = first_of(
        *(
            max_by(of_pods(workload.POD_PHASE, phase=word), "cluster", "namespace", "pod") * int(code)
            for code, (word, _) in _PHASES.items()
        )
    )
    return StateTimeline(
        key="pod_phases",
        title="Phase of each pod",
        explanation=Explanation(
            shows="A bar for each pod: pending, running, succeeded or failed, over time. Marks across all graphs are "
            "restarts of containers.",
            source=_KSM,
            good="Short pending, then running.",
            do="Pending for long: see the table of pods that wait. Running with many marks: see how containers ended.",
        ),
        queries=(Query(expression=coded, legend="{{namespace}} {{pod}}"),),
        width=24,
        height=16,
        texts={code: ValueText(word, color) for code, (word, color) in _PHASES.items()},
        no_value=_NO_PODS,
    )


def pods_that_wait() -> Table:
    """Pods that do not run, with the reason and what they asked for."""
    waiting = of_pods(workload.POD_PHASE, Matcher("phase", "=~", "Pending|Failed|Unknown"))
    reasons = max_by(of_pods(workload.POD_WAITING), *workload.POD, "container", "reason")
    return Table(
        key="pods_that_wait",
        title="Pods and containers that do not run",
        explanation=Explanation(
            shows="Pods that are pending, failed or unknown, and containers that wait, with the reason that kubelet "
            "gives and the GPUs or MIG instances that the pod asked for.",
            source=_KSM,
            good="The table is empty.",
            do="No reason and pending: no node has room for the request, or a queue holds it back. ImagePullBackOff: "
            "name or access of the image. CrashLoopBackOff: see the last exit code beside.",
        ),
        columns=(
            *_pod_columns(),
            LabelColumn(label="phase", title="Phase", texts=_PHASE_TEXTS),
            LabelColumn(label="container", title="Container"),
            LabelColumn(label="reason", title="Reason"),
            LabelColumn(label="resource", title="Asked for"),
            ValueColumn(title="Waits", expression=max_by(waiting, *workload.POD, "phase"), hidden=True),
            ValueColumn(title="Has a reason", expression=reasons, hidden=True),
            ValueColumn(
                title="Requested",
                expression=max_by(of_pods(workload.POD_GPU_REQUEST), *workload.POD, "resource").and_(
                    waiting, on=workload.POD
                ),
                unit=Unit.COUNT,
            ),
        ),
        paginate=True,
        no_value="None: every pod runs or succeeded",
    )


def container_exits() -> Table:
    """How containers ended the last time."""
    return Table(
        key="container_exits",
        title="How containers ended last",
        explanation=Explanation(
            shows="For each container that ended at least once: restarts since its pod began, and the last reason and "
            "exit code.",
            source=_KSM,
            good="The table is empty, or all ended with code 0.",
            do="137 with OOMKilled: over the memory limit. 137 without: killed from outside, such as a drained node. "
            "139 and 134: a crash in native code; look for XID errors at that time. 1: the program's own error, in "
            "its log.",
        ),
        columns=(
            *_pod_columns(),
            LabelColumn(label="container", title="Container"),
            LabelColumn(label="reason", title="Reason"),
            LabelColumn(label="exit_code", title="Exit code"),
            ValueColumn(
                title="Ended",
                expression=max_by(of_pods(workload.POD_EXIT), *workload.POD, "container", "reason", "exit_code"),
                hidden=True,
            ),
            ValueColumn(
                title="Restarts",
                expression=max_by(of_pods(workload.POD_RESTARTS), *workload.POD, "container").compare(">", 0),
                unit=Unit.COUNT,
            ),
        ),
        sort_by="Restarts",
        paginate=True,
        no_value="None: no container ended yet",
    )


def pod_start_times() -> Table:
    """Where the time of a start went."""

    def at(event: str) -> Vector:
        return max_by(of_pods(workload.POD_TIME, event=event), *workload.POD)

    return Table(
        key="pod_start_times",
        title="Where start time went",
        explanation=Explanation(
            shows="For each pod: how long it waited for a node, and how long from there until it was ready, which is "
            "pulling of images, starting, and loading of a model.",
            source=_KSM,
            good="Seconds until scheduled; minutes until ready for a large model.",
            do="Long until scheduled: the queue, or no free GPUs. Long until ready: large images without a cache, or "
            "weights from a slow file system.",
        ),
        columns=(
            *_pod_columns(),
            ValueColumn(title="Created", expression=at("created") * 1000, unit=Unit.TIMESTAMP),
            ValueColumn(title="Until scheduled", expression=at("scheduled") - at("created"), unit=Unit.SECONDS),
            ValueColumn(title="Until ready", expression=at("ready") - at("scheduled"), unit=Unit.SECONDS),
        ),
        sort_by="Until ready",
        paginate=True,
        no_value=_NO_PODS,
    )
