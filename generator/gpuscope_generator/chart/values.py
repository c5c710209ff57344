"""Reads the chart's ``values.yaml``: every key with its default, its comment, and what else it may be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

__all__ = ["Value", "read_values"]

_MARK = "@schema "


@dataclass(frozen=True, slots=True)
class Value:
    """One key.

    Attributes:
        path: its names from the root.
        default: its value in the file.
        comment: what it means, as one line.
        facts: what its ``@schema`` line says.
        children: keys inside it; empty for what is set as a whole.
    """

    path: tuple[str, ...]
    default: Any
    comment: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    children: tuple[Value, ...] = ()

    @property
    def name(self) -> str:
        """The path as ``--set`` wants it."""
        return ".".join(self.path)

    def leaves(self) -> Iterator[Value]:
        """Itself, or all keys below it that have none."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


def read_values(text: str) -> tuple[Value, ...]:
    """The keys of a values file.

    Args:
        text: YAML. The comment lines directly above a key belong to it; one of them may be ``@schema`` and JSON.

    Raises:
        ValueError: no mapping, a key that is set as a whole and has no comment, or a ``@schema`` that is no JSON
            object; the message names the line.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        raise ValueError("no mapping of values")  # noqa: TRY004
    return _keys(root, (), text.splitlines(), yaml.safe_load(text))


def _keys(
    node: yaml.MappingNode, above: tuple[str, ...], lines: list[str], values: Mapping[str, Any]
) -> tuple[Value, ...]:
    found = []
    for key, value in node.value:
        line = key.start_mark.line
        comment, facts = _comment(lines, line)
        path = (*above, str(key.value))
        default = values[key.value]
        children: tuple[Value, ...] = ()
        if isinstance(value, yaml.MappingNode) and "ref" not in facts:
            children = _keys(value, path, lines, default)
        if not children and not comment:
            raise ValueError(f"line {line + 1}: {'.'.join(path)} has no comment")
        found.append(Value(path, default, comment, facts, children))
    return tuple(found)


def _comment(lines: list[str], line: int) -> tuple[str, Mapping[str, Any]]:
    indent = len(lines[line]) - len(lines[line].lstrip())
    texts: list[str] = []
    facts: dict[str, Any] = {}
    for number in range(line - 1, -1, -1):
        found = lines[number]
        if not found.startswith(f"{' ' * indent}# "):
            break
        text = found.strip().removeprefix("# ")
        if text.startswith(_MARK):
            facts = _facts(text.removeprefix(_MARK), number)
        else:
            texts.insert(0, text)
    return " ".join(texts), facts


def _facts(text: str, number: int) -> dict[str, Any]:
    try:
        facts = json.loads(text)
    except ValueError as error:
        raise ValueError(f"line {number + 1}: @schema: {error}") from error
    if not isinstance(facts, dict):
        raise ValueError(f"line {number + 1}: @schema: not an object")  # noqa: TRY004
    return facts
