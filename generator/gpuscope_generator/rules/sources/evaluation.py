"""Whether our rules are evaluated, as Prometheus, Thanos, Mimir or vmalert tell of themselves."""

from __future__ import annotations

from gpuscope_generator.external import prometheus as raw
from gpuscope_generator.normalized import watch
from gpuscope_generator.promql import Counter, Matcher, Vector, first_of, increase, label_replace, sum_by
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.settings import Settings

__all__ = ["evaluation_rules"]

SOURCE = "prometheus"
_GROUP = ("cluster", "group")


def evaluation_rules(settings: Settings) -> RuleFile:
    """Rules about the evaluation of rules."""

    def grown(*counters: Counter) -> Vector:
        return first_of(*(_grown(counter, settings) for counter in counters))

    return RuleFile(
        path="recording/evaluation.yaml",
        comment="From servers that evaluate rules to groups of ours that fail or are left out.",
        groups=(
            Group(
                "gpuscope-normalize-evaluation",
                settings.intervals.aggregate,
                (
                    recording(watch.RULE_FAILURES, grown(raw.RULE_FAILURES, raw.MIMIR_FAILURES, *raw.VMALERT_ERRORS)),
                    recording(watch.RULE_MISSES, grown(raw.RULE_MISSES, raw.MIMIR_MISSES, raw.VMALERT_MISSES)),
                ),
            ),
        ),
    )


def _grown(counter: Counter, settings: Settings) -> Vector:
    """How much it rose within ten minutes, by our groups; the name of a group may have its file before it."""
    label = "rule_group" if "rule_group" in counter.labels else "group"
    selected = of_source(counter, settings, SOURCE, Matcher(label, "=~", "(.*;)?gpuscope-.*"))
    named = label_replace(clustered(increase(selected, "10m"), settings), "group", "$1", label, "(?:.*;)?(.*)")
    return sum_by(named, *_GROUP).compare(">", 0)
