"""Triton Inference Server: durations are sums in microseconds, and its one histogram is in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope_generator.external import triton
from gpuscope_generator.normalized import inference, latency
from gpuscope_generator.promql import Counter, Matcher, Vector, ratio, sum_by, with_zero
from gpuscope_generator.rules.model import Recording, RuleFile, recording
from gpuscope_generator.rules.sources.labels import first_label
from gpuscope_generator.rules.sources.milliseconds import bounds_in_seconds
from gpuscope_generator.rules.sources.serving import Engine, engine_file
from gpuscope_generator.settings import Settings

__all__ = ["triton_rules"]

KEY = "triton"
_SERVED = ("cluster", "namespace", "pod", "model")
_BY_MODEL = ("cluster", "namespace", "model", "workload")
_CANCELED = "CANCELED"


def triton_rules(settings: Settings) -> RuleFile:
    """Rules of Triton's servers."""
    engine = Engine(key=KEY, settings=settings, model="model", parts=("version",))
    return engine_file(
        "triton",
        KEY,
        "Triton Inference Server (2.40 to 2.60)",
        settings,
        lambda: [
            engine.info(engine.rates([triton.SUCCESS])),
            *_requests(engine),
            *_times(engine),
            *_cache(engine),
        ],
    )


def _requests(engine: Engine) -> Iterator[Recording]:
    done = engine.total(engine.rates([triton.SUCCESS]))
    failed = engine.total(engine.rates([triton.FAILURES], Matcher("reason", "!=", _CANCELED)), "reason")
    left = engine.total(engine.rates([triton.FAILURES], Matcher("reason", "=", _CANCELED)))
    yield engine.server(inference.POD_REQUESTS, done, outcome="success")
    yield engine.server(inference.POD_REQUESTS, with_zero(sum_by(failed, *_SERVED), done), outcome="error")
    yield engine.server(inference.POD_REQUESTS, with_zero(left, done), outcome="cancelled")
    every = engine.total(engine.rates([triton.FAILURES]), "reason")
    yield engine.served(inference.ERRORS, first_label(every, "reason", "reason"), layer="engine")
    yield engine.server(inference.POD_WAITING, engine.total(engine.levels([triton.PENDING])))
    batch = ratio(_of_model(engine, triton.COUNT), _of_model(engine, triton.EXECUTIONS))
    yield recording(inference.BATCH_SIZE, batch, engine=KEY)


def _of_model(engine: Engine, *counters: Counter) -> Vector:
    found = engine.rates(counters)
    return sum_by(engine.owned(engine.total(found)), *_BY_MODEL)


def _times(engine: Engine) -> Iterator[Recording]:
    answered = engine.total(engine.rates([triton.SUCCESS]))
    compute = engine.total(engine.rates([triton.INFER_US]))
    for around in (triton.INPUT_US, triton.OUTPUT_US):
        compute = compute + engine.total(engine.rates([around]))
    for stage, microseconds in (
        ("queue", engine.total(engine.rates([triton.QUEUE_US]))),
        ("inference", compute),
        ("request", engine.total(engine.rates([triton.REQUEST_US]))),
    ):
        yield engine.served(inference.STAGE_SECONDS, microseconds / 1_000_000, stage=stage)
        yield engine.served(inference.STAGE_REQUESTS, answered, stage=stage)
    first = engine.rates([triton.FIRST_RESPONSE.buckets])
    yield engine.served(latency.TIME_TO_FIRST_TOKEN, engine.total(bounds_in_seconds(first), "le"))


def _cache(engine: Engine) -> Iterator[Recording]:
    hits = _of_model(engine, triton.CACHE_HITS)
    lookups = hits + _of_model(engine, triton.CACHE_MISSES)
    yield recording(inference.PREFIX_HITS, ratio(hits, lookups), engine=KEY, cache="response")
