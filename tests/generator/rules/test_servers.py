"""Model servers: the same load gives the same numbers, whichever engine tells it, and in which version."""

from collections.abc import Iterable
from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.servers import (
    ENGINES,
    EVERY,
    LENGTH,
    RULES,
    SOON,
    all_engines,
    histogram,
    level,
    pod,
    rising,
    vllm,
    where,
)

from gpuscope_generator.normalized import inference, latency
from gpuscope_generator.panels.serving_choice import quantile
from gpuscope_generator.promql import select, sum_by

VLLM = ("vllm", "level-model")
BOARD = {"engine": ".*", "model": ".*", "quantile": "90"}


def model(engine: str, more: str = "") -> str:
    name = "unknown" if engine == "tgi" else "m"
    return f'{{cluster="c",namespace="s",model="{name}",engine="{engine}",workload="{engine}"{more}}}'


def each(value: float, without: Iterable[str] = (), more: str = "") -> dict[str, float]:
    return {model(engine, more): value for engine in ENGINES if engine not in without}


def test_every_engine_tells_the_same_load(tmp_path: Path) -> None:
    def by_model(series: object, **equal: str) -> str:
        conditions = "".join(f',{label}="{value}"' for label, value in equal.items())
        labels = ", ".join((*inference.MODEL, *equal))
        return f'sum by ({labels}) ({series}{{cluster="c"{conditions}}})'

    def stage(series: str) -> str:
        return by_model(series, stage="queue")

    cluster = '{cluster="c"%s}'
    expect(
        tmp_path,
        all_engines(),
        {
            by_model("model:requests:rate5m", outcome="success"): each(2, more=',outcome="success"'),
            by_model("model:requests:rate5m", outcome="error"): each(0, more=',outcome="error"'),
            by_model("model:success:ratio_rate5m"): each(1),
            by_model("model:requests_running:sum"): each(8, without=["triton"]),
            by_model("model:requests_waiting:sum"): each(2),
            by_model("model:tokens:rate5m", kind="generation"): each(100, ["triton"], ',kind="generation"'),
            by_model("model:tokens:rate5m", kind="prompt"): each(400, ["triton", "trtllm"], ',kind="prompt"'),
            by_model("model:kv_cache_used:ratio_avg"): each(0.5, ["tgi", "triton"]),
            by_model("model:kv_cache_used:ratio_max"): each(0.5, ["tgi", "triton"]),
            f"round({stage('model:stage_seconds:rate5m')} / {stage('model:stage_requests:rate5m')}, 0.001)": each(
                0.25, ["dynamo"], ',stage="queue"'
            ),
            quantile(latency.TIME_TO_FIRST_TOKEN, 0.9): each(1, without=["tgi"]),
            quantile(latency.INTER_TOKEN, 0.9): each(1, without=["triton"]),
            quantile(latency.QUEUE, 0.9): each(1, without=["triton", "dynamo"]),
            "sum by (cluster, outcome) (cluster:inference_requests:rate5m)": {
                cluster % ',outcome="success"': 12,
                cluster % ',outcome="error"': 0,
                cluster % ',outcome="cancelled"': 0,
            },
        },
        at=SOON,
        every=EVERY,
        variables=BOARD,
        only=RULES,
    )


def test_names_of_2024_and_names_of_ray_are_read(tmp_path: Path) -> None:
    """Complaint 26: an engine renames its metrics, and panels go empty."""
    samples = (
        vllm("old", old=True) | pod("old", "old") | vllm("ray", prefix="ray_vllm_") | pod("ray", "ray") | vllm("new")
    )
    # Both names at once, as in the versions between: they must not count twice.
    base = where("new", 'model_name="m",engine="0"')
    samples[f"vllm:gpu_cache_usage_perc{{{base}}}"] = level(0.75)
    by_pod = "sum by (pod) (%s)"

    def times(value: float) -> dict[str, float]:
        return {f'{{pod="{name}"}}': value for name in ("old", "ray", "new")}

    expect(
        tmp_path,
        samples,
        {
            by_pod % "pod:kv_cache_used:ratio_max": times(0.5),
            by_pod % "pod:requests_running:sum": times(8),
            by_pod % 'pod:requests:rate5m{outcome="success"}': times(2),
            by_pod % 'pod:requests:rate5m{outcome="error"}': times(0),
            by_pod % "pod:server:union": times(1),
            quantile(latency.INTER_TOKEN, 0.9): {
                model("vllm").replace('workload="vllm"', f'workload="{name}"'): 1 for name in ("old", "ray")
            }
            | {'{cluster="c",namespace="s",model="m",engine="vllm"}': 1},
        },
        at=SOON,
        every=EVERY,
        variables=BOARD,
        only=VLLM,
    )


def test_shares_of_caches_are_never_added(tmp_path: Path) -> None:
    """Complaint 27: two parts with 40 % are no 80 %."""
    samples: dict[str, str] = {}
    for name, parts in (("a", (0.25, 0.75)), ("b", (0.0, 0.5))):
        samples |= pod(name, "chat")
        for part, used in enumerate(parts):
            base = where(name, f'model_name="m",engine="{part}"')
            samples |= {
                f"vllm:num_requests_running{{{base}}}": level(4),
                f"vllm:kv_cache_usage_perc{{{base}}}": level(used),
            }
    chat = model("vllm").replace('workload="vllm"', 'workload="chat"')
    expect(
        tmp_path,
        samples,
        {
            sum_by(select(inference.KV_MEAN), *inference.MODEL): {chat: 0.375},
            sum_by(select(inference.KV_MAX), *inference.MODEL): {chat: 0.75},
            sum_by(select(inference.RUNNING), *inference.MODEL): {chat: 16},
            sum_by(select(inference.REPLICAS), *inference.MODEL): {chat: 2},
        },
        at="2m",
        every=EVERY,
        only=VLLM,
    )


