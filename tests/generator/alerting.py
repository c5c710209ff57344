"""Which alerts fire on known samples, and what they say, through the real promtool."""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tests.generator.promtool import run

from gpuscope_generator.output import rule_texts
from gpuscope_generator.settings import Settings

FIRING = 'ALERTS{alertstate="firing", alertname!="Watchdog"}'
ROUTING = ("severity", "scope", "component", "audience", "fault_class")
"""Labels that stand in the rule; tests name them only where they are about them."""


_made: dict[str, Mapping[PurePosixPath, str]] = {}


def _rules(settings: Settings) -> Mapping[PurePosixPath, str]:
    """Their texts, made once: that takes a second."""
    key = repr(settings)
    if key not in _made:
        _made[key] = rule_texts(settings)
    return _made[key]


def fires(
    folder: Path,
    samples: Mapping[str, str],
    expected: Mapping[str, Sequence[str]],
    *,
    every: str = "30s",
    settings: Settings | None = None,
    only: Sequence[str] = (),
    alerts: str = "",
) -> None:
    """Asserts which alerts fire at which times, and that no others do.

    Args:
        folder: an empty folder.
        samples: values by series in promtool's notation.
        expected: by time, such as ``10m``, each alert that fires as ``Name{label="value", …}``: all labels that tell
            one alert from another, without those of `ROUTING` but for ``severity``.
        every: distance of samples and evaluations.
        settings: of the rules.
        only: load no more than these rule files, such as ``gpuscope``, or ``alerts/usage`` where recorded series are
            among the samples; all of them take seconds to evaluate.
        alerts: look only at alerts whose name matches this regular expression.
    """
    chosen = f'ALERTS{{alertstate="firing", alertname=~"{alerts}"}}' if alerts else FIRING
    without = f"sum without ({', '.join(label for label in ROUTING if label != 'severity')}) ({chosen})"
    tests = [
        {"expr": without, "eval_time": time, "exp_samples": [{"labels": _labels(one), "value": 1} for one in found]}
        for time, found in expected.items()
    ]
    _promtool(folder, samples, {"promql_expr_test": tests}, every, settings, only)


def says(
    folder: Path,
    samples: Mapping[str, str],
    name: str,
    expected: Sequence[Mapping[str, Mapping[str, str]]],
    *,
    at: str,
    every: str = "30s",
    settings: Settings | None = None,
    only: Sequence[str] = (),
) -> None:
    """Asserts every label and every text of all alerts of a name that fire.

    Args:
        folder: an empty folder.
        samples: values by series in promtool's notation.
        name: of the alert.
        expected: ``{"labels": …, "annotations": …}`` of each, complete, ``alertname`` set aside.
        at: when.
        every: distance of samples and evaluations.
        settings: of the rules.
        only: load no more than these rule files.
    """
    says_all(folder, samples, {name: expected}, at=at, every=every, settings=settings, only=only)


def says_all(
    folder: Path,
    samples: Mapping[str, str],
    expected: Mapping[str, Sequence[Mapping[str, Mapping[str, str]]]],
    *,
    at: str,
    every: str = "30s",
    settings: Settings | None = None,
    only: Sequence[str] = (),
) -> None:
    """The same as `says` for several names at once, which costs one run.

    Args:
        folder: an empty folder.
        samples: values by series in promtool's notation.
        expected: by name what `says` expects.
        at: when.
        every: distance of samples and evaluations.
        settings: of the rules.
        only: load no more than these rule files.
    """
    tests = [
        {
            "eval_time": at,
            "alertname": name,
            "exp_alerts": [
                {"exp_labels": dict(one["labels"]), "exp_annotations": dict(one["annotations"])} for one in found
            ],
        }
        for name, found in expected.items()
    ]
    _promtool(folder, samples, {"alert_rule_test": tests}, every, settings, only)


def _labels(text: str) -> str:
    name, _, rest = text.partition("{")
    inner = rest.rstrip("}").strip()
    return f'{{alertname="{name}", alertstate="firing"{", " if inner else ""}{inner}}}'


def _promtool(
    folder: Path,
    samples: Mapping[str, str],
    tests: Mapping[str, Any],
    every: str,
    settings: Settings | None,
    only: Sequence[str],
) -> None:
    chosen = {
        path: text
        for path, text in _rules(settings or Settings()).items()
        if not only or path.stem in only or f"{path.parent.name}/{path.stem}" in only
    }
    run(folder, chosen, samples, tests, every=every, timeout_s=300)
