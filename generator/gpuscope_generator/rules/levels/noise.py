"""How many alerts we send: our own noise is measured like everything else."""

from __future__ import annotations

from gpuscope_generator.external.prometheus import ALERTS
from gpuscope_generator.normalized import watch
from gpuscope_generator.promql import Matcher, Vector, count_by, select
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered
from gpuscope_generator.settings import Settings

__all__ = ["noise_rules"]


def noise_rules(settings: Settings) -> RuleFile:
    """Rules that count alerts as they begin.

    Alerts of others share the name ``ALERTS``; ours are those with a scope and an audience.
    """

    def begun(severity: str, *by: str) -> Vector:
        firing = select(
            ALERTS,
            Matcher("alertstate", "=", "firing"),
            Matcher("severity", "=", severity),
            Matcher("scope", "!=", ""),
            Matcher("audience", "!=", ""),
        )
        new = firing.unless(firing.offset(f"{settings.intervals.slow}s"))
        return count_by(clustered(new, settings), "cluster", *by)

    return RuleFile(
        path="recording/level-noise.yaml",
        comment="From alerts that fire to alerts that began since the last look: pages by team, and warnings.",
        groups=(
            Group(
                "gpuscope-level-noise",
                settings.intervals.slow,
                (
                    recording(watch.ALERTS_BEGUN, begun("critical", "team"), what="pages"),
                    recording(watch.ALERTS_BEGUN, begun("warning"), what="warnings", team=""),
                ),
            ),
        ),
    )
