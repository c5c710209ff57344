"""llm-d's router: what it takes in, how fast it decides, and how evenly it spreads."""

from __future__ import annotations

from collections.abc import Sequence

from gpuscope_generator.external import llm_d
from gpuscope_generator.normalized import serving
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Histogram,
    Vector,
    first_of,
    label_replace,
    max_by,
    rate,
    ratio,
    sum_by,
    with_zero,
)
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.rules.sources.labels import first_label, labelled
from gpuscope_generator.rules.sources.serving import WINDOW
from gpuscope_generator.settings import Settings

__all__ = ["llm_d_rules"]

KEY = "llm-d"
_REPLICA = ("cluster", "namespace", "pod")
_MODEL = ("cluster", "namespace", "model")
_POOL = ("name",)
_REQUEST = ("target_model_name", "fairness_id", "priority")


def llm_d_rules(settings: Settings) -> RuleFile:
    """Rules of llm-d's routers, and of the Gateway API inference extension that it grew out of."""

    def placed(found: Sequence[Vector]) -> Vector:
        """Under the newest name, with cluster and pod."""
        newest = first_of(*found, on=(settings.cluster_label, "instance"))
        return first_label(clustered(newest, settings), "pod", "pod", "instance")

    def rates(names: Sequence[Counter]) -> list[Vector]:
        return [rate(of_source(one, settings, KEY), WINDOW) for one in names]

    def levels(names: Sequence[Gauge]) -> list[Vector]:
        return [of_source(one, settings, KEY) for one in names]

    def of_models(found: Sequence[Vector], *parts: str) -> Vector:
        """Sums over replicas of the router; each part once, although two scrapes tell it."""
        named = label_replace(placed(found), "model", "$1", "model_name", "(.*)")
        return sum_by(max_by(named, *_REPLICA, "model", *_REQUEST, *parts), *_MODEL)

    def of_pools(found: Sequence[Vector], *more: str) -> Vector:
        each = max_by(labelled(placed(found), model=""), *_REPLICA, "model", *_POOL, *more)
        return sum_by(each, *_MODEL, *more)

    def observed(histogram: Sequence[Histogram]) -> Vector:
        sums = of_pools(rates([one.sums for one in histogram]))
        return ratio(sums, of_pools(rates([one.counts for one in histogram])))

    every = of_models(rates(llm_d.REQUESTS))
    failed = with_zero(of_models(rates(llm_d.ERRORS), "error_code"), every)
    spread = max_by(labelled(placed(levels(llm_d.KV_SPREAD)), model=""), *_MODEL)
    decisions = of_pools(rates([one.buckets for one in llm_d.SCHEDULER_SECONDS]), "le")
    rules = (
        recording(serving.ROUTER_REQUESTS, every, router=KEY, outcome="all"),
        recording(serving.ROUTER_REQUESTS, failed, router=KEY, outcome="error"),
        recording(serving.ROUTER_SECONDS, decisions, router=KEY),
        recording(serving.ROUTER_PREFIX_HITS, observed(llm_d.HIT_RATIO), router=KEY),
        recording(serving.ROUTER_QUEUE, of_models(levels(llm_d.QUEUE)), router=KEY),
        recording(serving.ROUTER_SPREAD, spread, router=KEY),
    )
    return RuleFile(
        path="recording/llm-d.yaml",
        comment="From llm-d's router, and from the Gateway API inference extension before it, to routers.",
        groups=(Group("gpuscope-normalize-llm-d", settings.intervals.normalize, rules),),
    )
