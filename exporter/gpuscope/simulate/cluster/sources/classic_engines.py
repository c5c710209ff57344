"""Text Generation Inference, and Triton."""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources.buckets import FIRST_MILLISECONDS, TOKEN_LATENCY
from gpuscope.simulate.cluster.sources.buckets import TGI as HISTOGRAMS
from gpuscope.simulate.cluster.sources.serving import Server, servers_of
from gpuscope.simulate.cluster.sources.target import Source, Target
from gpuscope.simulate.cluster.world import World

__all__ = ["TGI", "TRITON"]

_GENERATED = 160


def tgi_page(server: Server) -> str:
    """TGI's exposition; durations are in seconds, without saying so."""
    page = Page()
    normal, burst = server.counts()
    total = normal + burst
    running, waiting, full = server.load()
    page.counter("tgi_request_count").add(int(total))
    page.counter("tgi_request_success").add(int(total * 0.992))
    failed = page.counter("tgi_request_failure")
    failed.add(int(total * 0.006), err="validation")
    failed.add(int(burst * 0.01), err="overloaded")
    page.gauge("tgi_queue_size").add(waiting)
    page.gauge("tgi_batch_current_size").add(running)
    page.gauge("tgi_batch_current_max_tokens").add(int(200_000 * full))
    for name, (calm, hot) in HISTOGRAMS.items():
        page.histogram(name).observe(((calm, normal), (hot, burst)))
    calm, hot = TOKEN_LATENCY
    for method, count in (("prefill", 1), ("decode", _GENERATED)):
        for name in ("inference", "forward", "decode", "filter"):
            if name == "filter" and method == "prefill":
                continue
            page.histogram(f"tgi_batch_{name}_duration").observe(
                ((calm, normal * count), (hot, burst * count)), method=method
            )
        page.counter("tgi_batch_inference_count").add(int(total * count), method=method)
        page.counter("tgi_batch_inference_success").add(int(total * count), method=method)
    return page.text()


def triton_page(server: Server) -> str:
    """Triton's exposition; durations are sums in microseconds."""
    page = Page()
    normal, burst = server.counts()
    # A small vision model is asked much more often than a language model.
    total = int((normal + burst) * 40)
    base = labels(model=server.model, version="1")
    _, waiting, _ = server.load()
    for name, value, text in (
        ("request_success", total, "Number of successful inference requests, all batch sizes"),
        ("count", total * 4, "Number of inferences performed (does not include cached requests)"),
        ("exec_count", total // 2, "Number of model executions performed (does not include cached requests)"),
        ("request_duration_us", total * 9000 + int(burst * 40) * 60_000, "Cumulative inference request duration"),
        ("queue_duration_us", total * 500 + int(burst * 40) * 50_000, "Cumulative inference queuing duration"),
        ("compute_input_duration_us", total * 300, "Cumulative compute input duration in microseconds"),
        ("compute_infer_duration_us", total * 7800, "Cumulative compute inference duration in microseconds"),
        ("compute_output_duration_us", total * 300, "Cumulative compute output duration in microseconds"),
    ):
        page.counter(f"nv_inference_{name}", text).add(value, base)
    failure = page.counter("nv_inference_request_failure", "Number of failed inference requests, all batch sizes")
    for reason, share in (("REJECTED", 0.002), ("CANCELED", 0.001), ("BACKEND", 0.0005), ("OTHER", 0.0)):
        failure.add(int(total * share), base, reason=reason)
    page.gauge("nv_inference_pending_request_count", "Instantaneous number of pending requests awaiting execution").add(
        waiting, base
    )
    calm, hot = FIRST_MILLISECONDS
    page.histogram("nv_inference_first_response_histogram_ms", "Duration from request to first response.").observe(
        ((calm, normal), (hot, burst)), base
    )
    page.counter("nv_cache_num_hits_per_model", "Number of cache hits per model").add(total // 20, base)
    page.counter("nv_cache_num_misses_per_model", "Number of cache misses per model").add(total, base)
    gpu = server.machine.gpus()[-1] if server.machine.gpus() else None
    if gpu:
        own = labels(gpu_uuid=gpu.uuid)
        page.gauge("nv_gpu_utilization", "GPU utilization rate [0.0 - 1.0)").add(round(gpu.load.graphics, 4), own)
        page.gauge("nv_gpu_memory_total_bytes", "GPU total memory, in bytes").add(gpu.model.memory, own)
        page.gauge("nv_gpu_memory_used_bytes", "GPU used memory, in bytes").add(gpu.used_memory(), own)
        page.gauge("nv_gpu_power_usage", "GPU power usage in watts").add(round(gpu.power, 3), own)
    return page.text()


def _tgi_targets(world: World) -> list[Target]:
    return [server.target(partial(tgi_page, server)) for server in servers_of(world, "tgi")]


def _triton_targets(world: World) -> list[Target]:
    return [server.target(partial(triton_page, server)) for server in servers_of(world, "triton")]


TGI = Source("tgi", "tgi", "Text Generation Inference 3", _tgi_targets)
TRITON = Source("triton", "triton", "Triton Inference Server", _triton_targets)
