"""Which GPUs heat holds down: what the alerts of a GPU and of a rack are about."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, node
from gpuscope_generator.promql import Matcher, Vector, avg_over_time, count_by, max_by, select, with_zero
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.settings import Settings

__all__ = ["heat_rules", "held_by_heat", "slowed_by_heat"]

_THERMAL = Matcher("reason", "=~", "hw_thermal|sw_thermal")


def held_by_heat(settings: Settings) -> Vector:
    """Share of ten minutes in which heat held the clocks of a GPU down, where it is more than the settings allow.

    Each sample is itself the share of five minutes: the mean over five minutes looks back ten.
    """
    share = max_by(avg_over_time(select(gpu.THROTTLED, _THERMAL), "5m"), *gpu.GPU)
    return share.compare(">", settings.thresholds.thermal_slowdown_ratio)


def slowed_by_heat(settings: Settings) -> Vector:
    """GPUs that heat holds down, or that are as hot as they may get by their own limit."""
    at_limit = max_by(select(gpu.HEADROOM), *gpu.GPU).compare("<=", settings.thresholds.thermal_slowdown_margin_celsius)
    return held_by_heat(settings).or_(at_limit)


def heat_rules(settings: Settings) -> RuleFile:
    """Rules that count such GPUs by node."""
    readable = max_by(select(node.GPUS, state="present"), *node.NODE)
    return RuleFile(
        path="recording/level-heat.yaml",
        comment="From GPUs that heat holds down to nodes; racks are summed by the alert.",
        groups=(
            Group(
                "gpuscope-level-heat",
                settings.intervals.normalize,
                (
                    recording(
                        node.THERMAL_SLOWDOWN, with_zero(count_by(slowed_by_heat(settings), *node.NODE), readable)
                    ),
                ),
            ),
        ),
    )
