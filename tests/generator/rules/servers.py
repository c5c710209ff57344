"""One load, told by every engine in its own words: the normalized numbers must not differ."""

from collections.abc import Mapping

LENGTH = 8
EVERY = "60s"
RULES = (
    "vllm", "sglang", "tgi", "triton", "trtllm", "dynamo", "hyperpod-inference", "level-model",
)  # fmt: skip
SOON = "6m"
"""When rates over five minutes are there."""
ENGINES = ("vllm", "sglang", "tgi", "triton", "trtllm", "dynamo")
SECONDS = {"0.5": 1.0, "1.0": 1.8, "+Inf": 2.0}
"""Requests a second by the time to the first token: the 90th percentile is one second."""


def where(pod: str, more: str = "") -> str:
    return f'cluster="c",namespace="s",pod="{pod}",instance="{pod}:8000",job="j"' + (f",{more}" if more else "")


def level(value: float, samples: int = LENGTH) -> str:
    return f"{value}x{samples}"


def rising(per_second: float, samples: int = LENGTH) -> str:
    return f"0+{per_second * 60:g}x{samples}"


def pod(name: str, workload: str) -> dict[str, str]:
    return {
        f'pod:info:union{{cluster="c",namespace="s",pod="{name}",node="n1",workload_kind="Deployment",'
        f'workload="{workload}",team="",queue=""}}': level(1)
    }


def histogram(name: str, labels: str, buckets: Mapping[str, float], mean: float = 0.25) -> dict[str, str]:
    total = buckets["+Inf"]
    found = {f'{name}_bucket{{{labels},le="{bound}"}}': rising(count) for bound, count in buckets.items()}
    return found | {f"{name}_count{{{labels}}}": rising(total), f"{name}_sum{{{labels}}}": rising(total * mean)}


def vllm(name: str = "p-vllm", *, prefix: str = "vllm:", part: str = "0", old: bool = False) -> dict[str, str]:
    base = where(name, f'model_name="m",engine="{part}"')
    cache = "gpu_cache_usage_perc" if old else "kv_cache_usage_perc"
    between = "time_per_output_token_seconds" if old else "inter_token_latency_seconds"
    finished = {"stop": 1.5, "length": 0.5} | ({} if old else {"error": 0.0, "abort": 0.0})
    return {
        f"{prefix}num_requests_running{{{base}}}": level(8),
        f"{prefix}num_requests_waiting{{{base}}}": level(2),
        f"{prefix}{cache}{{{base}}}": level(0.5),
        f"{prefix}prompt_tokens_total{{{base}}}": rising(400),
        f"{prefix}generation_tokens_total{{{base}}}": rising(100),
        **{
            f'{prefix}request_success_total{{{base},finished_reason="{reason}"}}': rising(rate)
            for reason, rate in finished.items()
        },
        **histogram(f"{prefix}time_to_first_token_seconds", base, SECONDS),
        **histogram(f"{prefix}{between}", base, SECONDS),
        **histogram(f"{prefix}request_queue_time_seconds", base, SECONDS),
    }


def sglang(name: str = "p-sglang") -> dict[str, str]:
    base = where(name, 'model_name="m",engine_type="unified"')
    found = {
        f"sglang:num_aborted_requests_total{{{base}}}": rising(0),
        **histogram("sglang:time_to_first_token_seconds", base, SECONDS),
        **histogram("sglang:inter_token_latency_seconds", base, SECONDS),
        **histogram("sglang:queue_time_seconds", base, SECONDS),
    }
    for streaming, share in (("true", 0.75), ("false", 0.25)):
        split = f'{base},is_streaming="{streaming}"'
        found |= {
            f"sglang:num_requests_total{{{split}}}": rising(2 * share),
            f"sglang:prompt_tokens_total{{{split}}}": rising(400 * share),
            f"sglang:generation_tokens_total{{{split}}}": rising(100 * share),
        }
    for rank in (0, 1):
        of_rank = f'{base},tp_rank="{rank}",pp_rank="0",dp_rank="0"'
        found |= {
            f"sglang:num_running_reqs{{{of_rank}}}": level(8),
            f"sglang:num_queue_reqs{{{of_rank}}}": level(2),
            f"sglang:token_usage{{{of_rank}}}": level(0.5),
        }
    return found


