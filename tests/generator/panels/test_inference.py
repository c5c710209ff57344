"""The Inference board: the number that each panel shows on known models."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.dashboards.inference import inference_board
from gpuscope_generator.normalized import latency as histograms
from gpuscope_generator.panels import (
    autoscaling,
    kv_cache,
    latency,
    objectives,
    replicas,
    routing,
    serving_efficiency,
    serving_load,
    serving_overview,
    tokens,
)
from gpuscope_generator.panels.serving_choice import quantile
from gpuscope_generator.promql import Expression
from gpuscope_generator.settings import Settings, Thresholds
from gpuscope_generator.view import Link, Noun, Panel, Prose, Table

NOW = Settings()
LENGTH = 12
BOARD = {"engine": ".*", "model": ".*", "quantile": "90"}
CHAT = 'cluster="c",namespace="s",model="llama",engine="vllm",workload="chat"'
CODE = 'cluster="c",namespace="s",model="coder",engine="sglang",workload="code"'
OF_CHAT = 'cluster="c",namespace="s",workload="chat"'
OWNED = 'workload_kind="Deployment",team="t",queue=""'


def shown(panel: Panel, index: int = 0) -> Expression:
    return panel.queries[index].expression


def column(table: Table, title: str) -> Expression:
    return next(one.expression for one in table.values if one.title == title)


def level(value: float) -> str:
    return f"{value}x{LENGTH}"


def buckets(name: str, labels: str, found: dict[str, float]) -> dict[str, str]:
    return {f'model:{name}_bucket:rate5m{{{labels},le="{le}"}}': level(rate) for le, rate in found.items()}


def models() -> dict[str, str]:
    """One model with two replicas on one node and four H100, and another whose requests all succeed."""
    found = {
        f'model:requests:rate5m{{{CHAT},outcome="success"}}': level(9),
        f'model:requests:rate5m{{{CHAT},outcome="error"}}': level(1),
        f'model:requests:rate5m{{{CODE},outcome="success"}}': level(6),
        f'model:requests:rate5m{{{CODE},outcome="error"}}': level(0),
        f"model:success:ratio_rate5m{{{CODE}}}": level(1),
        f"model:success:ratio_rate5m{{{CHAT}}}": level(0.9),
        f"model:info:union{{{CHAT}}}": level(1),
        f"model:replicas:count{{{CHAT}}}": level(2),
        f"model:requests_running:sum{{{CHAT}}}": level(12),
        f"model:requests_waiting:sum{{{CHAT}}}": level(3),
        f"model:kv_cache_used:ratio_avg{{{CHAT}}}": level(0.5),
        f"model:kv_cache_used:ratio_max{{{CHAT}}}": level(0.75),
        f'model:tokens:rate5m{{{CHAT},kind="generation"}}': level(2000),
        f'model:tokens:rate5m{{{CHAT},kind="prompt"}}': level(6000),
        f'workload:gpus:count{{{OF_CHAT},{OWNED},state="allocated"}}': level(4),
        f'workload:gpus_by_model:count{{{OF_CHAT},{OWNED},model="H100",state="allocated"}}': level(4),
        f"workload:gpu_power_watts:sum{{{OF_CHAT},{OWNED}}}": level(1000),
        f'workload:replicas:union{{{OF_CHAT},workload_kind="Deployment",state="wanted"}}': level(3),
        f'workload:replicas:union{{{OF_CHAT},workload_kind="Deployment",state="ready"}}': level(2),
        f'workload:replicas:union{{{OF_CHAT},workload_kind="Deployment",state="scaler_wanted"}}': level(3),
        f'workload:replicas:union{{{OF_CHAT},workload_kind="Deployment",state="maximum"}}': level(6),
        f'workload:autoscaler_metric:union{{{OF_CHAT},workload_kind="Deployment",metric="q",what="target"}}': level(10),
    }
    for pod, running, took in (("a", 3, 60), ("b", 9, 90)):
        of_pod = f'{CHAT},pod="{pod}"'
        found |= {
            f'pod:server:union{{{of_pod},node="n1"}}': level(1),
            f"pod:requests_running:sum{{{of_pod}}}": level(running),
        }
        for event, moment in (("created", 1000), ("ready", 1000 + took)):
            found[f'pod:timestamp_seconds:union{{{OF_CHAT},{OWNED},pod="{pod}",node="n1",event="{event}"}}'] = level(
                moment
            )
    return found | buckets("time_to_first_token_seconds", CHAT, {"0.5": 5, "1.0": 9, "2.5": 10, "+Inf": 10})


def chat(more: str = "", value: float = 1) -> dict[str, float]:
    return {f"{{{CHAT}{more}}}": value}


def test_figures_and_the_table_of_deployments(tmp_path: Path) -> None:
    table = serving_overview.active_deployments(NOW)
    both = {f"{{{CHAT}}}": 10.0, f"{{{CODE}}}": 6.0}
    expect(
        tmp_path,
        models(),
        {
            shown(serving_overview.requests_now()): {'{cluster="c"}': 16},
            shown(serving_overview.success_now(NOW)): {'{cluster="c"}': 0.9375},
            shown(serving_overview.concurrent_now()): {'{cluster="c"}': 15},
            column(table, "Replicas"): chat(value=2),
            column(table, "Wanted"): chat(value=3),
            column(table, "Nodes"): chat(value=1),
            column(table, "GPUs"): chat(value=4),
            column(table, "Requests a second"): both,
            column(table, "Success"): {f"{{{CHAT}}}": 0.9, f"{{{CODE}}}": 1},
            column(table, "TTFT p90"): chat(value=1),
            column(table, "KV cache"): chat(value=0.5),
            column(table, "Waiting"): chat(value=3),
            shown(tokens.token_throughput()): chat(value=2000),
            shown(tokens.token_throughput(), 1): chat(value=6000),
            shown(tokens.tokens_by_unit()): {f"{{{OF_CHAT}}}": 500},
            shown(tokens.tokens_by_unit(), 1): chat(value=1000),
            shown(serving_efficiency.tokens_by_watt()): {f"{{{OF_CHAT}}}": 2},
            shown(kv_cache.kv_cache(NOW)): chat(value=0.5),
            shown(kv_cache.kv_cache(NOW), 1): chat(value=0.75),
            shown(replicas.pods_and_nodes()): {f"{{{OF_CHAT}}}": 2},
            shown(replicas.pods_and_nodes(), 1): {f"{{{OF_CHAT}}}": 2},
            shown(replicas.pods_and_nodes(), 2): {f"{{{OF_CHAT}}}": 1},
            shown(replicas.load_balance()): {f'{{{CHAT},pod="a"}}': 0.5, f'{{{CHAT},pod="b"}}': 1.5},
            shown(autoscaling.autoscaler()): {f"{{{OF_CHAT}}}": 3},
            shown(autoscaling.autoscaler(), 2): {f"{{{OF_CHAT}}}": 6},
            shown(autoscaling.scaling_metric()): {f'{{{OF_CHAT},metric="q",what="target"}}': 10},
            shown(autoscaling.cold_start()): {f"{{{OF_CHAT}}}": 90},
        },
        at="5m",
        variables=BOARD,
        rules=False,
    )


def test_success_is_all_while_nothing_fails(tmp_path: Path) -> None:
    """Defect 12: the share was empty exactly when all was well."""
    expect(
        tmp_path,
        models(),
        {shown(serving_overview.success_now(NOW)): {'{cluster="c"}': 1}},
        at="5m",
        variables=BOARD | {"workload": "code"},
        rules=False,
    )


def test_token_throughput_is_a_rate_of_tokens_and_no_length_of_answers() -> None:
    """Defect 13."""
    queries = [str(query.expression) for query in tokens.token_throughput().queries]
    assert all("model:tokens:rate5m" in text and "histogram_quantile" not in text for text in queries)


def test_percentiles_of_known_buckets(tmp_path: Path) -> None:
    """Defects 14 and 15: the engine's own time to the first token, and p50, p90 and p99 of it."""
    panel = latency.time_to_first_token(NOW)
    assert [query.legend.split()[0] for query in panel.queries] == ["p50", "p90", "p99"]
    assert all("queue" not in str(query.expression) for query in panel.queries)
    quiet = buckets("time_to_first_token_seconds", CODE, {"0.5": 0, "+Inf": 0})
    busiest = shown(latency.time_to_first_token_spread())
    rows = {f'{{cluster="c",model="llama",engine="vllm",le="{le}"}}': 10 for le in ("2.5", "+Inf")}
    rows |= {f'{{cluster="c",model="llama",engine="vllm",le="{le}"}}': rate for le, rate in (("0.5", 5), ("1.0", 9))}
    expect(
        tmp_path,
        models() | quiet,
        {
            shown(panel, 0): chat(value=0.5),
            shown(panel, 1): chat(value=1.0),
            f"round({shown(panel, 2)}, 0.01)": chat(value=2.35),
            quantile(histograms.TIME_TO_FIRST_TOKEN): chat(value=1.0),
            busiest: rows,
        },
        at="5m",
        variables=BOARD,
        rules=False,
    )


