"""HyperPod's inference operator: time to the first byte of every model, and requests of engines that tell nothing."""

from __future__ import annotations

from gpuscope_generator.external import hyperpod_inference as hyperpod
from gpuscope_generator.normalized import inference, latency
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Histogram,
    Matcher,
    Vector,
    group_by,
    label_replace,
    max_by,
    rate,
    select,
    sum_by,
    with_zero,
)
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import of_object, of_source
from gpuscope_generator.rules.sources.labels import first_label
from gpuscope_generator.rules.sources.milliseconds import bounds_in_seconds
from gpuscope_generator.rules.sources.serving import WINDOW
from gpuscope_generator.settings import Settings

__all__ = ["hyperpod_inference_rules"]

KEY = "hyperpod"
SOURCE = "hyperpod-inference"
_SERVED = ("cluster", "namespace", "workload", "pod", "model")
_MODEL = ("cluster", "namespace", "model", "workload")
_POD = ("cluster", "namespace", "pod")


def hyperpod_inference_rules(settings: Settings) -> RuleFile:
    """Rules of ``model_*``. A pod whose engine tells of its requests itself is left to the engine."""

    def named(found: Vector) -> Vector:
        placed = of_object(found, settings, "namespace")
        for label, own in (("workload", "resource_name"), ("pod", "pod_name"), ("model", "model_name")):
            placed = label_replace(placed, label, "$1", own, "(.*)")
        return placed

    def summed(found: Vector, *more: str) -> Vector:
        """One series a replica; two scrapes of the operator count once."""
        return sum_by(max_by(named(found), *_SERVED, "method", "uri", *more), *_SERVED, *more)

    def rated(counter: Counter) -> Vector:
        return rate(of_source(counter, settings, SOURCE), WINDOW)

    def buckets(histogram: Histogram) -> Vector:
        return sum_by(summed(bounds_in_seconds(rated(histogram.buckets)), "le"), *_MODEL, "le")

    def level(gauge: Gauge) -> Vector:
        return of_source(gauge, settings, SOURCE)

    engines = select(inference.SERVER_INFO, Matcher("engine", "!=", KEY))
    mute = summed(level(hyperpod.CONCURRENT)).unless(engines, on=_POD)
    every = summed(rated(hyperpod.INVOCATIONS)).unless(engines, on=_POD)
    errors = summed(rated(hyperpod.ERRORS), "status").unless(engines, on=_POD)
    failed = with_zero(sum_by(errors, *_SERVED), every)
    info = label_replace(group_by(mute, *_SERVED), "node", "", "", "")
    reasons = sum_by(first_label(errors, "reason", "status"), *_MODEL, "reason")
    rules = (
        recording(inference.SERVER_INFO, info, engine=KEY),
        recording(inference.POD_REQUESTS, every - failed, engine=KEY, outcome="success"),
        recording(inference.POD_REQUESTS, failed, engine=KEY, outcome="error"),
        recording(inference.ERRORS, reasons, engine=KEY, layer="http"),
        recording(inference.POD_RUNNING, mute, engine=KEY),
        recording(latency.FIRST_BYTE, buckets(hyperpod.FIRST_BYTE_MS), engine=KEY),
        recording(latency.INVOCATION, buckets(hyperpod.LATENCY_MS), engine=KEY),
    )
    return RuleFile(
        path="recording/hyperpod-inference.yaml",
        comment='From HyperPod\'s inference operator to models, with the label engine="hyperpod". Requests of a pod '
        "whose engine is known are left to the engine's own rules, so that none counts twice.",
        groups=(Group("gpuscope-normalize-hyperpod-inference", settings.intervals.normalize, rules),),
    )
