"""Settings that can be changed where the mixin is evaluated, and the values that show where each of them ends up."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from gpuscope_generator.settings import Intervals, Settings, Thresholds

__all__ = [
    "LINK_PREFIX",
    "RUNBOOK_PREFIX",
    "SCRAPE_INTERVALS",
    "Parameter",
    "parameters",
    "with_cluster_label",
    "with_trial",
]

LINK_PREFIX = "/link-prefix-of-the-user"
RUNBOOK_PREFIX = "https://runbook-prefix-of-the-user"
SCRAPE_INTERVALS = ("37s", "41s")
_CLUSTER_LABEL = "cluster_label_of_the_user"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number among the settings.

    Attributes:
        path: such as ``thresholds.idle_ratio``.
        default: its value.
        trials: two other values; the three together tell it from all other numbers.
    """

    path: str
    default: float
    trials: tuple[float, float]

    @property
    def values(self) -> tuple[float, float, float]:
        """The default, and the trials."""
        return (self.default, *self.trials)


def parameters(settings: Settings) -> tuple[Parameter, ...]:
    """Every number among the thresholds and intervals."""
    found: list[Parameter] = []
    sections: tuple[tuple[str, Thresholds | Intervals], ...] = (
        ("thresholds", settings.thresholds),
        ("intervals", settings.intervals),
    )
    for section, values in sections:
        for field in dataclasses.fields(values):
            default = getattr(values, field.name)
            found.append(
                Parameter(
                    f"{section}.{field.name}",
                    default,
                    _trials(default, len(found), share=field.name.endswith("_objective")),
                )
            )
    return tuple(found)


def _trials(default: float, index: int, *, share: bool = False) -> tuple[float, float]:
    """Two values apart from those of every other parameter, and from twice or sixty times these.

    They are large, so that many digits are left of them when they are rounded to whole percents; but of a share the
    rest to the whole must not fall below 0.
    """
    if isinstance(default, int):
        return (
            default * 3 + 10_007 * (index + 3) + 37 * index * index,
            default * 2 + 20_011 * (index + 5) + 41 * index * index,
        )
    if share:
        return default * (0.3 + 0.65 * (index * 0.618_034 % 1)), default * (0.25 + 0.7 * (index * 0.414_214 % 1))
    return (
        # No whole numbers, which look the same rounded.
        default * (31.718_281 + 11.313_708 * index + 0.374_165_7 * index * index),
        default * (57.141_592 + 23.916_079 * index + 0.538_516_4 * index * index),
    )


def with_trial(settings: Settings, number: int) -> Settings:
    """Settings with the trial values of that number (0 or 1) for all that can be changed."""
    values: dict[str, dict[str, float]] = {"thresholds": {}, "intervals": {}}
    for parameter in parameters(settings):
        section, _, name = parameter.path.partition(".")
        values[section][name] = parameter.trials[number]
    thresholds = dataclasses.replace(settings.thresholds, **values["thresholds"])  # type: ignore[arg-type]
    return dataclasses.replace(
        settings,
        thresholds=thresholds,
        intervals=dataclasses.replace(settings.intervals, **_whole(values["intervals"])),
        link_prefix=f"{LINK_PREFIX}{number}",
        runbook_prefix=f"{RUNBOOK_PREFIX}{number}",
        scrape_interval=SCRAPE_INTERVALS[number],
    )


def _whole(values: Mapping[str, float]) -> dict[str, int]:
    return {name: int(value) for name, value in values.items()}


def with_cluster_label(settings: Settings) -> Settings:
    """Settings with another label for the cluster."""
    return dataclasses.replace(settings, cluster_label=_CLUSTER_LABEL)