def test_stages_are_means_that_add_up(tmp_path: Path) -> None:
    panel = latency.stages()
    samples = {}
    for stage, seconds in (("queue", 1), ("prefill", 4), ("decode", 15), ("request", 20)):
        samples |= {
            f'model:stage_seconds:rate5m{{{CHAT},stage="{stage}"}}': level(seconds),
            f'model:stage_requests:rate5m{{{CHAT},stage="{stage}"}}': level(10),
        }
    expected = {
        shown(panel, index): {f'{{cluster="c",stage="{stage}"}}': mean}
        for index, (stage, mean) in enumerate((("queue", 0.1), ("prefill", 0.4), ("decode", 1.5)))
    }
    expect(
        tmp_path,
        samples,
        {**expected, shown(panel, 3): None, shown(panel, 4): {'{cluster="c"}': 2}},
        at="5m",
        variables=BOARD,
        rules=False,
    )


def test_objectives_and_how_fast_the_budget_burns(tmp_path: Path) -> None:
    settings = Settings(thresholds=Thresholds(ttft_slo_seconds=2.0, slo_objective=0.96))
    share, burn = objectives.within_objective(settings), objectives.burn_rate(settings)
    coarse = buckets("time_to_first_token_seconds", CODE, {"1": 4, "2": 6, "10": 8, "+Inf": 8})
    expect(
        tmp_path,
        models() | coarse,
        {
            # Of chat 9 of 10 are known to be within: its next bound is above the objective.
            shown(share): {'{cluster="c"}': 15 / 18},
            f"round({shown(burn)}, 0.01)": {f"{{{CHAT}}}": 2.5, f"{{{CODE}}}": 6.25},
        },
        at="5m",
        settings=settings,
        variables=BOARD,
        only=("level-model",),
    )


