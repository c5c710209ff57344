"""What scales model servers: what an autoscaler wants, by which number, and how long a new replica takes."""

from __future__ import annotations

from gpuscope_generator.normalized import inference, serving, workload
from gpuscope_generator.panels.replicas import replicas_in
from gpuscope_generator.panels.serving_choice import OF_WORKLOAD, of_servers
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NAMESPACE, IN_POD, IN_WORKLOAD
from gpuscope_generator.promql import Vector, group_by, max_by, select, topk
from gpuscope_generator.view import Explanation, LineStyle, Link, Noun, Query, TimeSeries, Unit, line

__all__ = ["autoscaler", "cold_start", "scaling_metric"]

_CHOSEN = (IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD)
_POD = ("cluster", "namespace", "pod")
_ON_TASK = Link(
    "Pods of ${__field.labels.workload}",
    Noun.TASK,
    {"cluster": line("cluster"), "namespace": line("namespace"), "workload": line("workload")},
)


def autoscaler() -> TimeSeries:
    """What the autoscaler wants and has."""
    states = (("wanted", "scaler_wanted"), ("there", "scaler_current"), ("at most", "maximum"))
    return TimeSeries(
        key="autoscaler",
        title="Autoscaler: replicas wanted and there",
        explanation=Explanation(
            shows="Replicas that the HorizontalPodAutoscaler of a deployment wants, those that are there, and dashed "
            "the most that it may ask for. KEDA works through such an autoscaler too.",
            source="kube-state-metrics.",
            good="The two meet within the time that a replica takes to start.",
            do="Wanted stays above there: no GPU is free; see the Task board for pods that wait. Wanted at the dashed "
            "line: raise the maximum.",
        ),
        queries=tuple(
            Query(expression=topk(20, replicas_in(state)), legend=f"{word} {{{{workload}}}}") for word, state in states
        ),
        unit=Unit.COUNT,
        low=0,
        decimals=0,
        styles={"/^at most /": LineStyle(dashed=True)},
        no_value="No autoscaler acts on these deployments",
        links=(_ON_TASK,),
    )


def scaling_metric() -> TimeSeries:
    """What the autoscaler looks at."""
    found = max_by(select(serving.AUTOSCALER_METRIC, *_CHOSEN), *OF_WORKLOAD, "metric", "what")
    return TimeSeries(
        key="scaling_metric",
        title="Autoscaler: its metric against the target",
        explanation=Explanation(
            shows="The value by which a deployment is scaled (current), the value at which it asks for another replica "
            "(target, dashed), and what KEDA itself measured (scaler), each in the unit of that metric.",
            source="kube-state-metrics, and KEDA's operator.",
            good="Current stays near the target.",
            do="Far above for minutes: replicas come too late or not at all. Missing: the metric's source is gone, and "
            "nothing scales.",
        ),
        queries=(Query(expression=topk(20, found), legend="{{workload}} {{metric}} {{what}}"),),
        unit=Unit.COUNT,
        low=0,
        styles={"/ target$/": LineStyle(dashed=True)},
        no_value="No autoscaler acts on these deployments",
    )


def cold_start() -> TimeSeries:
    """How long a replica takes to be of use."""

    def moment(event: str) -> Vector:
        return max_by(select(workload.POD_TIME, *_CHOSEN, IN_POD, event=event), *_POD, "workload")

    servers = group_by(of_servers(inference.SERVER_INFO), *_POD)
    took = (moment("ready") - moment("created")).and_(servers, on=_POD)
    phases = max_by(of_servers(inference.POD_STARTUP), *OF_WORKLOAD, "phase")
    return TimeSeries(
        key="cold_start",
        title="Start of a replica",
        explanation=Explanation(
            shows="Time from the creation of a pod to its last readiness, the longest of a deployment's; and where the "
            "engine tells them the phases of its own start.",
            source="kube-state-metrics, and SGLang for the phases.",
            good="Shorter than the rise of a burst; one to three minutes is usual for large models.",
            do="Keep images and weights on the nodes, load weights in parallel, and cache compiled kernels. A pod that "
            "became ready anew counts from its creation, and looks slower than it was.",
        ),
        queries=(
            Query(expression=topk(20, max_by(took, *OF_WORKLOAD)), legend="{{workload}}"),
            Query(expression=phases, legend="{{workload}} {{phase}}"),
        ),
        unit=Unit.SECONDS,
        low=0,
        no_value="No pod of a model server is ready, or kube-state-metrics is absent",
        links=(_ON_TASK,),
    )
