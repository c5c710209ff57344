"""Boards through Grafana's own typed model: what it does not know would be lost at the first save."""

import json
import warnings
from typing import Any

import pytest
from tests.generator.lint.artefacts import documents, nouns

NEWER = {"wrapHeaderText"}
"""Keys that the model does not know yet. Grafana 12 wraps long heads of columns by this one; older ones ignore it."""


def lost(board: dict[str, Any]) -> list[str]:
    """Keys that the typed model of Grafana drops or changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from grafana_foundation_sdk.cog.encoder import JSONEncoder
        from grafana_foundation_sdk.cog.plugins import register_default_plugins
        from grafana_foundation_sdk.models.dashboard import Dashboard

        register_default_plugins()
        source = _pruned(board)
        decoded = json.loads(JSONEncoder().encode(Dashboard.from_json(source)))
    return list(_lost(source, decoded, "$"))


def _pruned(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _pruned(value) for key, value in found.items() if value is not None}
    return [_pruned(item) for item in found] if isinstance(found, list) else found


def _lost(one: Any, other: Any, path: str) -> list[str]:
    if isinstance(one, dict):
        if not isinstance(other, dict):
            return [path]
        missing = [
            f"{path}.{key}"
            for key, value in one.items()
            if key not in other and key not in NEWER and value not in ("", [], {})
        ]
        return missing + [
            inner for key in one if key in other for inner in _lost(one[key], other[key], f"{path}.{key}")
        ]
    if isinstance(one, list) and isinstance(other, list):
        short = [path] if len(one) != len(other) else []
        pairs = zip(one, other, strict=False)
        return short + [inner for index, pair in enumerate(pairs) for inner in _lost(*pair, f"{path}[{index}]")]
    return [] if one == other else [f"{path}: {one!r} became {other!r}"]


@pytest.mark.parametrize("noun", nouns())
def test_no_key_is_lost(noun: str) -> None:
    assert lost(documents()[noun]) == []