def test_failures_of_the_range_by_reason(tmp_path: Path) -> None:
    reason = ',layer="engine",reason="error"'
    samples = {
        f"model:errors:rate5m{{{CHAT}{reason}}}": level(0.5),
        f'model:errors:rate5m{{{CHAT},layer="engine",reason="abort"}}': level(0),
    }
    expect(
        tmp_path,
        samples,
        {
            shown(serving_load.errors_by_reason()): {
                '{cluster="c",layer="engine",reason="error"}': 0.5,
                '{cluster="c",layer="engine",reason="abort"}': 0,
            },
            # Five samples, each for 30 s.
            shown(serving_load.errors_in_range(NOW)): chat(reason, 75),
        },
        at="5m",
        range_s=149,
        variables=BOARD,
        rules=False,
    )


def test_a_million_tokens_cost_what_their_gpus_cost(tmp_path: Path) -> None:
    priced = serving_efficiency.token_cost(Settings(prices={"H100": 3.6}))
    other = serving_efficiency.token_cost(Settings(prices={"A100": 1.5}))
    expect(
        tmp_path,
        models(),
        {
            # 4 GPUs at 3.6 an hour are 0.004 a second; 2,000 tokens a second.
            f"round({shown(priced)}, 0.0001)": {f"{{{OF_CHAT}}}": 2},
            f"round({shown(priced, 1)}, 0.0001)": {f"{{{OF_CHAT}}}": 0.5},
            shown(other): None,
        },
        at="5m",
        variables=BOARD,
        rules=False,
    )
    assert isinstance(serving_efficiency.token_cost(NOW), Prose)


