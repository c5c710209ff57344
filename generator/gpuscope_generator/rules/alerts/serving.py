"""Alerts about model servers that do not keep what was promised: first tokens, later ones, and success."""

from __future__ import annotations

from gpuscope_generator.normalized import objective
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.burn_rate import STRICT, burning
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.link import Noun

__all__ = ["serving_alerts"]

_WINDOWS = {
    Severity.CRITICAL: ("an hour or six hours", 120),
    Severity.WARNING: ("a day or three days", 3600),
}
"""What its pairs look at, and how long both windows must say so."""


def serving_alerts(settings: Settings) -> RuleFile:
    """Three objectives, each with pairs of windows for two severities."""
    limits = settings.thresholds
    ttft = (
        "ServingFirstTokenBudgetBurn",
        "time_to_first_token",
        "Requests to a model wait too long for their first token.",
        f"of the first tokens {{{{ $value | humanizePercentage }}}} took longer than {limits.ttft_slo_seconds:g} "
        "seconds",
        "{{ $value | humanizePercentage }} too late",
        "Look at waiting requests and at the key-value cache of its replicas; add replicas, or limit long prompts.",
    )
    later = (
        "ServingInterTokenBudgetBurn",
        "inter_token",
        "A model writes its tokens too slowly.",
        f"of the later tokens {{{{ $value | humanizePercentage }}}} took longer than "
        f"{limits.inter_token_slo_seconds:g} "
        "seconds",
        "{{ $value | humanizePercentage }} too late",
        "Look at how many requests run at once and at preemptions; limit the batch, or add replicas.",
    )
    success = (
        "ServingSuccessBudgetBurn",
        "success",
        "Requests to a model fail.",
        "{{ $value | humanizePercentage }} of the requests failed; those whose client left do not count",
        "{{ $value | humanizePercentage }} failed",
        "Look at the errors by reason, then at replicas that restart and at the log of the engine.",
    )
    return RuleFile(
        path="alerts/serving.yaml",
        comment="Alerts about model servers whose answers come too late or fail, by model: pairs of a long and a short "
        "window.",
        groups=(
            Group(
                "gpuscope-alerts-serving",
                settings.intervals.aggregate,
                tuple(_budget(settings, severity, *one) for one in (ttft, later, success) for severity in _WINDOWS),
            ),
        ),
    )


def _budget(
    settings: Settings,
    severity: Severity,
    name: str,
    which: str,
    summary: str,
    what: str,
    measured: str,
    action: str,
) -> Alert:
    limits = settings.thresholds
    windows, for_s = _WINDOWS[severity]
    return alert(
        name=name,
        expression=burning(objective.MODEL_BAD, limits.slo_objective, STRICT[severity], objective=which),
        for_s=for_s,
        severity=severity,
        scope=Scope.JOB,
        component=Component.INFERENCE,
        tier=2,
        summary=summary,
        description=f"Model {{{{ $labels.model }}}} on {{{{ $labels.engine }}}}: {what}. The goal is that "
        f"{limits.slo_objective * 100:.1f} % are well; measured over {windows}, and still so.",
        measured=measured,
        action=action,
        board=Noun.INFERENCE,
        carry={"namespace": "namespace", "model": "model"},
    )
