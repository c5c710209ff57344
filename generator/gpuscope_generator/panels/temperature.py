"""Heat, and clocks that are held down."""

from __future__ import annotations

from gpuscope_generator.normalized import cluster, node
from gpuscope_generator.panels.fleet_choice import node_line_links, of_nodes
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Vector, bottomk, label_replace, min_by, select, sum_by
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Explanation, LineStyle, Query, Thresholds, TimeSeries, Unit, palette

__all__ = ["headroom", "in_words", "throttled_gpus"]

REASONS = {
    "sw_power_cap": "power limit",
    "sw_thermal": "heat (software)",
    "hw_thermal": "heat (hardware)",
    "hw_slowdown": "slowdown by hardware",
    "hw_power_brake": "power brake",
    "sync_boost": "waits for a slower GPU",
}


def headroom(settings: Settings) -> TimeSeries:
    """The nodes that are nearest to slowing down."""
    margin = settings.thresholds.temperature_margin_celsius
    return TimeSeries(
        key="headroom",
        title="Headroom below the slowdown temperature (ten hottest nodes)",
        explanation=Explanation(
            shows="Degrees that the hottest GPU of a node is below the temperature at which the hardware slows it "
            "down; that limit differs by model, so degrees of headroom compare better than temperatures.",
            source="the gpuscope agent or dcgm-exporter.",
            good=f"Above {2 * margin:g} °C.",
            do=f"Below {margin:g} °C: check fans, filters and the air that comes in; move work away from the node.",
        ),
        queries=(Query(expression=bottomk(10, min_by(of_nodes(node.HEADROOM), *node.NODE)), legend="{{node}}"),),
        unit=Unit.CELSIUS,
        width=12,
        height=9,
        thresholds=Thresholds(base=palette.BAD, steps=((margin, palette.OK),)),
        limits_as_lines=True,
        links=node_line_links(),
        no_value="No GPU tells how far it is from its slowdown temperature",
    )


def in_words(held_down: Vector) -> Vector:
    """The same with reasons that a person can read."""
    for reason, text in REASONS.items():
        held_down = label_replace(held_down, "reason", text, "reason", reason)
    return held_down


def throttled_gpus() -> TimeSeries:
    """GPUs whose clocks are held down, by reason."""
    held_down = in_words(sum_by(select(cluster.THROTTLED, IN_CLUSTER), "cluster", "reason"))
    return TimeSeries(
        key="throttled",
        title="Throttled GPUs by reason",
        explanation=Explanation(
            shows="GPUs whose clocks were held down for a tenth of the last five minutes or more, by reason. "
            "One GPU may have several reasons.",
            source="the gpuscope agent, dcgm-exporter or AMD's exporter.",
            good="0. The power limit is normal for heavy work at full power.",
            do="Heat: see Headroom. Power brake or slowdown by hardware: power supply or cabling of the node; drain "
            "it.",
        ),
        queries=(Query(expression=held_down, legend="{{reason}}"),),
        unit=Unit.COUNT,
        width=12,
        height=9,
        low=0,
        styles={
            REASONS["sw_power_cap"]: LineStyle(color=palette.IDLE),
            REASONS["hw_thermal"]: LineStyle(color=palette.BAD),
            REASONS["sw_thermal"]: LineStyle(color=palette.WARN),
        },
        no_value="No clock was held down, or no source tells why clocks are low",
    )
