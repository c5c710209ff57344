"""What null means for each key of the chart's values: Helm takes a key that is null away before a template sees it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from gpuscope_generator.chart.values import Value

__all__ = ["empty_text"]

_NEVER_EMPTY = frozenset(("duration", "level", "port", "ports", "switch"))
"""Kinds of the schema that have no empty value, or one that means something else: no ports are all ports."""
_HEAD = """{{/* Made by `gpuscope-generator chart`, do not edit. What null means for a key, if anything. */}}
{{- define "gpuscope.empty" -}}
"""


def empty_text(values: Sequence[Value]) -> str:
    """The text of ``templates/values/_empty.tpl``.

    Args:
        values: the keys of ``values.yaml``.
    """
    leaves = [leaf for value in values if value.name != "global" for leaf in value.leaves()]
    lines = ",\n".join(f"{json.dumps(leaf.name)}: {json.dumps(_empty(leaf))}" for leaf in leaves)
    return f"{_HEAD}{{\n{lines}\n}}\n{{{{- end -}}}}\n"


def _empty(value: Value) -> str | list[object] | dict[str, object] | None:
    facts = value.facts
    if facts.get("ref") in _NEVER_EMPTY:
        return None
    if isinstance(value.default, list):
        return []
    if isinstance(value.default, dict):
        return {}
    fits = "" in facts.get("enum", ("",)) and not facts.get("minLength") and re.search(facts.get("pattern", ""), "")
    return "" if isinstance(value.default, str) and fits else None