def test_two_scrapes_of_a_server_count_once(tmp_path: Path) -> None:
    twice = vllm("p") | {name.replace('job="j"', 'job="again"'): value for name, value in vllm("p").items()}
    expect(
        tmp_path,
        twice | pod("p", "vllm"),
        {
            sum_by(select(inference.RUNNING), *inference.MODEL): {model("vllm"): 8},
            sum_by(select(inference.REQUESTS, outcome="success"), *inference.MODEL): {model("vllm"): 2},
        },
        at=SOON,
        every=EVERY,
        only=VLLM,
    )


def test_requests_behind_a_front_end_count_once(tmp_path: Path) -> None:
    """A worker of Dynamo publishes vLLM's series too."""
    base = where("w", 'model="m",worker_id="1"')
    samples = vllm("w") | pod("w", "d") | {f"dynamo_component_inflight_requests{{{base}}}": level(8)}
    expect(
        tmp_path,
        samples,
        {
            'model:requests:rate5m{engine="vllm"}': None,
            'model:time_to_first_token_seconds_bucket:rate5m{engine="vllm"}': None,
            "sum by (workload) (model:kv_cache_used:ratio_avg)": {'{workload="d"}': 0.5},
        },
        at=SOON,
        every=EVERY,
        only=(*VLLM, "dynamo"),
    )


def test_failures_and_their_reasons(tmp_path: Path) -> None:
    base = where("p", 'model_name="m",engine="0"')
    other = where("shop", 'handler="/buy",method="POST",status="5xx"')
    samples = vllm("p") | pod("p", "vllm")
    samples |= {
        f'vllm:request_success_total{{{base},finished_reason="error"}}': rising(0.25),
        f'vllm:request_success_total{{{base},finished_reason="abort"}}': rising(0.125),
        f'vllm:admission_rejections_total{{{where("p")},model_name="m",reason="queue_full"}}': rising(0.25),
        f'http_requests_total{{{where("p")},handler="/v1",method="POST",status="5xx"}}': rising(0.5),
        f'http_requests_total{{{where("p")},handler="/v1",method="POST",status="2xx"}}': rising(2),
        f"http_requests_total{{{other}}}": rising(1),
    }
    expect(
        tmp_path,
        samples,
        {
            sum_by(select(inference.SUCCESS), *inference.MODEL): {model("vllm"): 0.8},
            "sum by (outcome) (model:requests:rate5m)": {
                '{outcome="success"}': 2,
                '{outcome="error"}': 0.5,
                '{outcome="cancelled"}': 0.125,
            },
            "sum by (layer, reason) (model:errors:rate5m)": {
                '{layer="engine",reason="error"}': 0.25,
                '{layer="engine",reason="abort"}': 0.125,
                '{layer="admission",reason="queue_full"}': 0.25,
                '{layer="http",reason="5xx"}': 0.5,
            },
        },
        at=SOON,
        every=EVERY,
        only=VLLM,
    )


def test_hyperpod_tells_requests_only_where_no_engine_does(tmp_path: Path) -> None:
    def called(name: str) -> dict[str, str]:
        base = (
            f'cluster="c",instance="op:8443",job="op",namespace="s",resource_name="{name}",pod_name="{name}",'
            'model_name="m",method="POST",uri="/invocations"'
        )
        return {
            f"model_invocations_total{{{base}}}": rising(2),
            f"model_concurrent_requests{{{base}}}": level(10),
            **histogram("model_ttfb_milliseconds", base, {"500.0": 1.0, "1000.0": 1.8, "+Inf": 2.0}),
        }

    samples = called("vllm") | called("mute") | vllm("vllm") | pod("vllm", "vllm")
    expect(
        tmp_path,
        samples,
        {
            'sum by (engine, workload) (model:requests:rate5m{outcome="success"})': {
                '{engine="vllm",workload="vllm"}': 2,
                '{engine="hyperpod",workload="mute"}': 2,
            },
            'sum by (workload) (model:success:ratio_rate5m{engine="hyperpod"})': {'{workload="mute"}': 1},
            quantile(latency.FIRST_BYTE, 0.9): {
                model("hyperpod").replace('workload="hyperpod"', f'workload="{name}"'): 1 for name in ("vllm", "mute")
            },
        },
        at=SOON,
        every=EVERY,
        variables=BOARD,
        only=(*VLLM, "hyperpod-inference"),
    )


def test_a_server_without_kubernetes_is_known_by_its_address(tmp_path: Path) -> None:
    samples = {'vllm:num_requests_running{instance="10.0.0.7:8000",job="v",model_name="m",engine="0"}': level(3)}
    expect(
        tmp_path,
        samples,
        {"sum by (pod, model) (pod:requests_running:sum)": {'{pod="10.0.0.7:8000",model="m"}': 3}},
        at="2m",
        every=EVERY,
        only=VLLM,
    )


def test_nothing_is_recorded_of_engines_that_are_not_there(tmp_path: Path) -> None:
    """Defects 12 and 15: missing stays missing, and is neither 0 nor 100 %."""
    nothing = {'up{job="x"}': f"1x{LENGTH}"}
    missing = '{__name__=~"(pod|model|cluster):.*"}'
    expect(tmp_path, nothing, {missing: None}, at=SOON, every=EVERY, only=(*RULES, "llm-d", "scaling"))
