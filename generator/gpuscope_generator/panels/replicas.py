"""Replicas: how many, where, how evenly loaded, and what scales them."""

from __future__ import annotations

from gpuscope_generator.normalized import inference, serving
from gpuscope_generator.panels.serving_choice import OF_WORKLOAD, of_models, of_servers
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD
from gpuscope_generator.promql import (
    Matcher,
    Vector,
    avg_by,
    count_by,
    group_by,
    max_by,
    ratio,
    select,
    sum_by,
    topk,
)
from gpuscope_generator.view import (
    Explanation,
    LabelColumn,
    LineStyle,
    Link,
    Noun,
    Query,
    StatusHistory,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    cell,
    line,
    palette,
)

__all__ = ["engine_state", "load_balance", "pods_and_nodes", "replicas_in"]

_CHOSEN = (IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD)
_POD = ("cluster", "namespace", "pod")
_ON_TASK = Link(
    "Pods of ${__field.labels.workload}",
    Noun.TASK,
    {"cluster": line("cluster"), "namespace": line("namespace"), "workload": line("workload")},
)


def _serving() -> Vector:
    """1 for each deployment that serves a chosen model."""
    return group_by(of_models(inference.MODEL_INFO, Matcher("workload", "!=", "")), *OF_WORKLOAD)


def replicas_in(state: str) -> Vector:
    """Replicas of the deployments that serve a chosen model, in a state of `serving.REPLICAS`."""
    found = max_by(select(serving.REPLICAS, *_CHOSEN, state=state), *OF_WORKLOAD)
    return found.and_(_serving(), on=OF_WORKLOAD)


def pods_and_nodes() -> TimeSeries:
    """Pods that answer, pods that are ready, and the nodes that they are on."""
    servers = group_by(of_servers(inference.SERVER_INFO), *OF_WORKLOAD, "pod")
    nodes = group_by(of_servers(inference.SERVER_INFO), *OF_WORKLOAD, "node")
    return TimeSeries(
        key="pods_and_nodes",
        title="Active pods and their nodes",
        explanation=Explanation(
            shows="By deployment: pods whose engine answers (active), pods that Kubernetes calls ready, and the nodes "
            "that the active ones are on.",
            source="the engines' own series; ready pods from kube-state-metrics.",
            good="Active and ready are equal.",
            do="Ready above active: Prometheus does not scrape some pods, or their engine hangs. Active above ready: a "
            "readiness probe fails. Fewer than wanted: see the autoscaler, and the Task board for pods that wait.",
        ),
        queries=(
            Query(expression=topk(20, count_by(servers, *OF_WORKLOAD)), legend="active {{workload}}"),
            Query(expression=topk(20, replicas_in("ready")), legend="ready {{workload}}"),
            Query(expression=topk(20, count_by(nodes, *OF_WORKLOAD)), legend="nodes {{workload}}"),
        ),
        unit=Unit.COUNT,
        low=0,
        decimals=0,
        width=12,
        styles={"/^ready /": LineStyle(dashed=True)},
        links=(_ON_TASK,),
    )


def load_balance() -> StatusHistory:
    """Each replica's requests against the mean of its deployment."""
    mean = avg_by(of_models_running(), *inference.MODEL)
    share = ratio(sum_by(of_servers(inference.POD_RUNNING), *inference.SERVER), mean, on=inference.MODEL, many="left")
    return StatusHistory(
        key="load_balance",
        title="Load of each replica against the mean of its deployment",
        explanation=Explanation(
            shows="A row for each replica, a column for each time: its running requests over the mean of the replicas "
            "of the same model. 100 % is an even share. Without running requests there is no cell.",
            source="gauges of the engines. Triton does not tell running requests.",
            good="All cells have the color of an even share.",
            do="One row is hot: its requests are long, or the router sticks to it; look at Routing. One row is empty: "
            "open its pod.",
        ),
        queries=(Query(expression=topk(40, share), legend="{{pod}}", min_step="1m"),),
        unit=Unit.RATIO,
        decimals=0,
        low=0,
        width=12,
        thresholds=Thresholds(
            base=palette.IDLE, steps=((0.5, palette.NEUTRAL), (1.5, palette.WARN), (3.0, palette.BAD))
        ),
        no_value="No request runs, or the engine does not tell (Triton)",
        links=(
            Link(
                "Pod ${__field.labels.pod}",
                Noun.TASK,
                {"cluster": line("cluster"), "namespace": line("namespace"), "pod": line("pod")},
            ),
        ),
    )


def of_models_running() -> Vector:
    """Running requests of all replicas of the chosen models, whichever replica is chosen."""
    return sum_by(of_models(inference.POD_RUNNING), *inference.SERVER)


def engine_state() -> Table:
    """Where each replica is, whether it sleeps, and which adapters it has loaded."""
    where = {"cluster": cell("cluster"), "namespace": cell("namespace"), "workload": cell("workload")}
    info = group_by(of_servers(inference.SERVER_INFO), *inference.SERVER, "node")
    states = max_by(of_servers(inference.POD_SLEEP), *inference.SERVER, "state")
    adapters = max_by(of_servers(inference.POD_LORA), *inference.SERVER, "running", "waiting", "limit")
    return Table(
        key="engine_state",
        title="Replicas: node, sleep state and LoRA adapters",
        explanation=Explanation(
            shows="Each replica with its node, its requests, whether its engine sleeps (its weights then left the "
            "GPU), and which LoRA adapters it has in use, waits for, and may hold at once.",
            source="vLLM for sleep and adapters; the node from kube-state-metrics.",
            good="All are awake, and nothing waits for an adapter.",
            do="Adapters wait all the time: raise `max_loras`, or serve the adapters by separate deployments. A node's "
            "name leads to its health.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(label="workload", title="Deployment"),
            LabelColumn(label="pod", title="Pod", links=(Link("This pod", Noun.TASK, {**where, "pod": cell("pod")}),)),
            LabelColumn(
                label="node",
                title="Node",
                links=(
                    Link("Node on the cluster board", Noun.CLUSTER, {"cluster": cell("cluster"), "node": cell("node")}),
                ),
            ),
            LabelColumn(label="model", title="Model"),
            LabelColumn(label="engine", title="Engine"),
            LabelColumn(label="state", title="Sleep state"),
            LabelColumn(label="running", title="Adapters in use"),
            LabelColumn(label="waiting", title="Adapters waited for"),
            LabelColumn(label="limit", title="Adapters at once"),
            ValueColumn(title="Answers", expression=info, hidden=True),
            ValueColumn(
                title="Running",
                expression=sum_by(of_servers(inference.POD_RUNNING), *inference.SERVER),
                unit=Unit.COUNT,
                decimals=0,
            ),
            ValueColumn(
                title="Waiting",
                expression=sum_by(of_servers(inference.POD_WAITING), *inference.SERVER),
                unit=Unit.COUNT,
                decimals=0,
            ),
            ValueColumn(title="Has a state", expression=states, hidden=True),
            ValueColumn(title="Has adapters", expression=adapters, hidden=True),
        ),
        sort_by="Running",
        paginate=True,
        no_value="No model server is scraped",
    )
