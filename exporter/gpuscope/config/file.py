"""The YAML file with settings, read so that every complaint can name file, line and key."""

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gpuscope.errors import ConfigError

__all__ = ["Entry", "nearest", "read_file"]

_NULL = "tag:yaml.org,2002:null"
# `simulate` has settings below it, so that inside the mapping its own value needs a name.
_ALIASES = {"simulate.scenario": "simulate"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One setting of the file.

    ``place`` is ``file:line``; ``value`` is a text, a list of texts, ``None``, or ``{}`` for any mapping.
    """

    key: str
    value: Any
    place: str


def nearest(word: str, known: Collection[str]) -> str:
    """``; did you mean …?`` when a known word is near, else nothing."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def read_file(file: Path, known: Collection[str]) -> Iterator[Entry]:
    """Reads the settings of a file.

    Args:
        file: a YAML mapping; nested at the dots of the keys, or with dots in the keys.
        known: keys that exist.

    Raises:
        ConfigError: ``file:line: key: reason``.
    """
    if file.exists() and not file.is_file():
        raise ConfigError(f"--config {file}: is not a regular file")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(f"--config {file}: cannot be read: {reason}") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1}" if mark else f"{file}:1"
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise ConfigError(f"{place}: not valid YAML: {problem}") from error
    except RecursionError as error:
        raise ConfigError(f"{file}:1: not valid YAML: nested too deeply") from error
    if root is None or root.tag == _NULL:
        return
    if not isinstance(root, yaml.MappingNode):
        raise ConfigError(f"{file}:{root.start_mark.line + 1}: must be a mapping of settings")
    yield from _walk(file, root, "", frozenset(known), {})


def _walk(
    file: Path, node: yaml.MappingNode, prefix: str, known: frozenset[str], seen: dict[str, int]
) -> Iterator[Entry]:
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        place = f"{file}:{line}"
        if not isinstance(key_node, yaml.ScalarNode):
            raise ConfigError(f"{place}: {prefix or 'key'}: keys must be plain words")
        written = f"{prefix}{key_node.value}"
        key = _ALIASES.get(written, written)
        section = any(other.startswith(f"{written}.") for other in known)
        nested = section and isinstance(value_node, yaml.MappingNode)
        if nested:
            mark = f"{written}."
        elif key in known:
            mark = key
        elif section:
            raise ConfigError(f"{place}: {written}: must be a mapping of settings")
        else:
            raise ConfigError(f"{place}: {written}: no such setting{nearest(written, known)}")
        if mark in seen:
            raise ConfigError(f"{place}: {written}: given twice, first in line {seen[mark]}")
        seen[mark] = line
        if nested:
            yield from _walk(file, value_node, f"{written}.", known, seen)
        else:
            yield Entry(key, _value(file, written, value_node), place)


def _value(file: Path, key: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        if any(not isinstance(child, yaml.ScalarNode) for child in node.value):
            raise ConfigError(f"{file}:{node.start_mark.line + 1}: {key}: must be a list of texts")
        return [_scalar(child) for child in node.value]
    return _scalar(node) if isinstance(node, yaml.ScalarNode) else {}


def _scalar(node: yaml.ScalarNode) -> str | None:
    """The text as it was written, whatever YAML makes of it: `off` is a word here, and no truth value."""
    return None if node.tag == _NULL else str(node.value)
