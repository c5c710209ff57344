"""vLLM, alone, under Ray Serve, or behind a front end of Dynamo; names since 2024."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope_generator.external import dynamo, vllm
from gpuscope_generator.normalized import inference, latency, serving
from gpuscope_generator.promql import (
    Counter,
    Matcher,
    Vector,
    avg_by,
    join,
    label_replace,
    rate,
    ratio,
    select,
    sum_by,
    with_zero,
)
from gpuscope_generator.promql.joins import one_of
from gpuscope_generator.rules.model import Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered
from gpuscope_generator.rules.sources.labels import first_label
from gpuscope_generator.rules.sources.serving import WINDOW, Engine, engine_file
from gpuscope_generator.settings import Settings

__all__ = ["vllm_rules"]

KEY = "vllm"
_FAILED = Matcher("finished_reason", "=", "error")
_LEFT = Matcher("finished_reason", "=", "abort")
_DONE = Matcher("finished_reason", "!~", "error|abort")
_POD = ("cluster", "namespace", "pod")


def vllm_rules(settings: Settings) -> RuleFile:
    """Rules of vLLM's servers."""
    engine = Engine(
        key=KEY, settings=settings, parts=("engine", "ReplicaId", "WorkerId"), behind=dynamo.WORKER_IN_FLIGHT
    )
    return engine_file(
        "vllm",
        KEY,
        "vLLM (0.6 to 0.33, also under Ray Serve)",
        settings,
        lambda: [
            engine.info(engine.levels(vllm.RUNNING)),
            *_requests(engine),
            *_errors(engine),
            *_load(engine),
            *_histograms(engine),
            *_caches(engine),
            *_transfers(engine),
        ],
    )


def _requests(engine: Engine) -> Iterator[Recording]:
    def ended(condition: Matcher) -> Vector:
        return engine.total(engine.not_behind(engine.rates(vllm.FINISHED, condition)), "finished_reason")

    def summed(found: Vector) -> Vector:
        return sum_by(found, *_POD, "model")

    done = summed(ended(_DONE))
    rejected = sum_by(_rejected(engine), *_POD, "model")
    yield engine.server(inference.POD_REQUESTS, done, outcome="success")
    yield engine.server(
        inference.POD_REQUESTS, with_zero(summed(ended(_FAILED)), done) + with_zero(rejected, done), outcome="error"
    )
    yield engine.server(inference.POD_REQUESTS, with_zero(summed(ended(_LEFT)), done), outcome="cancelled")
    for kind, names in (("prompt", vllm.PROMPT_TOKENS), ("generation", vllm.GENERATION_TOKENS)):
        yield engine.tokens(kind, names)


def _rejected(engine: Engine) -> Vector:
    return engine.total(engine.rates(vllm.REJECTED), "reason")


def _errors(engine: Engine) -> Iterator[Recording]:
    ended = engine.total(
        engine.rates(vllm.FINISHED, Matcher("finished_reason", "=~", "error|abort")), "finished_reason"
    )
    reason = first_label(ended, "reason", "finished_reason")
    yield engine.served(inference.ERRORS, sum_by(reason, *_POD, "model", "reason"), layer="engine")
    yield engine.served(inference.ERRORS, _rejected(engine), layer="admission")
    # Other web servers have a counter of that name: only those count that are vLLM's.
    settings = engine.settings
    answered = rate(engine.raw(vllm.HTTP_REQUESTS, Matcher("status", "=~", "[45].*")), WINDOW)
    own = answered.and_(engine.levels(vllm.RUNNING), on=(settings.cluster_label, "instance"))
    yield engine.http_errors(own, "status", "handler")


