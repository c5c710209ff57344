"""TensorRT-LLM's own server. It counts generated tokens as a speed only, and prompts not at all."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope_generator.external import dynamo
from gpuscope_generator.external import tensorrt_llm as trtllm
from gpuscope_generator.normalized import inference, latency, serving
from gpuscope_generator.promql import Matcher, avg_by, with_zero
from gpuscope_generator.rules.model import Recording, RuleFile, recording
from gpuscope_generator.rules.sources.serving import Engine, engine_file
from gpuscope_generator.settings import Settings

__all__ = ["tensorrt_llm_rules"]

KEY = "trtllm"
_LEFT = "cancelled|abort"


def tensorrt_llm_rules(settings: Settings) -> RuleFile:
    """Rules of TensorRT-LLM's servers."""
    engine = Engine(key=KEY, settings=settings, parts=("finished_reason",), behind=dynamo.WORKER_IN_FLIGHT)
    return engine_file(
        "trtllm",
        KEY,
        "TensorRT-LLM (1.x)",
        settings,
        lambda: [
            engine.info(engine.levels([trtllm.RUNNING])),
            *_requests(engine),
            *_load(engine),
            *_histograms(engine),
        ],
    )


def _requests(engine: Engine) -> Iterator[Recording]:
    finished = [trtllm.FINISHED]
    done = engine.total(engine.not_behind(engine.rates(finished, Matcher("finished_reason", "!~", f"error|{_LEFT}"))))
    failed = engine.total(engine.not_behind(engine.rates(finished, Matcher("finished_reason", "=", "error"))))
    left = engine.total(engine.not_behind(engine.rates(finished, Matcher("finished_reason", "=~", _LEFT))))
    yield engine.server(inference.POD_REQUESTS, done, outcome="success")
    yield engine.server(inference.POD_REQUESTS, with_zero(failed, done), outcome="error")
    yield engine.server(inference.POD_REQUESTS, with_zero(left, done), outcome="cancelled")
    yield engine.served(inference.ERRORS, with_zero(failed, done), layer="engine", reason="error")
    yield engine.served(inference.ERRORS, with_zero(left, done), layer="engine", reason="cancelled")


def _load(engine: Engine) -> Iterator[Recording]:
    yield engine.server(inference.POD_RUNNING, engine.total(engine.not_behind(engine.levels([trtllm.RUNNING]))))
    yield engine.server(inference.POD_WAITING, engine.total(engine.not_behind(engine.levels([trtllm.WAITING]))))
    speed = engine.not_behind(engine.levels([trtllm.TOKENS_PER_SECOND]))
    yield engine.server(inference.POD_TOKENS, engine.total(speed), kind="generation")
    yield from engine.cache(engine.levels([trtllm.KV_USED]))
    hits = avg_by(
        engine.owned(engine.mean(engine.levels([trtllm.HIT_RATE]))), "cluster", "namespace", "model", "workload"
    )
    yield recording(inference.PREFIX_HITS, hits, engine=KEY, cache="local")


def _histograms(engine: Engine) -> Iterator[Recording]:
    for series, names in (
        (latency.TIME_TO_FIRST_TOKEN, [trtllm.TTFT]),
        (latency.INTER_TOKEN, [trtllm.INTER_TOKEN]),
        (latency.REQUEST, list(trtllm.E2E)),
    ):
        yield engine.histogram(series, names, counted_ahead=True)
    yield engine.histogram(latency.QUEUE, [trtllm.QUEUE])
    yield engine.histogram(latency.KV_TRANSFER, [trtllm.TRANSFER_TIME])
    yield engine.served(serving.TRANSFER_BYTES, engine.total(engine.rates([trtllm.TRANSFER_BYTES])))
    yield from engine.stage("queue", [trtllm.QUEUE])
    yield from engine.stage("request", trtllm.E2E)
