"""From replicas of model servers to models, and from these to the cluster."""

from __future__ import annotations

from gpuscope_generator.external.gpu_peaks import PEAKS
from gpuscope_generator.normalized import gpu, inference, latency, workload
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Vector,
    avg_by,
    count_by,
    first_of,
    group_by,
    max_by,
    min_by,
    on,
    ratio,
    select,
    sum_by,
    with_zero,
)
from gpuscope_generator.rules.levels.bounds import SMALLEST, bounds_up_to
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["model_rules"]

_POD = ("cluster", "namespace", "pod")
_WHOLE = 0.99
"""A pod that holds less of a GPU shares it, and the GPU's peak says nothing about it."""


def model_rules(settings: Settings) -> RuleFile:
    """Rules of models and of clusters."""
    return RuleFile(
        path="recording/level-model.yaml",
        comment="From replicas of model servers to the models that they serve, and to clusters: sums of what can be "
        "added, means and maxima of shares.",
        groups=(
            Group(
                "gpuscope-level-model",
                settings.intervals.aggregate,
                (*_models(), *_objectives(settings), *_utilization(), *_clusters()),
            ),
        ),
    )


def _models() -> tuple[Recording, ...]:
    def summed(target: Gauge, of_replicas: Gauge, *more: str) -> Recording:
        return recording(target, sum_by(select(of_replicas), *inference.MODEL, *more))

    succeeded = select(inference.POD_REQUESTS, outcome="success")
    counted = select(inference.POD_REQUESTS, Matcher("outcome", "=~", "success|error"))
    return (
        recording(inference.MODEL_INFO, group_by(select(inference.SERVER_INFO), *inference.MODEL)),
        recording(inference.REPLICAS, count_by(select(inference.SERVER_INFO), *inference.MODEL)),
        summed(inference.REQUESTS, inference.POD_REQUESTS, "outcome"),
        recording(
            inference.SUCCESS,
            ratio(sum_by(succeeded, *inference.MODEL), sum_by(counted, *inference.MODEL)),
        ),
        summed(inference.RUNNING, inference.POD_RUNNING),
        summed(inference.WAITING, inference.POD_WAITING),
        summed(inference.TOKENS, inference.POD_TOKENS, "kind"),
        summed(inference.PREEMPTIONS, inference.POD_PREEMPTIONS),
        recording(inference.KV_MEAN, avg_by(select(inference.POD_KV_MEAN), *inference.MODEL)),
        recording(inference.KV_MAX, max_by(select(inference.POD_KV_MAX), *inference.MODEL)),
    )


def _objectives(settings: Settings) -> tuple[Recording, ...]:
    """Observations within their objective: of cumulative buckets the largest is that of the highest bound."""
    found: list[Recording] = []
    for objective, buckets, limit in (
        ("time_to_first_token", latency.TIME_TO_FIRST_TOKEN, settings.thresholds.ttft_slo_seconds),
        ("inter_token", latency.INTER_TOKEN, settings.thresholds.inter_token_slo_seconds),
    ):
        within = select(buckets, Matcher("le", "=~", bounds_up_to(max(limit, SMALLEST))))
        for result, vector in (("good", within), ("total", select(buckets, le="+Inf"))):
            found.append(recording(inference.SLO, max_by(vector, *inference.MODEL), objective=objective, result=result))
    ended = sum_by(select(inference.REQUESTS, Matcher("outcome", "=~", "success|error")), *inference.MODEL)
    succeeded = with_zero(sum_by(select(inference.REQUESTS, outcome="success"), *inference.MODEL), ended)
    found += [
        recording(inference.SLO, requests, objective="success", result=result)
        for result, requests in (("good", succeeded), ("total", ended))
    ]
    return tuple(found)


def _utilization() -> tuple[Recording, ...]:
    """Estimates of the engines over the peak of the pods' GPUs; a GPU model without a known peak gives nothing."""

    def mean(target: Gauge, estimate: Gauge, peaks: Vector) -> Recording:
        held = select(workload.POD_GPU_SHARE).compare(">", _WHOLE)
        of_pods = min_by(on(held, "*", max_by(peaks, *gpu.GPU), gpu.GPU, many="left"), *_POD)
        return recording(target, avg_by(ratio(select(estimate), of_pods, on=_POD, many="left"), *inference.MODEL))

    def peaks(values: tuple[float, ...]) -> Vector:
        return first_of(
            *(
                select(gpu.INFO, Matcher("model", "=~", one.models)) * value
                for one, value in zip(PEAKS, values, strict=True)
            )
        )

    return (
        mean(inference.FLOPS_UTILIZATION, inference.POD_FLOPS, peaks(tuple(one.flops for one in PEAKS))),
        mean(
            inference.MEMORY_UTILIZATION,
            inference.POD_MEMORY_TRAFFIC,
            peaks(tuple(one.memory_bytes for one in PEAKS)),
        ),
    )


def _clusters() -> tuple[Recording, ...]:
    return (
        recording(inference.CLUSTER_REQUESTS, sum_by(select(inference.REQUESTS), "cluster", "outcome")),
        recording(inference.CLUSTER_IN_FLIGHT, sum_by(select(inference.RUNNING), "cluster"), state="running"),
        recording(inference.CLUSTER_IN_FLIGHT, sum_by(select(inference.WAITING), "cluster"), state="waiting"),
        recording(inference.CLUSTER_TOKENS, sum_by(select(inference.TOKENS), "cluster", "kind")),
    )
