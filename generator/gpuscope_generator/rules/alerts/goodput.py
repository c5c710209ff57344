"""The alert about GPU-time of training jobs that is lost."""

from __future__ import annotations

from gpuscope_generator.normalized import objective
from gpuscope_generator.rules.alert import Alert, Audience, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.burn_rate import LOSSY, burning
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.link import Noun

__all__ = ["goodput_alerts"]

_WINDOWS = {
    Severity.CRITICAL: ("an hour", 120),
    Severity.WARNING: ("six hours or three days", 900),
}
"""What its pairs look at, and how long both windows must say so."""


def goodput_alerts(settings: Settings) -> RuleFile:
    """One alert a team, as a pair of windows for each severity."""
    return RuleFile(
        path="alerts/goodput.yaml",
        comment="Alerts about GPU-time that training jobs hold and do not train in, by team: pairs of a long and a "
        "short "
        "window.",
        groups=(
            Group(
                "gpuscope-alerts-goodput",
                settings.intervals.aggregate,
                tuple(_budget(settings, severity) for severity in _WINDOWS),
            ),
        ),
    )


def _budget(settings: Settings, severity: Severity) -> Alert:
    limits = settings.thresholds
    windows, for_s = _WINDOWS[severity]
    return alert(
        name="JobGoodputBudgetBurn",
        expression=burning(objective.BADPUT, limits.goodput_objective, LOSSY[severity]),
        for_s=for_s,
        severity=severity,
        scope=Scope.CLUSTER,
        component=Component.TRAINING,
        audience=Audience.OWNER,
        tier=2,
        summary="Training jobs of a team hold GPUs and lose too much of their time.",
        description="Of the GPU-time that training jobs of {{ with $labels.team }}team {{ . }}{{ else }}an unknown "
        "team{{ end }}"
        "{{ with $labels.namespace }} in {{ . }}{{ end }} held, {{ $value | humanizePercentage }} went into "
        "starting, recovering and standing still; the goal "
        f"is at most {100 - limits.goodput_objective * 100:.0f} %. Measured over {windows}, at least "
        f"{limits.goodput_min_gpu_hours:.0f} GPU-hours, and still so.",
        measured="{{ $value | humanizePercentage }} of the GPU-time lost",
        action="Look at what the time went into: restarts, slow starts or stalls; then at the jobs with most GPUs.",
        board=Noun.TRAINING,
        carry={"namespace": "namespace"},
    )
