"""The table of all settings, from their own declarations."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from typing import Any

from gpuscope_generator.loading import as_plain, bounds_of
from gpuscope_generator.markdown import code, table
from gpuscope_generator.settings import Intervals, Settings, Thresholds

__all__ = ["meanings", "settings_table"]

_ATTRIBUTE = re.compile(r"^    (?P<name>\w+): (?P<text>.+?)(?=^    \w+: |\Z)", re.MULTILINE | re.DOTALL)
_KINDS = {
    "selectors": "mapping of texts",
    "panels_off": "list of texts",
    "extra_tags": "list of texts",
    "maintenance_taints": "list of texts",
    "interactive_kinds": "list of texts",
    "interactive_queues": "list of texts",
    "rack_labels": "list of texts",
    "prices": "mapping of numbers",
    "editable": "`true` or `false`",
    "scrape_interval": "duration, `1s` to `1h`",
    "alerts": "mapping of [changes](#alerts)",
    "alert_labels": "mapping of texts",
    "manifest_labels": "mapping of texts",
    "alertmanager": "mapping",
}


def settings_table() -> str:
    """One row a setting: key, what it may be, its default, what it means and when to change it."""
    rows = []
    defaults = as_plain(Settings())
    for key, text in meanings(Settings).items():
        inner = {"thresholds": Thresholds, "intervals": Intervals}.get(key)
        if inner is None:
            shown = "" if key == "alertmanager" else _shown(defaults[key])
            rows.append((code(key), _KINDS.get(key, "text"), shown, text))
            continue
        for name, meaning in meanings(inner).items():
            value = defaults[key][name]
            rows.append((code(f"{key}.{name}"), _numbers(key, name, value), _shown(value), meaning))
    return table(("Setting", "Kind", "Default", "Meaning"), rows)


def meanings(declared: type[Any]) -> dict[str, str]:
    """The text of each field, as the docstring of its class has it.

    Raises:
        ValueError: a field without a text.
    """
    section = inspect.cleandoc(declared.__doc__ or "").partition("Attributes:\n")[2]
    found = {match["name"]: " ".join(match["text"].split()) for match in _ATTRIBUTE.finditer(section)}
    missing = [field.name for field in dataclasses.fields(declared) if field.name not in found]
    if missing:
        raise ValueError(f"{declared.__name__} says nothing about {', '.join(missing)}")
    return {
        field.name: f"{found[field.name][0].upper()}{found[field.name][1:]}".replace("``", "`")
        for field in dataclasses.fields(declared)
    }


def _numbers(key: str, name: str, value: Any) -> str:
    low, high = (5, 3600) if key == "intervals" else bounds_of(name)
    kind = "whole number" if isinstance(value, int) else "number"
    return f"{kind}, {low:g} to {high:g}" if high < 1e12 else kind


def _shown(value: Any) -> str:
    return "" if value in ("", [], {}) else code(value if isinstance(value, str) else json.dumps(value))
