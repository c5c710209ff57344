"""The Inference board: what is served, is it fast enough, and what limits it?"""

from __future__ import annotations

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
from gpuscope_generator.panels.annotations import firing_alerts, restarts, xid_errors
from gpuscope_generator.panels.health import data_health_row
from gpuscope_generator.panels.serving_choice import (
    DEPLOYMENT,
    ENGINE,
    QUANTILE,
    SERVED_MODEL,
    SERVER_POD,
    SERVING_NAMESPACE,
)
from gpuscope_generator.panels.variables import DATASOURCE, IN_NAMESPACE, IN_POD, IN_WORKLOAD, cluster_variable
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, Noun, Row

__all__ = ["inference_board"]

_SOURCES = (
    "vllm", "sglang", "tgi", "triton", "trtllm", "dynamo", "hyperpod-inference", "llm-d", "keda", "kube-state-metrics",
    "dcgm", "amd",
)  # fmt: skip


def inference_board(settings: Settings) -> Board:
    """The board for those who serve models."""
    return Board(
        noun=Noun.INFERENCE,
        title="Model Inference",
        description="Which models are served, do they answer fast and without errors, and what limits them?",
        variables=(
            DATASOURCE,
            cluster_variable(),
            SERVING_NAMESPACE,
            ENGINE,
            SERVED_MODEL,
            DEPLOYMENT,
            SERVER_POD,
            QUANTILE,
        ),
        rows=(*_requests(settings), *_limits(settings), *_fleet(), data_health_row(settings, _SOURCES)),
        annotations=(firing_alerts(), xid_errors(), restarts(IN_NAMESPACE, IN_WORKLOAD, IN_POD)),
    )


def _requests(settings: Settings) -> tuple[Row, ...]:
    """How it looks from outside."""
    return (
        Row(
            title="",
            panels=(
                serving_overview.requests_now(),
                serving_overview.success_now(settings),
                serving_overview.concurrent_now(),
            ),
        ),
        Row(title="Deployments", panels=(serving_overview.active_deployments(settings),)),
        Row(
            title="Requests",
            collapsed=True,
            panels=(
                serving_load.request_rate(),
                serving_load.success_rate(settings),
                serving_load.concurrent_requests(),
            ),
        ),
        Row(
            title="Latency",
            collapsed=True,
            panels=(
                latency.time_to_first_token(settings),
                latency.time_to_first_token_spread(),
                latency.inter_token_latency(settings),
                latency.request_latency(),
                latency.stages(),
                latency.first_byte(),
            ),
        ),
        Row(
            title="Objectives",
            collapsed=True,
            panels=(objectives.within_objective(settings), objectives.burn_rate(settings)),
        ),
        Row(
            title="Errors",
            collapsed=True,
            panels=(serving_load.errors_by_reason(), serving_load.errors_in_range(settings)),
        ),
    )


def _limits(settings: Settings) -> tuple[Row, ...]:
    """What it is made of, and what it runs into."""
    return (
        Row(
            title="Tokens",
            collapsed=True,
            panels=(
                tokens.token_throughput(),
                tokens.tokens_by_unit(),
                tokens.prompt_length(),
                tokens.output_length(),
            ),
        ),
        Row(
            title="Saturation",
            collapsed=True,
            panels=(
                kv_cache.kv_cache(settings),
                kv_cache.waiting_by_reason(),
                kv_cache.preemptions(),
                kv_cache.batch_tokens(),
            ),
        ),
        Row(title="Caches and speculation", collapsed=True, panels=(kv_cache.prefix_cache(), kv_cache.speculation())),
        Row(
            title="Efficiency and cost",
            collapsed=True,
            panels=(
                serving_efficiency.hardware_utilization(),
                serving_efficiency.tokens_by_watt(),
                serving_efficiency.token_cost(settings),
            ),
        ),
    )


def _fleet() -> tuple[Row, ...]:
    """The replicas, and what stands around them."""
    return (
        Row(
            title="Infrastructure",
            collapsed=True,
            panels=(replicas.pods_and_nodes(), replicas.load_balance(), replicas.engine_state()),
        ),
        Row(
            title="Routing",
            collapsed=True,
            panels=(routing.router_requests(), routing.router_decisions(), routing.router_fit()),
        ),
        Row(
            title="Prefill and decode on separate servers",
            collapsed=True,
            panels=(routing.kv_transfer_time(), routing.kv_transfers()),
        ),
        Row(
            title="Autoscaling",
            collapsed=True,
            panels=(autoscaling.autoscaler(), autoscaling.scaling_metric(), autoscaling.cold_start()),
        ),
    )
