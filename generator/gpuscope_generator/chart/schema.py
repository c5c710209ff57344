"""The schema of the chart's values: strict, so that a key with a typing mistake is refused by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gpuscope_generator.chart.values import Value

__all__ = ["OFF", "schema_text"]

OFF: tuple[str | bool, ...] = ("off", False)
"""A bare ``off`` is false in YAML 1.1, which Helm reads."""
_LABEL = "^[a-zA-Z_][a-zA-Z0-9_]*$"
_SWITCH = ["auto", "true", "false", True, False]
_TEXT = {"type": "string"}
_NODE_LABEL = {
    "type": "object",
    "required": ["key"],
    "additionalProperties": False,
    "properties": {"key": _TEXT | {"minLength": 1}, "values": {"type": "array", "items": _TEXT}},
}
_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)


def schema_text(values: Sequence[Value], files: Mapping[str, Mapping[str, str]]) -> str:
    """The text of ``values.schema.json``.

    Args:
        values: the keys of ``values.yaml``.
        files: what may be switched off, a kind to its names with what each is: rule files, alerts, boards.
    """
    document = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Values of the chart gpuscope",
        **_object(values),
        "definitions": _definitions(files),
    }
    # Helm hands these to a chart on its own: the files beside it, and the condition of a parent.
    document["properties"] |= {
        "content": {"type": "object"},
        "enabled": {"type": "boolean"},
        "tags": {"type": "object"},
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _object(values: Sequence[Value]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {value.path[-1]: _property(value) for value in values},
    }


def _property(value: Value) -> dict[str, Any]:
    facts = dict(value.facts)
    ref = facts.pop("ref", None)
    is_open = facts.pop("open", False)
    found: dict[str, Any] = {"description": value.comment} if value.comment else {}
    if ref:
        return found | {"$ref": f"#/definitions/{ref}"} | facts
    if value.children:
        return found | _object(value.children) | ({"additionalProperties": True} if is_open else {})
    if "enum" in facts:
        choices = facts.pop("enum")
        return found | facts | {"enum": [*choices, *(one for one in OFF if "off" in choices and one != "off")]}
    return found | {"type": next(name for kind, name in _TYPES if isinstance(value.default, kind))} | facts


def _definitions(files: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    listed = {"type": "array", "items": _TEXT}
    return {
        "level": {"enum": [*OFF, "basic", "full"]},
        "switch": {"enum": _SWITCH},
        "duration": {
            "type": "string",
            "pattern": "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$",
            "minLength": 2,
        },
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "texts": {"type": "object", "additionalProperties": _TEXT},
        # One name that Prometheus refuses, and it loads nothing of the whole file.
        "labels": {"type": "object", "propertyNames": {"pattern": _LABEL}, "additionalProperties": _TEXT},
        "ruleGroups": {"type": "array", "items": _named("name") | {"required": ["name", "rules"]}},
        "strings": listed,
        "names": {"type": "array", "items": _TEXT | {"minLength": 1}},
        "paths": {"type": "array", "items": _TEXT | {"pattern": "^/."}},
        "object": {"type": "object"},
        "objects": {"type": "array", "items": {"type": "object"}},
        "manifests": {"type": "array", "items": {"type": ["object", "string"]}},
        "pullSecrets": {"type": "array", "items": {"anyOf": [_TEXT, _named("name")]}},
        # No ports at all would be every port in a NetworkPolicy.
        "ports": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/port"}},
        "nodeLabels": {"type": "array", "items": _NODE_LABEL},
        **{kind: _switches(names) for kind, names in files.items()},
        "alertChanges": _by_name(files["alertNames"], {"$ref": "#/definitions/alertChange"}),
        "alertChange": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "labels": {"$ref": "#/definitions/labels"},
                "annotations": {"$ref": "#/definitions/labels"},
                "for": {"$ref": "#/definitions/duration"},
            },
        },
    }


def _named(*required: str) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": dict.fromkeys(required, _TEXT)}


def _switches(names: Mapping[str, str]) -> dict[str, Any]:
    return _by_name(names, {"type": "boolean"})


def _by_name(names: Mapping[str, str], one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: dict(one) | ({} if "$ref" in one else {"description": names[name]}) for name in names},
    }
