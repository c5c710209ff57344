"""Generated tables inside the chart's README, each between two comments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpuscope_generator.chart.values import Value
from gpuscope_generator.markdown import code, codes, table

__all__ = ["fill_page"]

_PLACE = re.compile(r"<!-- (?P<name>[a-z]+): made by[^>]*-->\n.*?<!-- /(?P=name) -->\n", re.DOTALL)
_CHOICES: Mapping[str, tuple[str, ...]] = {"level": ("off", "basic", "full"), "switch": ("auto", "true", "false")}


def fill_page(page: str, values: Sequence[Value], files: Mapping[str, Mapping[str, str]]) -> str:
    """The page with fresh tables: all values, and what can be switched off.

    Raises:
        ValueError: a table that nobody can make, or none at all.
    """
    tables = {"values": values_table(values)} | {
        name: table(("Name", "About"), [(code(one), text) for one, text in listed.items()])
        for name, listed in files.items()
    }
    missing = [found["name"] for found in _PLACE.finditer(page) if found["name"] not in tables]
    if missing:
        raise ValueError(f"no table {missing[0]!r}; there are {', '.join(tables)}")
    filled, count = _PLACE.subn(
        lambda found: (
            f"<!-- {found['name']}: made by `gpuscope-generator chart`, do not edit -->\n"
            f"{tables[found['name']]}\n<!-- /{found['name']} -->\n"
        ),
        page,
    )
    if count == 0:
        raise ValueError("no table in it")
    return filled


def values_table(values: Sequence[Value]) -> str:
    """Every key that can be set: its default and what it means."""
    return table(
        ("Key", "Default", "Meaning"),
        [(code(leaf.name), code(_shown(leaf.default)), _meaning(leaf)) for value in values for leaf in value.leaves()],
    )


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _meaning(value: Value) -> str:
    choices = value.facts.get("enum") or _CHOICES.get(value.facts.get("ref", ""), ())
    listed = codes(str(one) for one in choices if isinstance(one, str))
    return f"{value.comment} One of {listed}." if listed else value.comment
