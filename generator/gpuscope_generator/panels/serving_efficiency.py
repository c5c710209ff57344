"""What serving makes of the hardware: share of its peak, tokens of a watt, and what a million tokens cost."""

from __future__ import annotations

from functools import reduce

from gpuscope_generator.external.gpu_peaks import PEAKS
from gpuscope_generator.normalized import inference, workload
from gpuscope_generator.panels.serving_choice import LEGEND, OF_WORKLOAD, model_links, of_models
from gpuscope_generator.panels.tokens import workload_tokens
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD
from gpuscope_generator.promql import Matcher, Vector, max_by, ratio, select, sum_by, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Explanation, LineStyle, Link, Noun, Panel, Prose, Query, TimeSeries, Unit, line

__all__ = ["hardware_utilization", "token_cost", "tokens_by_watt"]

_CHOSEN = (IN_CLUSTER, IN_NAMESPACE, IN_WORKLOAD)
_ON_TASK = Link(
    "Pods and GPUs of ${__field.labels.workload}",
    Noun.TASK,
    {"cluster": line("cluster"), "namespace": line("namespace"), "workload": line("workload")},
)
_MILLION = 1_000_000


def hardware_utilization() -> TimeSeries:
    """Share of the GPUs' peak operations and memory traffic."""
    return TimeSeries(
        key="hardware_utilization",
        title="Share of the GPU's peak: operations (MFU) and memory (MBU)",
        explanation=Explanation(
            shows="Floating-point operations that the model needs, as the engine estimates them, over the peak of the "
            "GPU in dense BF16; and dashed the memory traffic over the peak of its memory. Means over replicas. With "
            "FP8 weights the first may pass 100 %.",
            source="vLLM (started with `--enable-mfu-metrics`) and SGLang, over a table of peaks from data sheets of "
            f"{len(PEAKS)} GPU models. A GPU of another model, a MIG instance and a shared GPU give no line: their "
            "peak is not known, and is not guessed.",
            good="Decoding lives on memory: MBU of 40 to 70 %, MFU below 20 %. Prefill lives on operations: MFU of 30 "
            "to 50 %.",
            do="Both low under load: batches are small. Both low without load: fewer replicas would do; see how the "
            "workload uses its GPUs on the Task board.",
        ),
        queries=(
            Query(expression=max_by(of_models(inference.FLOPS_UTILIZATION), *inference.MODEL), legend=f"MFU {LEGEND}"),
            Query(expression=max_by(of_models(inference.MEMORY_UTILIZATION), *inference.MODEL), legend=f"MBU {LEGEND}"),
        ),
        unit=Unit.RATIO,
        low=0,
        width=12,
        styles={"/^MBU /": LineStyle(dashed=True)},
        no_value="No engine estimates it, or the peak of this GPU model is not known",
        links=model_links(),
    )


def tokens_by_watt() -> TimeSeries:
    """Generated tokens for a watt."""
    power = sum_by(select(workload.WORKLOAD_POWER, *_CHOSEN), *OF_WORKLOAD)
    return TimeSeries(
        key="tokens_by_watt",
        title="Generated tokens a second and watt",
        explanation=Explanation(
            shows="Generated tokens a second over the power of the GPUs that a deployment holds: the same as tokens "
            "for a joule.",
            source="counters of the engines, and power from the gpuscope agent, dcgm-exporter or AMD's exporter.",
            good="It rises with load, as an idle GPU draws power too.",
            do="Compare deployments of the same model: the lower one has smaller batches, or a GPU that suits it less.",
        ),
        queries=(Query(expression=topk(20, ratio(workload_tokens("generation"), power)), legend="{{workload}}"),),
        unit=Unit.COUNT,
        low=0,
        decimals=2,
        width=12,
        no_value="No engine here counts tokens, or the power of its GPUs is not known",
        links=(_ON_TASK,),
    )


def _cost_per_hour(settings: Settings) -> Vector:
    """Of deployments whose GPUs all have a price."""
    priced = [
        sum_by(
            select(workload.WORKLOAD_GPUS_BY_MODEL, *_CHOSEN, Matcher("model", "=", model), state="allocated"),
            *OF_WORKLOAD,
            "model",
        )
        * price
        for model, price in sorted(settings.prices.items())
    ]
    others = select(
        workload.WORKLOAD_GPUS_BY_MODEL,
        *_CHOSEN,
        *(Matcher("model", "!=", model) for model in sorted(settings.prices)),
        state="allocated",
    )
    return sum_by(reduce(Vector.or_, priced), *OF_WORKLOAD).unless(others, on=OF_WORKLOAD)


def token_cost(settings: Settings) -> Panel:
    """What a million tokens cost; without prices a text that says how to set them."""
    if not settings.prices:
        return Prose(
            key="token_cost",
            title="Cost of a million tokens is not shown",
            explanation=Explanation(
                shows="Why there is no cost here.",
                source="the settings of the generator.",
                good="Prices are set for every GPU model that serves.",
                do="Set `prices` in the settings and generate the boards anew.",
            ),
            width=24,
            height=3,
            content="No price of a GPU-hour is set. Set `prices` by GPU model in the settings, for example "
            "`NVIDIA H100 80GB HBM3: 3.0`, and generate the boards anew.",
        )
    hourly = _cost_per_hour(settings)

    def cost(*kinds: str) -> Vector:
        return topk(20, ratio(hourly * (_MILLION / 3600), workload_tokens(*kinds)))

    return TimeSeries(
        key="token_cost",
        title="Cost of a million tokens",
        explanation=Explanation(
            shows="Price of the GPUs that a deployment holds, over its tokens: of generated tokens alone, and dashed "
            "of all tokens, those of prompts too. Idle hours are in it: without requests the cost has no bound.",
            source=f"prices in the settings, for {', '.join(sorted(settings.prices))}, and counters of the engines. A "
            "deployment with a GPU without a price has no line.",
            good="Below what you charge, or what others charge.",
            do="High at night only: let the autoscaler go lower. High under load: see Share of the GPU's peak.",
        ),
        queries=(
            Query(expression=cost("generation"), legend="generated {{workload}}"),
            Query(expression=cost("generation", "prompt"), legend="all {{workload}}"),
        ),
        unit=Unit.CURRENCY,
        low=0,
        width=24,
        styles={"/^all /": LineStyle(dashed=True)},
        no_value="No tokens, or no price for these GPUs",
        links=(_ON_TASK,),
    )
