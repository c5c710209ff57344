"""Bounds of the engines' histograms, and how observations spread over them when it is calm and in a burst."""

from gpuscope.simulate.cluster.curves import Spread, spread

__all__ = [
    "DECISION", "FIRST_MILLISECONDS", "FIRST_TOKEN", "HIT_RATIO", "HTTP", "LENGTH", "MILLISECONDS", "NIXL", "SGLANG",
    "STAGES", "TGI", "TOKEN_LATENCY", "VLLM", "WHOLE", "pair",
]  # fmt: skip

_TTFT = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
    20,
    40,
    80,
    160,
    640,
    2560,
)
_ITL = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
_LATENCY = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
_TOKENS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
_ITERATION = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384)
_SMALL = (0.001, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 5)
_BYTES = tuple(2.0**power for power in range(20, 36))
_FEW = (0.1, 0.5, 1.0)
_COUNTS = (1, 2, 5, 10, 20)


def pair(bounds: tuple[float, ...], calm: float, hot: float, sigma: float = 0.6) -> tuple[Spread, Spread]:
    """Observations about two medians: when it is calm, and in a burst."""
    return spread(bounds, calm, sigma), spread(bounds, hot, sigma)


VLLM = tuple(
    (name, text, *pair(bounds, calm, hot))
    for name, text, bounds, calm, hot in (
        ("time_to_first_token_seconds", "Histogram of time to first token in seconds.", _TTFT, 0.18, 6.0),
        ("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", _ITL, 0.022, 0.09),
        ("request_time_per_output_token_seconds", "Histogram of time per output token.", _ITL, 0.023,
         0.1),
        ("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", _LATENCY, 6.2, 31.0),
        ("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", _LATENCY, 0.02, 5.0),
        ("request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", _LATENCY, 0.15, 0.9),
        ("request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", _LATENCY, 5.8, 24.0),
        ("request_inference_time_seconds", "Histogram of time spent in RUNNING phase.", _LATENCY, 6.0, 25.0),
        ("request_prompt_tokens", "Number of prefill tokens processed.", _TOKENS, 1100, 1100),
        ("request_generation_tokens", "Number of generation tokens processed.", _TOKENS, 210, 210),
        ("request_max_num_generation_tokens", "Histogram of maximum number of tokens.", _TOKENS, 900,
         900),
        ("request_params_max_tokens", "Histogram of the max_tokens request parameter.", _TOKENS, 1000, 1000),
        ("request_params_n", "Histogram of the n request parameter.", _COUNTS, 1, 1),
        ("iteration_tokens_total", "Histogram of number of tokens per engine_step.", _ITERATION, 60, 700),
    )
)  # fmt: skip
"""(name, help, calm, in a burst) of vLLM's histograms."""

NIXL = tuple(
    (name, text, *pair(bounds, calm, hot))
    for name, text, bounds, calm, hot in (
        ("nixl_xfer_time_seconds", "Histogram of transfer duration for NIXL KV Cache transfers.", _SMALL, 0.03, 0.12),
        ("nixl_post_time_seconds", "Histogram of transfer post time for NIXL KV Cache transfers.", _SMALL, 0.004, 0.01),
        ("nixl_bytes_transferred", "Histogram of bytes transferred per NIXL KV Cache transfers.", _BYTES, 4e8, 4e8),
    )
)
"""The same of KV transfers."""

HTTP = pair(_FEW, 6.0, 30.0)

SGLANG = {
    "time_to_first_token_seconds": ("Histogram of time to first token in seconds.", *pair(_TTFT, 0.22, 5.0)),
    "inter_token_latency_seconds": ("Histogram of inter-token latency in seconds.", *pair(_ITL, 0.018, 0.08)),
    "e2e_request_latency_seconds": ("Histogram of End-to-end request latency in seconds.", *pair(_LATENCY, 8.0, 36.0)),
    "queue_time_seconds": ("Histogram of queueing time in seconds.", *pair(_LATENCY, 0.02, 4.0)),
    "prompt_tokens_histogram": ("Histogram of prompt token length.", *pair(_TOKENS, 900, 900)),
    "generation_tokens_histogram": ("Histogram of generation token length.", *pair(_TOKENS, 420, 420)),
}
"""SGLang's histograms."""

TGI = {
    "tgi_request_duration": pair(_LATENCY, 3.0, 14.0),
    "tgi_request_queue_duration": pair(_LATENCY, 0.02, 4.0),
    "tgi_request_validation_duration": pair(_SMALL, 0.001, 0.001),
    "tgi_request_inference_duration": pair(_LATENCY, 2.9, 10.0),
    "tgi_request_mean_time_per_token_duration": pair(_ITL, 0.02, 0.06),
    "tgi_request_generated_tokens": pair(_TOKENS, 140, 140),
    "tgi_request_input_length": pair(_TOKENS, 700, 700),
    "tgi_request_max_new_tokens": pair(_TOKENS, 512, 512),
}
"""TGI's histograms of requests."""

STAGES = {
    "prefill_waiting": pair(_LATENCY, 0.02, 4.0),
    "prefill_forward": pair(_LATENCY, 0.2, 0.8),
    "decode_forward": pair(_LATENCY, 7.0, 28.0),
}
"""Stages of a request in SGLang."""

TOKEN_LATENCY = pair(_ITL, 0.02, 0.08)
FIRST_TOKEN = pair(_TTFT, 0.15, 4.0)
WHOLE = pair(_LATENCY, 5.0, 22.0)
LENGTH = pair(_TOKENS, 600, 600)
MILLISECONDS = pair(tuple(1000 * bound for bound in _LATENCY), 900.0, 5200.0)
FIRST_MILLISECONDS = pair(tuple(1000 * bound for bound in _TTFT), 180.0, 2100.0)
"""What several engines observe."""

DECISION = pair((0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1), 0.0012, 0.004)
HIT_RATIO = pair(tuple(step / 10 for step in range(1, 11)), 0.45, 0.4, 0.3)
"""What a router observes."""