def tgi(name: str = "p-tgi") -> dict[str, str]:
    base = where(name)
    return {
        f"tgi_batch_current_size{{{base}}}": level(8),
        f"tgi_queue_size{{{base}}}": level(2),
        f"tgi_request_success{{{base}}}": rising(2),
        **histogram("tgi_request_queue_duration", base, SECONDS),
        **histogram("tgi_request_input_length", base, {"100": 0.0, "+Inf": 2.0}, mean=200),
        **histogram("tgi_request_generated_tokens", base, {"100": 2.0, "+Inf": 2.0}, mean=50),
        **histogram("tgi_batch_forward_duration", f'{base},method="decode"', SECONDS),
    }


def triton(name: str = "p-triton") -> dict[str, str]:
    base = where(name, 'model="m",version="1"')
    milliseconds = {"500": 1.0, "1000": 1.8, "+Inf": 2.0}
    return {
        f"nv_inference_request_success{{{base}}}": rising(2),
        f'nv_inference_request_failure{{{base},reason="BACKEND"}}': rising(0),
        f"nv_inference_pending_request_count{{{base}}}": level(2),
        f"nv_inference_queue_duration_us{{{base}}}": rising(2 * 250_000),
        **histogram("nv_inference_first_response_histogram_ms", base, milliseconds),
    }


def trtllm(name: str = "p-trtllm") -> dict[str, str]:
    base = where(name, 'model_name="m",engine_type="undefined"')
    return {
        f"trtllm_num_requests_running{{{base}}}": level(8),
        f"trtllm_num_requests_waiting{{{base}}}": level(2),
        f"trtllm_kv_cache_utilization{{{base}}}": level(0.5),
        f"trtllm_tokens_per_second{{{base}}}": level(100),
        f'trtllm_request_success_total{{{base},finished_reason="stop"}}': rising(1.5),
        f'trtllm_request_success_total{{{base},finished_reason="length"}}': rising(0.5),
        **histogram("trtllm_time_to_first_token_seconds", base, SECONDS),
        **histogram("trtllm_time_per_output_token_seconds", base, SECONDS),
        **histogram("trtllm_request_queue_time_seconds", base, SECONDS),
    }


def dynamo(name: str = "p-dynamo") -> dict[str, str]:
    base = where(name, 'model="m"')
    worker = where(f"{name}-worker", 'model="m",worker_id="7",dynamo_component="backend"')
    return {
        f"dynamo_frontend_inflight_requests{{{base}}}": level(10),
        f"dynamo_frontend_queued_requests{{{base}}}": level(2),
        f'dynamo_frontend_requests_total{{{base},endpoint="chat",request_type="stream",status="success"}}': rising(2),
        f"dynamo_frontend_output_tokens_total{{{base}}}": rising(100),
        f"dynamo_component_inflight_requests{{{worker}}}": level(8),
        f"dynamo_component_gpu_cache_usage_percent{{{worker}}}": level(0.5),
        **histogram("dynamo_frontend_time_to_first_token_seconds", base, SECONDS),
        **histogram("dynamo_frontend_inter_token_latency_seconds", base, SECONDS),
        **histogram("dynamo_frontend_input_sequence_tokens", base, {"100": 0.0, "+Inf": 2.0}, mean=200),
    }


def all_engines() -> dict[str, str]:
    found: dict[str, str] = {}
    for engine, told in zip(ENGINES, (vllm(), sglang(), tgi(), triton(), trtllm(), dynamo()), strict=True):
        found |= told | pod(f"p-{engine}", engine)
    return found | pod("p-dynamo-worker", "dynamo")
