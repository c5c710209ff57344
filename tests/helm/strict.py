"""Checks objects against the schemas of Kubernetes and of the operators, unknown fields refused."""

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
from kubernetes_validate import utils
from referencing import Registry, Resource
from tests.helm.charts import CACHE, Object

VERSIONS = tuple(f"1.{minor}" for minor in range(25, 38))
"""Every Kubernetes that the chart is for."""
_FOLDER = "kubernetes-json-schema/v{}-local-strict"

_NAMED = {"type": "object", "additionalProperties": False, "required": ["name", "key"]}
_TEXT = {"type": "string"}
GRAFANA_DASHBOARD: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "grafana.integreatly.org/v1beta1"},
        "kind": _TEXT,
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "additionalProperties": False,
            "required": ["instanceSelector"],
            "not": {"required": ["folder", "folderUID"]},
            "properties": {
                "instanceSelector": {
                    "type": "object",
                    "additionalProperties": False,
                    "minProperties": 1,
                    "properties": {
                        "matchLabels": {"type": "object", "additionalProperties": _TEXT},
                        "matchExpressions": {"type": "array"},
                    },
                },
                "configMapRef": _NAMED | {"properties": {"name": _TEXT, "key": _TEXT}},
                "resyncPeriod": {"type": "string", "pattern": "^([0-9]+(ms|s|m|h))+$"},
                "folder": _TEXT,
                "folderUID": _TEXT,
                "allowCrossNamespaceImport": {"const": True},
            },
        },
    },
}
"""The fields that we use of the Grafana operator's kind; no package on a registry has models of it."""


def faults(found: Object, version: str) -> list[str]:
    """What is wrong with an object on that Kubernetes: path and reason; empty when it is right.

    Raises:
        AssertionError: a kind that nothing is known of.
    """
    errors = _validator(found["apiVersion"], found["kind"], version).iter_errors(found)
    return [f"{error.json_path}: {error.message}" for error in errors]


@functools.cache
def _operator() -> Mapping[str, Any]:
    schemas: dict[str, Any] = json.loads((CACHE / "operator.json").read_text(encoding="utf-8"))
    for part in _mappings(schemas):
        if "properties" in part and part.get("type") == "object":
            part["additionalProperties"] = False
    return schemas | {"GrafanaDashboard": GRAFANA_DASHBOARD}


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _mappings(one)


@functools.cache
def _definitions(version: str) -> Resource[Any]:
    return Resource.from_contents(utils.schema_contents(f"{_FOLDER.format(_full(version))}/_definitions.json", version))


@functools.cache
def _full(version: str) -> str:
    return next(one for one in utils.all_versions() if utils.major_minor(one) == version)


@functools.cache
def _validator(group: str, kind: str, version: str) -> jsonschema.Draft202012Validator:
    if kind in _operator():
        return jsonschema.Draft202012Validator(_operator()[kind])
    name, _, rest = group.rpartition("/")
    prefix = f"{name.split('.')[0]}-{rest}" if name else rest
    try:
        schema = utils.schema_contents(f"{_FOLDER.format(_full(version))}/{kind.lower()}-{prefix}.json", version)
    except FileNotFoundError:
        raise AssertionError(f"Kubernetes {version} has no {kind} of {group}") from None
    definitions = _definitions(version)
    registry: Registry[Any] = definitions @ (Resource.from_contents(schema) @ Registry())
    return jsonschema.Draft202012Validator(schema, registry=registry)
