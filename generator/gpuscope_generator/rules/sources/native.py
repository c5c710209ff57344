"""Our own agent: its series need their node, and little else."""

from __future__ import annotations

from gpuscope.catalogue import memory, power
from gpuscope_generator.normalized import gpu
from gpuscope_generator.promql import Gauge, Matcher, as_gauge, max_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "native_rules"]

SOURCE = "gpuscope"


def native_rules(settings: Settings) -> RuleFile:
    """Rules that make normalized series of what the agent publishes."""

    def device(target: Gauge, metric: Gauge, *conditions: Matcher) -> Recording:
        return recording(
            target, max_by(canonical(of_source(metric, settings, SOURCE, *conditions), settings), *gpu.GPU)
        )

    rules = (
        device(gpu.POWER, as_gauge(power.POWER)),
        device(gpu.POWER_LIMIT, as_gauge(power.LIMIT), Matcher("limit", "=", "enforced")),
        device(gpu.MEMORY_USED, as_gauge(memory.USED)),
    )
    return RuleFile(
        path="recording/gpuscope.yaml",
        comment="From the gpuscope agent to normalized series of GPUs and MIG instances.",
        groups=(Group("gpuscope-normalize-gpuscope", settings.intervals.normalize, rules),),
    )
