"""What the settings say of alerts: each change is checked where its key and its line are known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpuscope_generator.alertmanager.fields import duration
from gpuscope_generator.lines import Node, nearest
from gpuscope_generator.settings import AlertChange, Settings

__all__ = ["OWN_LABELS", "read_alert_labels", "read_alerts"]

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
OWN_LABELS = ("alertname", "alertstate", "severity", "scope", "component", "audience", "fault_class")
"""Labels that every alert of ours may have, whatever it is about."""


def read_alerts(node: Node, key: str) -> Mapping[str, AlertChange]:
    """Changes of alerts, by name or by name and severity.

    Raises:
        ConfigError: an alert or a key that is not there, a value that does not fit, or two alerts of one name that
            would have the same labels.
    """
    from gpuscope_generator.rules.alerts import all_alerts

    alerts = all_alerts(Settings())
    known = sorted({one.name for one in alerts} | {one.key for one in alerts})
    found = {}
    for name, inner in node.mapping(key).items():
        path = f"{key}.{name}"
        if name not in known:
            raise inner.error(path, f"no such alert{nearest(name, known)}")
        found[name] = _change(inner, path)
    _check_different(node, key, found)
    return found


def _check_different(node: Node, key: str, changes: Mapping[str, AlertChange]) -> None:
    """Alertmanager takes alerts with equal labels for one, which would then end and begin all the time."""
    from gpuscope_generator.rules.alerts import all_alerts
    from gpuscope_generator.rules.annotations import labels_of

    usual = all_alerts(Settings())
    made = all_alerts(Settings(alerts=changes))
    seen = set()
    for one in made:
        labels = (one.name, *labels_of(one, Settings()).items())
        if labels in seen:
            said = [name for name, change in changes.items() if name.partition("/")[0] == one.name and change.severity]
            moved = next(each.key for each in usual if each.name == one.name and each.severity is not one.severity)
            text = f"would be {one.severity.value} twice, and nobody could tell one from the other; "
            text += f"{moved}: {{enabled: false}} turns one off"
            raise node.mapping(key)[said[-1]].error(f"{key}.{said[-1]}", text)
        seen.add(labels)


def _change(node: Node, key: str) -> AlertChange:
    known = ("enabled", "severity", "for", "keep_firing_for")
    found: dict[str, Any] = {}
    for name, inner in node.mapping(key).items():
        path = f"{key}.{name}"
        if name not in known:
            raise inner.error(path, f"no such setting{nearest(name, known) or '; there are ' + ', '.join(known)}")
        if name == "enabled":
            found[name] = inner.switch(path)
        elif name == "severity":
            found[name] = _severity(inner, path)
        else:
            found[f"{name}_s"] = _duration(inner, path)
    return AlertChange(**found)


def _severity(node: Node, key: str) -> str:
    text = node.text(key)
    if text not in ("critical", "warning", "info"):
        raise node.error(key, f"{text!r} is not critical, warning or info")
    return text


def _duration(node: Node, key: str) -> int:
    return 0 if node.text(key) == "0" else duration(node, key, 0, 604_800)


def read_alert_labels(node: Node, key: str) -> Mapping[str, str]:
    """Labels for every alert.

    Raises:
        ConfigError: no name of a label, one by which an alert says what it is about, or a value that Prometheus would
            not take as it is.
    """
    from gpuscope_generator.rules.alerts import all_alerts

    taken = {*OWN_LABELS, *(label for one in all_alerts(Settings()) for label in one.expression.labels or ())}
    found = {}
    for name, inner in node.mapping(key).items():
        path = f"{key}.{name}"
        if not _LABEL.fullmatch(name) or name.startswith("__"):
            raise inner.error(path, "not a label name: letters, digits and _, no digit first, no __ in front")
        if name in taken:
            raise inner.error(path, "alerts have this label already")
        text = inner.text(path)
        if "{{" in text:
            raise inner.error(path, f"{text!r}: Prometheus would read {{{{ as a template")
        found[name] = text
    return found
