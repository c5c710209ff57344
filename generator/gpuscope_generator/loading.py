"""Settings from a YAML or Jsonnet file of the user, checked completely before anything is built."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gpuscope_generator.alert_reading import OWN_LABELS, read_alert_labels, read_alerts
from gpuscope_generator.alertmanager.model import Alertmanager
from gpuscope_generator.alertmanager.reading import check_heartbeat, plain, read_alertmanager
from gpuscope_generator.jsonnet import evaluate_config
from gpuscope_generator.lines import Node, nearest, parse_yaml, read_text, read_yaml
from gpuscope_generator.settings import RISING, Intervals, Settings, Thresholds

__all__ = ["BOUNDS", "as_plain", "bounds_of", "load_settings"]

BOUNDS = {
    "_ratio": (0.0, 1.0),
    "_objective": (0.0, 1.0),
    "_minutes": (1.0, 10_080.0),
    "_seconds": (0.0, 31_536_000.0),
    "_celsius": (0.0, 200.0),
}
"""Smallest and largest value of a threshold, by the unit at the end of its name."""
_BOUNDS_OF = {"checkpoint_age_seconds": (1.0, 31_536_000.0)}
"""Where it is a window of a query, which cannot be empty."""
_INTERVAL = (5, 3600)
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_TAKEN = ("container", "gpu", "instance", "job", "le", "namespace", "node", "pod", "uuid")
"""Labels of what stands in a cluster: with one of them for its name each target would be a cluster."""
_CURRENCY = re.compile(r"currency[A-Z]{3}")
_PART = r"[^/\s?#\"'<>`\\^|${}@]+"
_LINK = re.compile(rf"(https?://{_PART})?(/{_PART})*")
_PAGE = re.compile(rf"https?://{_PART}(/{_PART})*")
_MANIFEST_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_MANIFEST_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_TAG_LENGTH = 50
"""What Grafana's database takes."""
_MOST_PRICES = 100
_JSONNET = (".jsonnet", ".libsonnet")


def load_settings(file: Path | None) -> Settings:
    """Reads and checks a file; without one all settings have their defaults.

    Args:
        file: YAML, or Jsonnet where the name ends in ``.jsonnet`` or ``.libsonnet``.

    Raises:
        ConfigError: file, line and key of what is wrong.
    """
    if file is None:
        return Settings()
    if file.suffix in _JSONNET:
        source = read_text("--settings", file)
        parsed = parse_yaml(str(file), evaluate_config(file, as_plain(Settings())))
        root = dataclasses.replace(parsed, line=0, source=source)
    else:
        root = read_yaml("--settings", file)
    return _settings(root)


def as_plain(settings: Settings) -> dict[str, Any]:
    """Settings as a file would write them."""
    return {field.name: _plain(getattr(settings, field.name)) for field in dataclasses.fields(settings)}


def _plain(value: Any) -> Any:
    if isinstance(value, Alertmanager):
        return plain(value)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def _settings(root: Node) -> Settings:
    entries = root.mapping("")
    for key, node in entries.items():
        if key not in _READ:
            raise node.error(key, f"no such setting{nearest(key, _READ)}")
    made = Settings(**{key: _READ[key](node, key) for key, node in entries.items()})
    if "alertmanager" in entries:
        check_heartbeat(entries["alertmanager"], "alertmanager", made)
    return made


def _label(node: Node, key: str) -> str:
    text = node.text(key)
    if not _LABEL.fullmatch(text) or text.startswith("__"):
        raise node.error(key, f"{text!r} is not a label name: letters, digits and _, no digit first, no __ in front")
    if text in _TAKEN or text in _labels_of_alerts():
        raise node.error(key, f"{text!r} names something else: a cluster has a label of its own")
    return text


def _labels_of_alerts() -> frozenset[str]:
    """Labels by which alerts say what they are about, and by which they are routed, grouped and held back."""
    from gpuscope_generator.rules.alerts import all_alerts

    carried = (one.expression.labels or frozenset() for one in all_alerts(Settings()))
    return frozenset(OWN_LABELS).union(*carried) - {"cluster"}


