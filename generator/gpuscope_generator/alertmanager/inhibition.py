"""What is held back because of what: who knows the cause need not be told of what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpuscope_generator.alertmanager.causes import CAUSES, NEVER, Cause
from gpuscope_generator.alertmanager.routing import Match
from gpuscope_generator.rules.alert import Alert, Component, Severity
from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.settings import Settings

__all__ = ["Inhibition", "inhibitions"]

_ORDER = (Severity.CRITICAL, Severity.WARNING, Severity.INFO)
_ENTITIES = ("node", "gpu", "rack", "workload", "filesystem", "target", "model")
"""Labels that name what is broken. The others may be missing on both sides: a job of Slurm has no namespace, a site
with one cluster need not name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inhibition:
    """One rule of Alertmanager.

    Attributes:
        about: one sentence, for people.
        source: conditions on the alert that explains.
        target: conditions on the alert that is held back.
        equal: labels that must be equal.
    """

    about: str
    source: tuple[Match, ...]
    target: tuple[Match, ...]
    equal: tuple[str, ...]


def inhibitions(settings: Settings) -> tuple[Inhibition, ...]:
    """Every rule, for the alerts that there are: what a user turned off explains nothing."""
    alerts = all_alerts(settings)
    found = [rule for cause in CAUSES for rule in _of_cause(cause, alerts)]
    return (*found, *_of_severity(alerts))


def _of_cause(cause: Cause, alerts: Sequence[Alert]) -> Iterator[Inhibition]:
    targets = [one for one in alerts if _explained(cause, one)]
    for severity in _ORDER:
        sources = sorted({one.name for one in alerts if one.name in cause.sources and one.severity is severity})
        # A warning never hides a critical alert.
        first = max(_ORDER.index(severity), _ORDER.index(cause.most))
        held = [one for one in _ORDER[first:] if any(target.severity is one for target in targets)]
        if not sources or not held:
            continue
        if cause.targets:
            wanted = [_one_of("alertname", sorted({one.name for one in targets if one.severity in held}))]
        else:
            kept = sorted({*NEVER, *cause.sources} & {one.name for one in alerts})
            wanted = [
                _one_of("scope", [scope.value for scope in cause.scopes]),
                Match("alertname", "!~", "|".join(kept)),
                Match("component", "!=", Component.RECOVERY.value),
            ]
        there = _there(cause.equal)
        yield Inhibition(
            about=cause.about,
            source=(_one_of("alertname", sources), Match("severity", "=", severity.value), *there),
            target=(*wanted, _one_of("severity", [one.value for one in held]), *there),
            equal=cause.equal,
        )


def _explained(cause: Cause, one: Alert) -> bool:
    if one.name in NEVER or one.name in cause.sources:
        return False
    return one.name in cause.targets if cause.targets else one.scope in cause.scopes


def _of_severity(alerts: Sequence[Alert]) -> Iterator[Inhibition]:
    """Of one alert in two severities about the same thing, the graver is told; to the same people, that is."""
    for name, audience in dict.fromkeys((one.name, one.audience) for one in alerts):
        variants = [one for one in alerts if one.name == name and one.audience is audience]
        severities = [one for one in _ORDER if any(variant.severity is one for variant in variants)]
        shared = frozenset.intersection(*(one.expression.labels or frozenset() for one in variants))
        equal = ("alertname", *sorted(shared))
        for place, severity in enumerate(severities[:-1]):
            named, there = Match("alertname", "=", name), _there(equal)
            yield Inhibition(
                about="Of one alert in two severities about the same thing, the graver is told.",
                source=(named, Match("severity", "=", severity.value), *there),
                target=(named, _one_of("severity", [one.value for one in severities[place + 1 :]]), *there),
                equal=equal,
            )


def _one_of(label: str, values: Sequence[str]) -> Match:
    return Match(label, "=" if len(values) == 1 else "=~", "|".join(values))


def _there(equal: Sequence[str]) -> tuple[Match, ...]:
    """Alertmanager takes a label that is missing on both sides for equal: what names the thing must be there."""
    needed = [label for label in _ENTITIES if label in equal] or [label for label in ("queue",) if label in equal]
    return tuple(Match(label, "=~", ".+") for label in needed or ["cluster"])
