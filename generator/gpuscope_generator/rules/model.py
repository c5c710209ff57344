"""Rules of Prometheus as data: what is recorded, from which expression, in which group and file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpuscope_generator.promql import Expression, QueryError, Series, Vector
from gpuscope_generator.rules.alert import Alert

__all__ = ["Group", "Recording", "RuleFile", "beside_each_other", "recording"]

_NAME = re.compile(
    r"(gpu|mig|port|node|pod|workload|team|job|queue|model|filesystem|target|partition|source|cluster)"
    r":[a-z][a-z0-9_]*:[a-z0-9_]+"
)


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One recording rule.

    Attributes:
        series: what it makes; several rules may make the same series from different sources.
        expression: from what.
        labels: fixed labels of the result.
    """

    series: Series
    expression: Expression
    labels: Mapping[str, str] = field(default_factory=dict)


def recording(series: Series, expression: Vector, **labels: str) -> Recording:
    """A recording rule that is known to keep what the series promises.

    Args:
        series: what is recorded, named ``level:metric:operations``.
        expression: its result must carry exactly the labels of the series, the fixed ones set aside.
        labels: fixed labels of the result.

    Raises:
        QueryError: a name of another form, or a result with labels that are missing or too many.
    """
    if not _NAME.fullmatch(series.name):
        raise QueryError(f"{series.name} is no level:metric:operations")
    if expression.labels is not None:
        found = expression.labels | labels.keys()
        if found != set(series.labels):
            missing = ", ".join(sorted(set(series.labels) - found)) or "none"
            extra = ", ".join(sorted(found - set(series.labels))) or "none"
            raise QueryError(f"{series.name}: labels missing {missing}; too many {extra}: {expression.text}")
    return Recording(series, expression, labels)


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that are evaluated one after the other, so that a later one reads what an earlier one made.

    Attributes:
        name: unique in all files; ``gpuscope-<subject>``.
        interval_s: seconds between two evaluations.
        rules: in order of evaluation.
    """

    name: str
    interval_s: int
    rules: tuple[Recording | Alert, ...]

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """Those that make series."""
        return tuple(rule for rule in self.rules if isinstance(rule, Recording))

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """Those that fire."""
        return tuple(rule for rule in self.rules if isinstance(rule, Alert))


def beside_each_other(name: str, interval_s: int, parts: Mapping[str, Sequence[Recording]]) -> tuple[Group, ...]:
    """Groups for the parts of one source, as Prometheus evaluates groups at once.

    With 10,000 GPUs, or a thousand model servers, one group alone would take too much of its interval.

    Args:
        name: what their names begin with.
        interval_s: of all of them.
        parts: rules by what their group's name ends with; a part without rules has no group.
    """
    return tuple(Group(f"{name}{end}", interval_s, tuple(rules)) for end, rules in parts.items() if rules)


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file under ``alert_rules/``.

    Attributes:
        path: below ``alert_rules/``, such as ``recording/dcgm.yaml``.
        comment: what it does and where its input comes from, for its head.
        groups: its groups.
    """

    path: str
    comment: str
    groups: tuple[Group, ...]
