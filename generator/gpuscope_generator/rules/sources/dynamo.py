"""NVIDIA Dynamo: its front end, which counts what users see, its workers' caches, and its router."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope_generator.external import dynamo
from gpuscope_generator.normalized import inference, latency, serving
from gpuscope_generator.promql import Matcher, avg_by, sum_by, with_zero
from gpuscope_generator.rules.model import Recording, RuleFile, recording
from gpuscope_generator.rules.sources.labels import first_label
from gpuscope_generator.rules.sources.serving import Engine, engine_file
from gpuscope_generator.settings import Settings

__all__ = ["dynamo_rules"]

KEY = "dynamo"
_SERVED = ("cluster", "namespace", "pod", "model")
_ROUTED = ("cluster", "namespace", "model")
_GOOD = Matcher("status", "=", "success")
_BAD = Matcher("status", "!=", "success")


def dynamo_rules(settings: Settings) -> RuleFile:
    """Rules of Dynamo's front ends, workers and routers."""
    front = Engine(key=KEY, settings=settings, model="model", parts=("endpoint", "request_type", "status"))
    worker = Engine(key=KEY, settings=settings, model="model", parts=("worker_id", "dynamo_component"))
    return engine_file(
        "dynamo",
        KEY,
        "Dynamo (1.x)",
        settings,
        lambda: [
            front.info(front.levels([dynamo.IN_FLIGHT]).or_(worker.levels([dynamo.WORKER_IN_FLIGHT]))),
            *_front(front),
            *worker.cache(worker.levels([dynamo.CACHE_USED])),
            *_router(worker),
        ],
    )


def _front(engine: Engine) -> Iterator[Recording]:
    done = engine.total(engine.rates([dynamo.REQUESTS], _GOOD))
    failed = engine.total(engine.rates([dynamo.REQUESTS], _BAD), "error_type")
    yield engine.server(inference.POD_REQUESTS, done, outcome="success")
    yield engine.server(inference.POD_REQUESTS, with_zero(sum_by(failed, *_SERVED), done), outcome="error")
    # Older versions do not say which error it was.
    reason = first_label(failed, "reason", "error_type")
    yield engine.served(inference.ERRORS, sum_by(reason, *_SERVED, "reason"), layer="engine")
    waiting = engine.total(engine.levels([dynamo.QUEUED]))
    in_flight = engine.total(engine.levels([dynamo.IN_FLIGHT]))
    yield engine.server(inference.POD_RUNNING, in_flight - with_zero(waiting, in_flight))
    yield engine.server(inference.POD_WAITING, waiting)
    yield engine.tokens("prompt", [dynamo.INPUT_LENGTH.sums])
    yield engine.tokens("generation", [dynamo.OUTPUT_TOKENS])
    for series, histogram in (
        (latency.TIME_TO_FIRST_TOKEN, dynamo.TTFT),
        (latency.INTER_TOKEN, dynamo.ITL),
        (latency.REQUEST, dynamo.REQUEST_DURATION),
        (latency.PROMPT_LENGTH, dynamo.INPUT_LENGTH),
        (latency.OUTPUT_LENGTH, dynamo.OUTPUT_LENGTH),
    ):
        yield engine.histogram(series, [histogram])
    yield from engine.stage("request", [dynamo.REQUEST_DURATION])


def _router(engine: Engine) -> Iterator[Recording]:
    routed = sum_by(engine.total(engine.rates([dynamo.ROUTER_REQUESTS])), *_ROUTED)
    hits = avg_by(engine.mean(engine.levels([dynamo.ROUTER_HIT_RATE])), *_ROUTED)
    yield recording(serving.ROUTER_REQUESTS, routed, router=KEY, outcome="all")
    yield recording(serving.ROUTER_PREFIX_HITS, hits, router=KEY)
