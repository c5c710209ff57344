"""NVSentinel: nodes that it keeps out, and how long it takes until they are used again."""

from __future__ import annotations

from gpuscope_generator.external import nvsentinel as raw
from gpuscope_generator.normalized import training
from gpuscope_generator.promql import Counter, Vector, max_by, sum_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, clustered, of_source
from gpuscope_generator.settings import Settings

__all__ = ["nvsentinel_rules"]

SOURCE = "nvsentinel"
_KEYS = ("cluster", "instance")


def nvsentinel_rules(settings: Settings) -> RuleFile:
    """Rules of NVSentinel."""

    def read(part: Counter, *more: str) -> Vector:
        found = clustered(of_source(part, settings, SOURCE), settings)
        once = max_by(found, *_KEYS, *part.labels) if part.labels else max_by(found, *_KEYS)
        return sum_by(once, *_KEYS, *more)

    rules: list[Recording] = []
    for phase, family in raw.DURATIONS.items():
        for target, part, more in (
            (training.NODE_REPAIR_BUCKETS, family.buckets, ("le",)),
            (training.NODE_REPAIR_SUM, family.sums, ()),
            (training.NODE_REPAIR_COUNT, family.counts, ()),
        ):
            rules.append(recording(target, read(part, *more), source=SOURCE, phase=phase))
    out = canonical(of_source(raw.QUARANTINED, settings, SOURCE), settings, node_from=("exported_node",))
    rules.append(recording(training.QUARANTINED, max_by(out, "cluster", "node").compare(">", 0)))
    return RuleFile(
        path="recording/nvsentinel.yaml",
        comment="From NVSentinel to nodes that are kept out, and to the time that it takes.",
        groups=(Group("gpuscope-normalize-nvsentinel", settings.intervals.normalize, tuple(rules)),),
    )