def _selectors(node: Node, key: str) -> Mapping[str, str]:
    from gpuscope_generator.promql import QueryError, matchers

    known = _sources()
    found = {}
    for source, inner in node.mapping(key).items():
        path = f"{key}.{source}"
        if source not in known:
            raise inner.error(path, f"no such source{nearest(source, known) or '; there are ' + ', '.join(known)}")
        text = inner.text(path)
        try:
            conditions = matchers(text)
        except QueryError as error:
            raise inner.error(path, str(error)) from error
        for condition in conditions:
            if "~" in condition.operator:
                _pattern(inner, path, condition.value)
        found[source] = text
    return found


def _sources() -> list[str]:
    """The names by which rules ask for selectors, found out by making the rules once."""
    from gpuscope_generator.rules.files import rule_files

    class Asked(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            self[key] = ""
            return default

    asked = Asked()
    rule_files(Settings(selectors=asked))
    return sorted(asked)


def _thresholds(node: Node, key: str) -> Thresholds:
    known = {field.name: field for field in dataclasses.fields(Thresholds)}
    found: dict[str, float] = {}
    entries = node.mapping(key)
    for name, inner in entries.items():
        path = f"{key}.{name}"
        if name not in known:
            raise inner.error(path, f"no such setting{nearest(name, known)}")
        value = _between(inner, path, *bounds_of(name))
        found[name] = _whole(inner, path, value) if known[name].type in ("int", int) else value
    made = Thresholds(**found)  # type: ignore[arg-type]
    for lower, upper in RISING:
        low, high = getattr(made, lower), getattr(made, upper)
        if low > high:
            changed = lower if low != getattr(Thresholds(), lower) else upper
            reason = (
                f"{low:g} is above {upper}, {high:g}" if changed == lower else f"{high:g} is below {lower}, {low:g}"
            )
            raise entries[changed].error(f"{key}.{changed}", reason)
    return made


def bounds_of(name: str) -> tuple[float, float]:
    """Smallest and largest value of a threshold."""
    by_unit = (bounds for unit, bounds in BOUNDS.items() if name.endswith(unit))
    return _BOUNDS_OF.get(name) or next(by_unit, (0.0, 1e12))


def _intervals(node: Node, key: str) -> Intervals:
    known = {field.name for field in dataclasses.fields(Intervals)}
    found = {}
    for name, inner in node.mapping(key).items():
        path = f"{key}.{name}"
        if name not in known:
            raise inner.error(path, f"no such setting{nearest(name, known)}")
        found[name] = _whole(inner, path, _between(inner, path, *_INTERVAL))
    made = Intervals(**found)
    if not made.normalize <= made.aggregate <= made.slow:
        text = f"{made.normalize}, {made.aggregate}, {made.slow}: normalize, aggregate and slow must not fall"
        raise node.error(key, text)
    return made


def _between(node: Node, key: str, low: float, high: float) -> float:
    value = node.number(key)
    if not low <= value <= high:
        raise node.error(key, f"{value:g} is not between {low:g} and {high:g}")
    return value


def _whole(node: Node, key: str, value: float) -> int:
    if not value.is_integer():
        raise node.error(key, f"{value:g} is not a whole number")
    return int(value)


def _duration(node: Node, key: str) -> str:
    from gpuscope_generator.promql.filling import seconds

    text = node.text(key)
    try:
        value = seconds(text)
    except ValueError as error:
        raise node.error(key, str(error)) from error
    if not 1 <= value <= 3600:
        raise node.error(key, f"{text} is not between 1s and 1h")
    return text


def _link_prefix(node: Node, key: str) -> str:
    text = node.text(key)
    if not _LINK.fullmatch(text):
        raise node.error(key, f"{text!r} is neither a path such as /grafana nor a URL, without / at its end")
    return text


def _runbook_prefix(node: Node, key: str) -> str:
    text = node.text(key)
    if not _PAGE.fullmatch(text):
        raise node.error(key, f"{text!r} is not a URL without / at its end")
    return text


def _panels_off(node: Node, key: str) -> frozenset[str]:
    from gpuscope_generator.dashboards import boards

    known = {f"{board.noun.value}/{panel.key}" for board in boards(Settings()) for panel in board.panels}
    texts = node.texts(key)
    for text in texts:
        if text not in known:
            raise node.error(key, f"{text!r} is not a board/panel{nearest(text, known)}")
    return frozenset(texts)


def _tags(node: Node, key: str) -> tuple[str, ...]:
    texts = node.texts(key)
    for text in texts:
        if not text.strip():
            raise node.error(key, "a tag is empty")
        if len(text) > _TAG_LENGTH or not text.isprintable():
            raise node.error(key, f"{text[:_TAG_LENGTH]!r}: a tag has at most {_TAG_LENGTH} letters, in one line")
    return tuple(dict.fromkeys(text for text in texts if text != "gpuscope"))


def _patterns(node: Node, key: str) -> tuple[str, ...]:
    texts = node.texts(key)
    for text in texts:
        _pattern(node, key, text)
    return texts


def _pattern(node: Node, key: str, text: str) -> None:
    from gpuscope_generator.promql.pattern import check_pattern

    try:
        check_pattern(text)
    except ValueError as error:
        raise node.error(key, str(error)) from error


def _taints(node: Node, key: str) -> tuple[str, ...]:
    texts = _patterns(node, key)
    for text in texts:
        if not text or re.fullmatch(text, "nvidia.com/gpu"):
            raise node.error(key, f"{text!r} takes every node for one under maintenance")
    return texts


def _interactive(node: Node, key: str) -> tuple[str, ...]:
    texts = _patterns(node, key)
    for text in texts:
        if re.fullmatch(text, ""):
            raise node.error(key, f"{text!r} takes all work for interactive")
    return texts


def _rack_labels(node: Node, key: str) -> tuple[str, ...]:
    texts = node.texts(key)
    for text in texts:
        if not _MANIFEST_KEY.fullmatch(text):
            raise node.error(key, f"{text!r} is not the key of a Kubernetes label")
    return texts


def _rack_pattern(node: Node, key: str) -> str:
    text = node.text(key)
    _pattern(node, key, text)
    if text and re.compile(text).groups != 1:
        raise node.error(key, f"{text!r} must have one group: what it matches is the rack")
    return text


def _prices(node: Node, key: str) -> Mapping[str, float]:
    found = {}
    entries = node.mapping(key)
    if len(entries) > _MOST_PRICES:
        raise node.error(key, f"{len(entries)} models: at most {_MOST_PRICES} can stand in a query")
    for model, inner in entries.items():
        if not model.strip():
            raise inner.error(key, "a price for no model: the name is empty")
        if "$" in model or not model.isprintable():
            raise inner.error(f"{key}.{model}", "no name of a model: Grafana would read $ as a variable of the board")
        found[model] = _between(inner, f"{key}.{model}", 0, 1_000_000)
    return found


def _currency(node: Node, key: str) -> str:
    text = node.text(key)
    if not _CURRENCY.fullmatch(text):
        raise node.error(key, f"{text!r} is not a unit of Grafana such as currencyEUR")
    return text


def _manifest_labels(node: Node, key: str) -> Mapping[str, str]:
    found = {}
    for name, inner in node.mapping(key).items():
        path = f"{key}.{name}"
        if not _MANIFEST_KEY.fullmatch(name):
            raise inner.error(path, "not the key of a Kubernetes label")
        text = inner.text(path)
        if not _MANIFEST_VALUE.fullmatch(text):
            raise inner.error(path, f"{text!r} is not the value of a Kubernetes label: at most 63 of a-z A-Z 0-9 . _ -")
        found[name] = text
    return found


_READ: Mapping[str, Callable[[Node, str], Any]] = {
    "cluster_label": _label,
    "selectors": _selectors,
    "thresholds": _thresholds,
    "intervals": _intervals,
    "scrape_interval": _duration,
    "link_prefix": _link_prefix,
    "runbook_prefix": _runbook_prefix,
    "panels_off": _panels_off,
    "extra_tags": _tags,
    "editable": Node.switch,
    "prices": _prices,
    "alerts": read_alerts,
    "maintenance_taints": _taints,
    "interactive_kinds": _interactive,
    "interactive_queues": _interactive,
    "rack_labels": _rack_labels,
    "rack_pattern": _rack_pattern,
    "alert_labels": read_alert_labels,
    "manifest_labels": _manifest_labels,
    "currency": _currency,
    "alertmanager": read_alertmanager,
}
