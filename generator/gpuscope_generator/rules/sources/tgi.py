"""Text Generation Inference: no model, no time to the first token, and no counter of tokens but sums of histograms."""

from __future__ import annotations

from collections.abc import Iterator

from gpuscope_generator.external import tgi
from gpuscope_generator.normalized import inference, latency
from gpuscope_generator.promql import Matcher, avg_by, sum_by, with_zero
from gpuscope_generator.rules.model import Recording, RuleFile, recording
from gpuscope_generator.rules.sources.labels import first_label
from gpuscope_generator.rules.sources.serving import Engine, engine_file
from gpuscope_generator.settings import Settings

__all__ = ["tgi_rules"]

KEY = "tgi"
_SERVED = ("cluster", "namespace", "pod", "model")
_DECODE = Matcher("method", "=", "decode")


def tgi_rules(settings: Settings) -> RuleFile:
    """Rules of TGI's servers."""
    engine = Engine(key=KEY, settings=settings, model="")
    return engine_file(
        "tgi",
        KEY,
        "Text Generation Inference (2 and 3)",
        settings,
        lambda: [engine.info(engine.levels([tgi.WAITING])), *_requests(engine), *_load(engine), *_histograms(engine)],
    )


def _requests(engine: Engine) -> Iterator[Recording]:
    done = engine.total(engine.rates([tgi.SUCCESS]))
    failed = first_label(engine.total(engine.rates([tgi.FAILURES]), "err"), "reason", "err")
    yield engine.server(inference.POD_REQUESTS, done, outcome="success")
    yield engine.server(inference.POD_REQUESTS, with_zero(sum_by(failed, *_SERVED), done), outcome="error")
    yield engine.served(inference.ERRORS, sum_by(failed, *_SERVED, "reason"), layer="engine")
    yield engine.tokens("prompt", [tgi.INPUT_LENGTH.sums])
    yield engine.tokens("generation", [tgi.GENERATED.sums])


def _load(engine: Engine) -> Iterator[Recording]:
    batch = engine.total(engine.levels([tgi.BATCH]))
    yield engine.server(inference.POD_RUNNING, batch)
    yield engine.server(inference.POD_WAITING, engine.total(engine.levels([tgi.WAITING])))
    mean = avg_by(engine.owned(batch), "cluster", "namespace", "model", "workload")
    yield recording(inference.BATCH_SIZE, mean, engine=KEY)


def _histograms(engine: Engine) -> Iterator[Recording]:
    for series, histogram in (
        (latency.REQUEST, tgi.E2E),
        (latency.QUEUE, tgi.QUEUE),
        (latency.PROMPT_LENGTH, tgi.INPUT_LENGTH),
        (latency.OUTPUT_LENGTH, tgi.GENERATED),
    ):
        yield engine.histogram(series, [histogram])
    yield engine.histogram(latency.INTER_TOKEN, [tgi.FORWARD], _DECODE)
    for stage, histogram in (("queue", tgi.QUEUE), ("inference", tgi.INFERENCE), ("request", tgi.E2E)):
        yield from engine.stage(stage, [histogram])
