"""Histograms of model servers as rates by bucket: observations a second that were at most ``le``."""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.normalized.inference import MODEL
from gpuscope_generator.promql import Gauge, gauge

__all__ = [
    "BATCH_TOKENS",
    "DECODE",
    "FIRST_BYTE",
    "INTER_TOKEN",
    "INVOCATION",
    "KV_TRANSFER",
    "OUTPUT_LENGTH",
    "PREFILL",
    "PROMPT_LENGTH",
    "QUEUE",
    "REQUEST",
    "TIME_TO_FIRST_TOKEN",
]


def _buckets(name: str, meaning: str, unit: Unit = Unit.NONE) -> Gauge:
    return gauge(f"model:{name}_bucket:rate5m", *MODEL, "le", unit=unit, meaning=meaning)


TIME_TO_FIRST_TOKEN = _buckets(
    "time_to_first_token_seconds",
    "Requests by time to the first token, which the engine itself measured; of others it is absent, as quantiles of "
    "queue and prefill do not add up.",
)
INTER_TOKEN = _buckets("inter_token_seconds", "Tokens by the time since the one before.")
REQUEST = _buckets("request_seconds", "Requests by their whole time.")
QUEUE = _buckets("queue_seconds", "Requests by the time in which they waited to be computed.")
PREFILL = _buckets("prefill_seconds", "Requests by the time in which their prompt was computed.")
DECODE = _buckets("decode_seconds", "Requests by the time in which their tokens were generated.")
PROMPT_LENGTH = _buckets("prompt_length_tokens", "Requests by tokens of their prompt.")
OUTPUT_LENGTH = _buckets("output_length_tokens", "Requests by tokens that were generated for them.")
BATCH_TOKENS = _buckets("batch_tokens", "Steps of the engine by tokens computed in one.")
KV_TRANSFER = _buckets("kv_transfer_seconds", "Transfers of a key-value cache from prefill to decode by their time.")
FIRST_BYTE = _buckets(
    "first_byte_seconds", "Calls of a model by the time to the first byte, as HyperPod's operator measures it."
)
INVOCATION = _buckets("invocation_seconds", "Calls of a model by their whole time, as HyperPod's operator measures it.")