def test_utilization_needs_a_known_peak(tmp_path: Path) -> None:
    panel = serving_efficiency.hardware_utilization()
    samples: dict[str, str] = {}
    for pod, workload, name in (("a", "chat", "NVIDIA H100 80GB HBM3"), ("x", "new", "NVIDIA X900")):
        base = f'cluster="c",namespace="s",model="llama",engine="vllm",workload="{workload}",pod="{pod}"'
        of_gpu = f'cluster="c",node="n1",gpu="0",uuid="GPU-{pod}"'
        samples |= {
            f"pod:flops_per_gpu:rate5m{{{base}}}": level(98.94e12),
            f"pod:memory_bytes_per_gpu:rate5m{{{base}}}": level(1.675e12),
            f'gpu:info:union{{{of_gpu},vendor="nvidia",model="{name}"}}': level(1),
            f'pod:gpu_share:ratio{{{of_gpu},namespace="s",{OWNED},workload="{workload}",pod="{pod}"}}': level(1),
        }
    expect(
        tmp_path,
        samples,
        {f"round({shown(panel)}, 0.001)": chat(value=0.1), f"round({shown(panel, 1)}, 0.001)": chat(value=0.5)},
        at="5m",
        variables=BOARD,
        only=("level-model",),
    )


def test_routers_of_llm_d_under_their_names(tmp_path: Path) -> None:
    for index, prefixes in enumerate(
        (("llm_d_epp",) * 3, ("inference_objective", "inference_extension", "inference_pool"))
    ):
        requests, extension, pool = prefixes
        base = 'cluster="c",namespace="s",pod="epp",instance="epp:9090",job="epp"'
        samples = {
            f'{requests}_request_total{{{base},model_name="llama",target_model_name="l"}}': f"0+120x{LENGTH}",
            f'{requests}_request_error_total{{{base},model_name="llama",error_code="Busy"}}': f"0+15x{LENGTH}",
            f'{extension}_scheduler_e2e_duration_seconds_bucket{{{base},le="0.001"}}': f"0+54x{LENGTH}",
            f'{extension}_scheduler_e2e_duration_seconds_bucket{{{base},le="+Inf"}}': f"0+60x{LENGTH}",
            f"{extension}_prefix_indexer_hit_ratio_sum{{{base}}}": f"0+15x{LENGTH}",
            f"{extension}_prefix_indexer_hit_ratio_count{{{base}}}": f"0+60x{LENGTH}",
            f'{extension}_flow_control_queue_size{{{base},model_name="llama"}}': level(3),
            f"{pool}_std_dev_kv_cache_utilization{{{base}}}": level(0.25),
        }
        routed, fit = routing.router_requests(), routing.router_fit()
        labels = '{cluster="c",router="llm-d",model="llama"}'
        whole_pool = '{cluster="c",namespace="s",router="llm-d"}'
        folder = tmp_path / str(index)
        folder.mkdir()
        expect(
            folder,
            samples,
            {
                shown(routed): {labels: 4},
                shown(routed, 1): {labels: 0.5},
                shown(routed, 2): {labels: 3},
                shown(routing.router_decisions(), 1): {whole_pool: 0.001},
                shown(fit): {whole_pool: 0.25},
                shown(fit, 1): {whole_pool: 0.25},
            },
            at="6m",
            variables=BOARD,
            only=("llm-d",),
        )


def test_no_panel_shows_anything_where_nothing_is_known(tmp_path: Path) -> None:
    queries = {
        query.expression: None
        for panel in inference_board(NOW).panels
        for query in panel.queries
        if panel.key != "sources"
    }
    expect(tmp_path, {'up{job="x"}': level(1)}, queries, at="5m", variables=BOARD, rules=False)


def test_links_lead_to_tasks_and_to_nodes() -> None:
    """The map of links: Inference leads to Task with workload and pod, and to Cluster with the node."""
    board = inference_board(NOW)
    links = [
        link
        for panel in board.panels
        for one in (panel.links, *(getattr(each, "links", ()) for each in getattr(panel, "columns", ())))
        for link in one
        if isinstance(link, Link)
    ]
    carried = {(link.board, name) for link in links for name in link.carry}
    assert {(Noun.TASK, "workload"), (Noun.TASK, "pod"), (Noun.CLUSTER, "node"), (Noun.INFERENCE, "model")} <= carried
    assert all("cluster" in link.carry for link in links)
