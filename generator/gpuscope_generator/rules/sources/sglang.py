"""SGLang, alone, under Ray, or behind a front end of Dynamo. What tensor-parallel ranks repeat counts once."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope_generator.external import dynamo, sglang
from gpuscope_generator.normalized import inference, latency, serving
from gpuscope_generator.promql import Matcher, Vector, avg_by, ratio, sum_by, with_zero
from gpuscope_generator.rules.model import Recording, RuleFile, recording
from gpuscope_generator.rules.sources.serving import Engine, engine_file
from gpuscope_generator.settings import Settings

__all__ = ["sglang_rules"]

KEY = "sglang"
_STAGES = (("prefill", "prefill_forward"), ("decode", "decode_forward"))
_BY_MODEL = ("cluster", "namespace", "model", "workload")


def sglang_rules(settings: Settings) -> RuleFile:
    """Rules of SGLang's servers."""
    engine = Engine(
        key=KEY,
        settings=settings,
        parts=("dp_rank", "is_streaming", "ReplicaId", "WorkerId"),
        behind=dynamo.WORKER_IN_FLIGHT,
    )
    return engine_file(
        "sglang",
        KEY,
        "SGLang (0.4 and 0.5, also under Ray)",
        settings,
        lambda: [
            engine.info(engine.levels(sglang.RUNNING)),
            *_requests(engine),
            *_load(engine),
            *_histograms(engine),
            *_caches(engine),
        ],
    )


def _requests(engine: Engine) -> Iterator[Recording]:
    done = engine.total(engine.not_behind(engine.rates(sglang.REQUESTS)))
    left = engine.total(engine.not_behind(engine.rates(sglang.ABORTED)))
    broken = engine.total(engine.rates(sglang.TRANSFER_FAILED))
    yield engine.server(inference.POD_REQUESTS, done, outcome="success")
    yield engine.server(inference.POD_REQUESTS, with_zero(broken, done), outcome="error")
    yield engine.server(inference.POD_REQUESTS, with_zero(left, done), outcome="cancelled")
    yield engine.served(inference.ERRORS, left, layer="engine", reason="abort")
    yield engine.served(inference.ERRORS, broken, layer="engine", reason="kv_transfer")
    answered = engine.rates([sglang.HTTP_RESPONSES], Matcher("status_code", "=~", "[45].*"))
    yield engine.http_errors(answered, "status_code", "endpoint")
    yield engine.served(serving.TRANSFER_FAILURES, broken)
    for kind, names in (("prompt", sglang.PROMPT_TOKENS), ("generation", sglang.GENERATION_TOKENS)):
        yield engine.tokens(kind, names)


def _load(engine: Engine) -> Iterator[Recording]:
    yield engine.server(inference.POD_RUNNING, engine.total(engine.not_behind(engine.levels(sglang.RUNNING))))
    yield engine.server(inference.POD_WAITING, engine.total(engine.not_behind(engine.levels(sglang.WAITING))))
    for reason, names in (
        ("capacity", sglang.WAITING),
        ("retracted", sglang.RETRACTED),
        ("prefill_bootstrap", sglang.PREFILL_QUEUE),
        ("decode_preallocation", sglang.DECODE_QUEUE),
    ):
        yield engine.served(inference.WAITING_BY_REASON, engine.total(engine.levels(names)), reason=reason)
    yield engine.server(inference.POD_FLOPS, engine.mean(engine.rates(sglang.FLOPS)))
    read, written = (engine.mean(engine.rates(names)) for names in (sglang.READ_BYTES, sglang.WRITTEN_BYTES))
    yield engine.server(inference.POD_MEMORY_TRAFFIC, read + with_zero(written, read))
    yield engine.server(inference.POD_STARTUP, engine.highest(engine.levels(sglang.STARTUP), "phase"))


def _histograms(engine: Engine) -> Iterator[Recording]:
    for series, names in (
        (latency.TIME_TO_FIRST_TOKEN, sglang.TTFT),
        (latency.INTER_TOKEN, sglang.INTER_TOKEN),
        (latency.REQUEST, sglang.E2E),
        (latency.PROMPT_LENGTH, sglang.PROMPT_LENGTH),
        (latency.OUTPUT_LENGTH, sglang.OUTPUT_LENGTH),
    ):
        yield engine.histogram(series, names, counted_ahead=True)
    yield engine.histogram(latency.QUEUE, sglang.QUEUE)
    yield from engine.stage("queue", sglang.QUEUE)
    yield from engine.stage("request", sglang.E2E)
    for (stage, own), series in zip(_STAGES, (latency.PREFILL, latency.DECODE), strict=True):
        condition = Matcher("stage", "=", own)
        yield engine.histogram(series, sglang.STAGES, condition)
        yield from engine.stage(stage, sglang.STAGES, condition)


def _caches(engine: Engine) -> Iterator[Recording]:
    def by_model(found: Vector) -> Vector:
        return sum_by(engine.owned(found), *_BY_MODEL)

    yield from engine.cache(engine.levels(sglang.KV_USED))
    queried = engine.total(engine.rates(sglang.PROMPT_TOKENS))
    on_device = engine.total(engine.rates(sglang.CACHED_TOKENS, Matcher("cache_source", "=~", "|device")))
    elsewhere = engine.total(engine.rates(sglang.CACHED_TOKENS, Matcher("cache_source", "!~", "|device")))
    yield engine.served(inference.PREFIX_TOKENS, queried, cache="local", result="queried")
    yield engine.served(inference.PREFIX_TOKENS, on_device, cache="local", result="hit")
    yield engine.served(inference.PREFIX_TOKENS, elsewhere, cache="external", result="hit")
    only_rate = avg_by(engine.owned(engine.mean(engine.levels(sglang.HIT_RATE))), *_BY_MODEL)
    yield recording(
        inference.PREFIX_HITS, ratio(by_model(on_device), by_model(queried)).or_(only_rate), engine=KEY, cache="local"
    )
    yield recording(inference.PREFIX_HITS, ratio(by_model(elsewhere), by_model(queried)), engine=KEY, cache="external")
    gained = avg_by(engine.owned(engine.mean(engine.levels(sglang.ACCEPT_LENGTH))), *_BY_MODEL)
    yield recording(inference.SPECULATIVE_LENGTH, gained, engine=KEY)
    yield engine.served(inference.EVICTED_TOKENS, engine.total(engine.rates(sglang.EVICTED)))