def _load(engine: Engine) -> Iterator[Recording]:
    yield engine.server(inference.POD_RUNNING, engine.total(engine.not_behind(engine.levels(vllm.RUNNING))))
    yield engine.server(inference.POD_WAITING, engine.total(engine.not_behind(engine.levels(vllm.WAITING))))
    yield engine.served(inference.WAITING_BY_REASON, engine.total(engine.levels(vllm.WAITING_BY_REASON), "reason"))
    yield engine.server(inference.POD_PREEMPTIONS, engine.total(engine.rates(vllm.PREEMPTIONS)))
    yield engine.server(inference.POD_FLOPS, engine.mean(engine.rates(vllm.FLOPS)))
    moved = engine.mean(engine.rates(vllm.READ_BYTES)) + engine.mean(engine.rates(vllm.WRITTEN_BYTES))
    yield engine.server(inference.POD_MEMORY_TRAFFIC, moved)
    states = engine.highest(engine.levels(vllm.SLEEP), "sleep_state").compare("==", 1)
    yield engine.server(
        inference.POD_SLEEP, sum_by(first_label(states, "state", "sleep_state"), *_POD, "model", "state")
    )
    lora = engine.levels(vllm.LORA)
    for label, name in (
        ("running", "running_lora_adapters"),
        ("waiting", "waiting_lora_adapters"),
        ("limit", "max_lora"),
    ):
        lora = label_replace(lora, label, "$1", name, "(.*)")
    # The series with the newest time is the one that holds; it names no model, so the server's is taken.
    placed = first_label(clustered(lora, engine.settings), "pod", "pod", "instance")
    newest = one_of(sum_by(placed, *_POD, "running", "waiting", "limit"), *_POD) * 0 + 1
    owned = join(newest, select(inference.SERVER_INFO, engine=KEY), on=_POD, take=("model", "workload"))
    yield recording(inference.POD_LORA, owned, engine=KEY)


def _histograms(engine: Engine) -> Iterator[Recording]:
    for series, names in (
        (latency.TIME_TO_FIRST_TOKEN, vllm.TTFT),
        (latency.INTER_TOKEN, vllm.INTER_TOKEN),
        (latency.REQUEST, vllm.E2E),
        (latency.PROMPT_LENGTH, vllm.PROMPT_LENGTH),
        (latency.OUTPUT_LENGTH, vllm.OUTPUT_LENGTH),
    ):
        yield engine.histogram(series, names, counted_ahead=True)
    for series, names in (
        (latency.QUEUE, vllm.QUEUE),
        (latency.PREFILL, vllm.PREFILL),
        (latency.DECODE, vllm.DECODE),
        (latency.BATCH_TOKENS, vllm.ITERATION),
    ):
        yield engine.histogram(series, names)
    for stage, names in (("queue", vllm.QUEUE), ("prefill", vllm.PREFILL), ("decode", vllm.DECODE)):
        yield from engine.stage(stage, names)
    yield from engine.stage("request", vllm.E2E)


def _caches(engine: Engine) -> Iterator[Recording]:
    yield from engine.cache(engine.levels(vllm.KV_USED))

    def tokens(names: tuple[Counter, ...]) -> Vector:
        return engine.total(engine.rates(names))

    for cache, queries, hits in (
        ("local", vllm.PREFIX_QUERIES, vllm.PREFIX_HITS),
        ("external", vllm.EXTERNAL_QUERIES, vllm.EXTERNAL_HITS),
    ):
        yield engine.served(inference.PREFIX_TOKENS, tokens(queries), cache=cache, result="queried")
        yield engine.served(inference.PREFIX_TOKENS, tokens(hits), cache=cache, result="hit")
        whole, part = (_by_model(engine, tokens(names)) for names in (queries, hits))
        found = ratio(part, whole)
        if cache == "local":
            rate_only = engine.owned(engine.mean(engine.levels(vllm.PREFIX_HIT_RATE)))
            found = found.or_(avg_by(rate_only, "cluster", "namespace", "model", "workload"))
        yield recording(inference.PREFIX_HITS, found, engine=KEY, cache=cache)
    yield engine.served(inference.SPECULATIVE_TOKENS, tokens(vllm.DRAFT_TOKENS), result="drafted")
    yield engine.served(inference.SPECULATIVE_TOKENS, tokens(vllm.ACCEPTED_TOKENS), result="accepted")


def _by_model(engine: Engine, found: Vector) -> Vector:
    return sum_by(engine.owned(found), "cluster", "namespace", "model", "workload")


def _transfers(engine: Engine) -> Iterator[Recording]:
    yield engine.histogram(latency.KV_TRANSFER, vllm.NIXL_TIME)
    moved = engine.total(engine.rates([one.sums for one in vllm.NIXL_BYTES]))
    yield engine.served(serving.TRANSFER_BYTES, moved)
    yield engine.served(serving.TRANSFER_FAILURES, engine.total(engine.rates(vllm.NIXL_FAILED)))
