"""A YAML mapping whose errors name file, line and key."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import yaml

from gpuscope.errors import ConfigError

__all__ = ["Section", "read_yaml"]

_TEXT = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"
_FLAG = "tag:yaml.org,2002:bool"
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_TRUE = ("true", "yes", "on")


class Section:
    """One mapping of a YAML file.

    Args:
        path: file, for messages.
        node: the mapping; ``None`` for one that is not there.
        name: dotted name of the mapping, empty at the top.
    """

    def __init__(self, path: Path, node: yaml.MappingNode | None, name: str = "") -> None:
        self._path = path
        self._name = name
        self._line = 1 if node is None else node.start_mark.line + 1
        self._nodes: dict[str, tuple[yaml.Node, int]] = {}
        for key, value in node.value if node is not None else ():
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self._fail(line, "", "keys must be plain words")
            if key.value in self._nodes:
                self._fail(line, key.value, "given twice")
            self._nodes[key.value] = (value, line)

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __contains__(self, key: str) -> bool:
        return key in self._nodes and self._nodes[key][0].tag != _NULL

    def only(self, allowed: Iterable[str]) -> None:
        """Refuses every other key.

        Raises:
            ConfigError: an unknown key.
        """
        known = sorted(allowed)
        for key, (_, line) in self._nodes.items():
            if key not in known:
                self._fail(line, key, f"unknown key; known are: {', '.join(known)}")

    def error(self, key: str, reason: str) -> ConfigError:
        """An error about the value of ``key``, or about the mapping when the key is not there."""
        line = self._nodes[key][1] if key in self._nodes else self._line
        return ConfigError(f"{self._path}:{line}: {self._dotted(key)}: {reason}")

    def text(self, key: str, default: str = "") -> str:
        """A text."""
        if key not in self:
            return default
        node = self._nodes[key][0]
        if not isinstance(node, yaml.ScalarNode) or node.tag == _FLAG:
            raise self.error(key, "must be a text")
        return str(node.value)

    def number(self, key: str, default: float) -> float:
        """A number that is not negative."""
        if key not in self:
            return default
        node = self._nodes[key][0]
        try:
            value = float(node.value) if node.tag in _NUMBERS else -1.0
        except (TypeError, ValueError):
            value = -1.0
        if not 0.0 <= value < float("inf"):
            raise self.error(key, "must be a number, 0 or more")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """``true`` or ``false``."""
        if key not in self:
            return default
        node = self._nodes[key][0]
        if not isinstance(node, yaml.ScalarNode) or node.tag != _FLAG:
            raise self.error(key, "must be true or false")
        return node.value.lower() in _TRUE

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        if key not in self:
            return ()
        node = self._nodes[key][0]
        if not isinstance(node, yaml.SequenceNode) or not all(isinstance(item, yaml.ScalarNode) for item in node.value):
            raise self.error(key, "must be a list of texts")
        return tuple(item.value for item in node.value)

    def section(self, key: str) -> "Section":
        """A mapping inside this one; an empty one when the key is not there."""
        node = self._nodes[key][0] if key in self else None
        if node is not None and not isinstance(node, yaml.MappingNode):
            raise self.error(key, "must be a mapping")
        return Section(self._path, node, self._dotted(key))

    def _dotted(self, key: str) -> str:
        return ".".join(part for part in (self._name, key) if part)

    def _fail(self, line: int, key: str, reason: str) -> NoReturn:
        raise ConfigError(f"{self._path}:{line}: {self._dotted(key) or 'key'}: {reason}")


def read_yaml(path: Path) -> Section:
    """Reads a YAML file whose top is a mapping; an empty file is an empty mapping.

    Raises:
        ConfigError: unreadable, not YAML, or something else than a mapping; the message names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(f"{path}: cannot be read: {reason}") from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}:1: not valid YAML: {str(error).splitlines()[0]}") from error
    if node is None or node.tag == _NULL:
        return Section(path, None)
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{path}:{node.start_mark.line + 1}: must be a mapping of keys to values")
    return Section(path, node)
