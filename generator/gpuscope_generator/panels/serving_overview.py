"""What is served, how much is asked of it, and does it answer: the top of the Inference board."""

from __future__ import annotations

from gpuscope_generator.normalized import inference, latency, serving, workload
from gpuscope_generator.panels.serving_choice import OF_WORKLOAD, of_models, of_servers, quantile, summed
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD
from gpuscope_generator.promql import Matcher, Vector, count_by, first_of, group_by, max_by, on, ratio, select, sum_by
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

__all__ = ["ENGINES", "active_deployments", "concurrent_now", "requests_now", "success_now"]

ENGINES = "the model servers themselves: vLLM, SGLang, TGI, Triton, TensorRT-LLM, Dynamo, or HyperPod's operator."
_NONE = "No model server is scraped (see Data health)"


def requests_now() -> Stat:
    """Requests a second."""
    return Stat(
        key="requests",
        title="Requests a second",
        explanation=Explanation(
            shows="Requests that ended in the last five minutes, a second, whatever their outcome.",
            source=ENGINES,
            good="It is what your users send at this hour.",
            do="0 while users complain: look at the gateway in front, and at the row Errors.",
        ),
        queries=(Query(expression=summed(inference.REQUESTS, "cluster")),),
        unit=Unit.REQUESTS_PER_SECOND,
        no_value=_NONE,
        width=8,
    )


def success_now(settings: Settings) -> Stat:
    """Share of requests that succeed."""
    objective = settings.thresholds.slo_objective
    succeeded = summed(inference.REQUESTS, "cluster", outcome="success")
    counted = sum_by(of_models(inference.REQUESTS, Matcher("outcome", "=~", "success|error")), "cluster")
    return Stat(
        key="success",
        title="Requests that succeed",
        explanation=Explanation(
            shows="Share of the requests of the last five minutes that were answered without an error. Requests whose "
            "client left are not counted. It is 100 % while nothing fails. SGLang counts no errors but failed KV "
            "transfers, so look at its http answers in the row Errors.",
            source=ENGINES,
            good=f"Above {objective:.1%}.",
            do="Open the row Errors for the reason. Rejected for a full queue: the row Saturation and autoscaling.",
        ),
        queries=(Query(expression=ratio(succeeded, counted)),),
        unit=Unit.RATIO,
        decimals=2,
        thresholds=Thresholds(base=palette.BAD, steps=((2 * objective - 1, palette.WARN), (objective, palette.OK))),
        no_value="No request in the last five minutes, or no model server is scraped",
        width=8,
    )


def concurrent_now() -> Stat:
    """Requests that are in the servers now."""
    running, waiting = summed(inference.RUNNING, "cluster"), summed(inference.WAITING, "cluster")
    return Stat(
        key="concurrent",
        title="Requests in progress",
        explanation=Explanation(
            shows="Requests that the servers compute, and those that wait inside them.",
            source=ENGINES,
            good="It follows the requests a second.",
            do="It rises while requests a second do not: they take longer. Open the rows Latency and Saturation.",
        ),
        queries=(Query(expression=first_of(running + waiting, running, waiting)),),
        unit=Unit.COUNT,
        decimals=0,
        no_value=_NONE,
        width=8,
    )


def _of_each(by_workload: Vector) -> Vector:
    """What is known of a deployment, for each model that it serves."""
    return on(summed(inference.REPLICAS) * 0, "+", by_workload, OF_WORKLOAD, many="left")


def active_deployments(settings: Settings) -> Table:
    """One row for each model and deployment."""
    limits = settings.thresholds
    chosen = (IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD)
    wanted = max_by(select(serving.REPLICAS, *chosen, state="wanted"), *OF_WORKLOAD)
    gpus = sum_by(select(workload.WORKLOAD_GPUS, *chosen, state="allocated"), *OF_WORKLOAD)
    placed = group_by(of_servers(inference.SERVER_INFO).compare("==", 1), *inference.MODEL, "node")
    where = {"cluster": cell("cluster"), "namespace": cell("namespace"), "workload": cell("workload")}
    on_task = Link("Its pods and GPUs", Noun.TASK, where)
    return Table(
        key="deployments",
        title="Active deployments",
        explanation=Explanation(
            shows="Each model that is served, by the deployment that serves it. Replicas are those that answer; wanted "
            "is what the Deployment or StatefulSet asks for. TTFT is the time to the first token, its 90th percentile. "
            "KV cache is the share in use of the memory for tokens of running requests, mean over replicas. A model is "
            "called unknown where its engine (TGI) does not tell it.",
            source=ENGINES + " Wanted replicas and the deployment's name come from kube-state-metrics, GPUs from who "
            "holds them.",
            good="As many replicas as wanted, success near 100 %, nothing waits.",
            do="Click a model to see it alone; a deployment leads to its pods and GPUs.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(
                label="model",
                title="Model",
                links=(Link("Only this model", Noun.INFERENCE, {**where, "model": cell("model")}),),
            ),
            LabelColumn(label="engine", title="Engine"),
            LabelColumn(
                label="workload",
                title="Deployment",
                links=(
                    on_task,
                    Link("Only this deployment", Noun.INFERENCE, where),
                ),
            ),
            ValueColumn(title="Replicas", expression=summed(inference.REPLICAS), unit=Unit.COUNT, links=(on_task,)),
            ValueColumn(title="Wanted", expression=_of_each(wanted), unit=Unit.COUNT),
            ValueColumn(title="Nodes", expression=count_by(placed, *inference.MODEL), unit=Unit.COUNT),
            ValueColumn(title="GPUs", expression=_of_each(gpus), unit=Unit.COUNT, decimals=1, links=(on_task,)),
            ValueColumn(
                title="Requests a second",
                expression=summed(inference.REQUESTS),
                unit=Unit.REQUESTS_PER_SECOND,
            ),
            ValueColumn(
                title="Success",
                expression=max_by(of_models(inference.SUCCESS), *inference.MODEL),
                unit=Unit.RATIO,
                decimals=2,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.WARN, steps=((limits.slo_objective, palette.OK),)),
            ),
            ValueColumn(
                title="TTFT p90",
                expression=quantile(latency.TIME_TO_FIRST_TOKEN, 0.9),
                unit=Unit.SECONDS,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.OK, steps=((limits.ttft_slo_seconds, palette.WARN),)),
            ),
            ValueColumn(
                title="KV cache",
                expression=max_by(of_models(inference.KV_MEAN), *inference.MODEL),
                unit=Unit.RATIO,
                decimals=0,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.OK, steps=((limits.kv_cache_high_ratio, palette.WARN),)),
            ),
            ValueColumn(title="Waiting", expression=summed(inference.WAITING), unit=Unit.COUNT, decimals=0),
        ),
        sort_by="Requests a second",
        paginate=True,
        no_value=_NONE,
    )
