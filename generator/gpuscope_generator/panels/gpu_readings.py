"""One line a GPU, of the nodes that are chosen: activity, memory, temperature, power and clocks."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu
from gpuscope_generator.panels.fleet_choice import CHOSEN_GPUS
from gpuscope_generator.promql import Gauge, Vector, max_by, ratio, select, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Explanation, LineStyle, Link, Noun, Query, TimeSeries, Unit, line

__all__ = ["gpu_clocks", "gpu_compute", "gpu_memory", "gpu_power", "gpu_temperature"]

_MOST = 32
_SOURCE = "the gpuscope agent, dcgm-exporter or AMD's device-metrics-exporter."
_LEGEND = "{{node}} GPU {{gpu}}"
_HINT = f" At most {_MOST} lines: choose nodes or a GPU above."
_LINKS = (
    Link(
        "MIG instances of this GPU",
        Noun.PARTITION,
        {"cluster": line("cluster"), "node": line("node"), "gpu": line("gpu")},
    ),
)


def _of(series: Gauge) -> Vector:
    return max_by(select(series, *CHOSEN_GPUS), *gpu.GPU)


def _graph(
    key: str, title: str, explanation: Explanation, queries: tuple[Query, ...], unit: Unit, *, share: bool = False
) -> TimeSeries:
    return TimeSeries(
        key=key,
        title=title,
        explanation=explanation,
        queries=queries,
        unit=unit,
        width=12,
        height=10,
        low=0,
        high=1 if share else None,
        styles={"/ memory$/": LineStyle(dashed=True)} if key == "gpu_temperature" else {},
        links=_LINKS,
        no_value="The chosen GPUs do not report this: see Data health",
    )


def gpu_compute() -> TimeSeries:
    """Activity by GPU."""
    return _graph(
        "gpu_compute",
        "Activity by GPU",
        Explanation(
            shows="Share of time in which the GPU computed; of a GPU in MIG mode the mean of its instances by their "
            "slices." + _HINT,
            source=_SOURCE,
            good="The GPUs of one job look alike, and are high.",
            do="One GPU below the others of its job holds all of them up: compare its clock and temperature beside.",
        ),
        (Query(expression=topk(_MOST, _of(gpu.COMPUTE_ACTIVE)), legend=_LEGEND),),
        Unit.RATIO,
        share=True,
    )


def gpu_memory(settings: Settings) -> TimeSeries:
    """Memory in use by GPU."""
    return _graph(
        "gpu_memory",
        "Memory in use by GPU",
        Explanation(
            shows="Memory in use, of the memory that work can have: without what the driver keeps for itself." + _HINT,
            source=_SOURCE + " In MIG mode it is the sum over the instances.",
            good=f"High, and below {settings.thresholds.memory_high_ratio:.0%}.",
            do="At the limit, allocations fail next: smaller batches, or a look at who else is on the GPU.",
        ),
        (Query(expression=topk(_MOST, ratio(_of(gpu.MEMORY_USED), _of(gpu.MEMORY_TOTAL))), legend=_LEGEND),),
        Unit.RATIO,
        share=True,
    )


def gpu_temperature() -> TimeSeries:
    """Temperature of core and memory by GPU."""
    return _graph(
        "gpu_temperature",
        "Temperature by GPU",
        Explanation(
            shows="Temperature of the core, and dashed that of the memory (HBM), which has a limit of its own." + _HINT,
            source=_SOURCE + " Not every model has a sensor in its memory.",
            good="Below 80 °C under load. What counts is the distance to the limit: see Headroom.",
            do="One GPU hotter than its neighbors: its cooler or its place in the chassis. All of a node: fans, or "
            "the air that comes in.",
        ),
        (
            Query(expression=topk(_MOST, _of(gpu.TEMPERATURE)), legend=_LEGEND),
            Query(expression=topk(_MOST, _of(gpu.MEMORY_TEMPERATURE)), legend=_LEGEND + " memory"),
        ),
        Unit.CELSIUS,
    )


def gpu_power() -> TimeSeries:
    """Power by GPU."""
    return _graph(
        "gpu_power",
        "Power by GPU",
        Explanation(
            shows="Power that each GPU draws." + _HINT,
            source=_SOURCE,
            good="Equal among the GPUs of one job: a busy H100 draws 400 to 700 W, an idle one about 70 W.",
            do="A GPU that draws less than its neighbors while it is as busy is held down: see its clock, and "
            "Throttled GPUs.",
        ),
        (Query(expression=topk(_MOST, _of(gpu.POWER)), legend=_LEGEND),),
        Unit.WATTS,
    )


def gpu_clocks() -> TimeSeries:
    """SM clock by GPU."""
    return _graph(
        "gpu_clocks",
        "SM clock by GPU",
        Explanation(
            shows="Clock of the processors (SMs) of each GPU." + _HINT,
            source=_SOURCE,
            good="At the boost clock of the model while it works; idle GPUs clock down.",
            do="Low while busy: Throttled GPUs says whether heat, power or the hardware holds it down.",
        ),
        (Query(expression=topk(_MOST, _of(gpu.CLOCK)), legend=_LEGEND),),
        Unit.HERTZ,
    )
