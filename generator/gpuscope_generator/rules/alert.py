"""An alert as data: when it fires, whom it is for, and what a person woken by it has to know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpuscope_generator.promql import QueryError, Vector
from gpuscope_generator.rules.spoken import with_duration
from gpuscope_generator.view.link import Noun

__all__ = ["WORKLOAD", "Alert", "Audience", "Component", "Scope", "Severity", "alert"]

_NAME = re.compile(
    r"(Watchdog|((Gpu|Job|Fabric|Storage|Recovery|Scheduler|Serving|Queue|Node|Alert)([A-Z][a-z0-9]*)+))"
)
_LABEL = re.compile(r"\$labels\.([a-zA-Z_][a-zA-Z0-9_]*)")
_CHANGING = frozenset({"pod", "instance", "job", "reason"})
"""Labels that change while a fault lasts: with one of them an alert would resolve and fire anew."""

WORKLOAD = "{{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.workload }}"
"""Name of the work that an alert is about; jobs of Slurm have no namespace. A template of Prometheus."""


class Severity(StrEnum):
    """How soon somebody must act."""

    CRITICAL = "critical"  # now: somebody is woken
    WARNING = "warning"  # in working hours
    INFO = "info"  # context on a board; nobody is told
    NONE = "none"  # the dead-man's switch


class Scope(StrEnum):
    """What is broken as a whole; decides how alerts are grouped and what inhibits them."""

    PROCESS = "process"
    GPU = "gpu"
    NODE = "node"
    RACK = "rack"
    FABRIC = "fabric"
    CLUSTER = "cluster"
    JOB = "job"
    MONITORING = "monitoring"


class Component(StrEnum):
    """What the alert is about."""

    MONITORING = "monitoring"
    GPU = "gpu"
    INTERCONNECT = "interconnect"
    THERMAL = "thermal"
    USAGE = "usage"
    NETWORK = "network"
    STORAGE = "storage"
    TRAINING = "training"
    INFERENCE = "inference"
    SCHEDULER = "scheduler"
    RECOVERY = "recovery"


class Audience(StrEnum):
    """Who can do something about it."""

    PLATFORM = "platform"
    OWNER = "owner"


_LABELS_OF = {
    Scope.GPU: ("cluster", "node", "gpu", "uuid"),
    Scope.NODE: ("cluster", "node"),
    Scope.RACK: ("cluster", "rack"),
    Scope.FABRIC: ("cluster",),
    Scope.CLUSTER: ("cluster",),
    Scope.JOB: ("cluster", "namespace", "workload"),
    Scope.PROCESS: ("cluster", "namespace", "workload"),
    Scope.MONITORING: (),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Alert:
    """One alerting rule. Two of one name differ in severity, and the milder says nothing that the other does not.

    Attributes:
        name: CamelCase, in front what it is about.
        expression: over normalized series; its labels are the identity of the alert.
        for_s: how long it must hold, in seconds.
        keep_s: how long it goes on firing once it does not, so that a flapping fault is one alert.
        severity: how soon somebody must act.
        scope: what is broken as a whole.
        component: what it is about.
        audience: ``owner`` where the owner of the work can act; then the alert carries ``team``.
        tier: 1 is on wherever its series are; 2 needs a source that not every cluster has.
        fault_class: of the classification of faults, where there is one.
        summary: one line without a value; in it and in the next two `rules.spoken.HELD` stands for ``for_s`` in words.
        description: what was measured, with its unit and window, and what would be right. A template of Prometheus.
        measured: the value with its unit alone. A template of Prometheus; empty where there is no number to tell.
        action: what to do first.
        board: which board shows it.
        carry: variables of that board by the label that fills them, besides ``cluster``.
        labels: further fixed labels.
    """

    name: str
    expression: Vector
    for_s: int = 0
    keep_s: int = 0
    severity: Severity
    scope: Scope
    component: Component
    audience: Audience = Audience.PLATFORM
    tier: int = 1
    fault_class: str = ""
    summary: str
    description: str
    measured: str = ""
    action: str
    board: Noun = Noun.CLUSTER
    carry: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """How settings name this one among those of its name."""
        return f"{self.name}/{self.severity.value}"

    def told(self, text: str) -> str:
        """One of its texts, with the time that the condition must have held."""
        return with_duration(text, self.for_s)


def alert(**attributes: object) -> Alert:
    """An alert that is known to be whole.

    Args:
        attributes: those of `Alert`.

    Raises:
        QueryError: a name of another form, a label that is missing or changes, a text that names a label which the
            expression does not carry.
    """
    made = Alert(**attributes)  # type: ignore[arg-type]
    carried = made.expression.labels
    if not _NAME.fullmatch(made.name):
        raise QueryError(f"{made.name} is no name of an alert: CamelCase, in front what it is about")
    if carried is None:
        raise QueryError(f"{made.name}: it is not known which labels the expression carries: {made.expression.text}")
    wanted = {*_LABELS_OF[made.scope], *(("team",) if made.audience is Audience.OWNER else ())}
    if wanted - carried:
        raise QueryError(f"{made.name}: scope {made.scope} needs {', '.join(sorted(wanted - carried))}")
    if carried & _CHANGING:
        raise QueryError(f"{made.name}: {', '.join(sorted(carried & _CHANGING))} may change while the alert fires")
    named = {label for text in (made.description, made.measured) for label in _LABEL.findall(text)}
    unknown = (named | set(made.carry.values())) - carried - set(made.labels)
    if unknown:
        raise QueryError(f"{made.name}: its texts name {', '.join(sorted(unknown))}, which it does not carry")
    for name in ("summary", "action"):
        if "{{" in getattr(made, name) or not getattr(made, name).endswith((".", "!")):
            raise QueryError(f"{made.name}: {name} is a sentence without values")
    return made
