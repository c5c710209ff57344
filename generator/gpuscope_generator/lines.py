"""YAML that knows its lines: every complaint names file, line and key."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import yaml

from gpuscope.errors import ConfigError

__all__ = ["Node", "nearest", "parse_yaml", "read_text", "read_yaml"]

_EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SHOWN = 200
"""Characters of a value that a message repeats."""
_PREFIX = "tag:yaml.org,2002:"


def nearest(word: str, known: Collection[str]) -> str:
    """``; did you mean …?`` when a known word is near, else nothing."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a file.

    Attributes:
        file: as messages name it.
        line: from 1; 0 where lines are unknown, as in what Jsonnet computed.
        node: as the parser gave it.
        source: text of the file, in which a key is looked for where lines are unknown.
    """

    file: str
    line: int
    node: yaml.Node
    source: str = ""

    def error(self, key: str, reason: str) -> ConfigError:
        """The complaint, for ``raise``."""
        line = self.line or _line_of(self.source, key)
        place = f"{self.file}:{line}" if line else self.file
        return ConfigError(_visible(f"{place}: {key}: {reason}" if key else f"{place}: {reason}"))

    @property
    def kind(self) -> str:
        """``map``, ``seq``, ``str``, ``int``, ``float``, ``bool`` or ``null``."""
        return self.node.tag.removeprefix(_PREFIX)

    def mapping(self, key: str) -> dict[str, Node]:
        """The entries of a mapping; nothing at all counts as an empty one.

        Raises:
            ConfigError: something else, or a key that stands there twice.
        """
        if self.kind == "null":
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(key, f"must be a mapping, not {self._described}")
        found: dict[str, Node] = {}
        for name, value in self.node.value:
            place = Node(self.file, self._line(name), value, self.source)
            path = f"{key}." if key else ""
            if not isinstance(name, yaml.ScalarNode) or _UNWRITABLE.search(name.value):
                raise place.error(key, "keys must be plain words")
            if name.value in found:
                raise place.error(f"{path}{name.value}", f"given twice, first in line {found[name.value].line}")
            found[name.value] = place
        return found

    def text(self, key: str) -> str:
        """A text.

        Raises:
            ConfigError: something else; numbers and words such as ``yes`` must be quoted.
        """
        if self.kind != "str":
            quote = "; quote it" if self.kind in ("int", "float", "bool", "timestamp") else ""
            raise self.error(key, f"must be a text, not {self._described}{quote}")
        text = str(self.node.value)
        if _UNWRITABLE.search(text):
            raise self.error(key, f"{text[:_SHOWN]!r} has a character that cannot be written")
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts.

        Raises:
            ConfigError: something else.
        """
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(key, f"must be a list of texts, not {self._described}")
        return tuple(Node(self.file, self._line(item), item, self.source).text(key) for item in self.node.value)

    def number(self, key: str) -> float:
        """A number that is neither infinite nor NaN.

        Raises:
            ConfigError: something else.
        """
        # YAML 1.1 wants a point and a sign in 1.0e+3; everybody else writes 1e3.
        exponent = (
            isinstance(self.node, yaml.ScalarNode) and self.node.style is None and _EXPONENT.fullmatch(self.node.value)
        )
        if self.kind not in ("int", "float") and not exponent:
            raise self.error(key, f"must be a number, not {self._described}")
        try:
            value = float(self.node.value if exponent else yaml.SafeLoader("").construct_object(self.node))
        except (OverflowError, ValueError):
            value = math.inf
        if not math.isfinite(value):
            raise self.error(key, f"must be a finite number, not {self.node.value[:_SHOWN]}")
        return value

    def switch(self, key: str) -> bool:
        """True or false.

        Raises:
            ConfigError: something else.
        """
        if self.kind != "bool":
            raise self.error(key, f"must be true or false, not {self._described}")
        return bool(yaml.SafeLoader("").construct_object(self.node))

    @property
    def _described(self) -> str:
        if isinstance(self.node, yaml.ScalarNode):
            return f"{self.node.value[:_SHOWN]!r}" if self.kind != "null" else "nothing"
        return "a list" if isinstance(self.node, yaml.SequenceNode) else "a mapping"

    def _line(self, node: yaml.Node) -> int:
        return node.start_mark.line + 1 if self.line else 0


def _visible(text: str) -> str:
    """One line that any terminal can show."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def _line_of(source: str, key: str) -> int:
    """The only line of a text that sets a key; 0 where it stands in none or in several."""
    name = re.escape(key.rpartition(".")[2] or key)
    pattern = re.compile(rf"""(^|[\s{{,'"]){name}['"]?\s*\+?:""")
    found = [number for number, line in enumerate(source.splitlines(), 1) if pattern.search(line)]
    return found[0] if key and len(found) == 1 else 0


def read_yaml(flag: str, file: Path) -> Node:
    """The root of a YAML file.

    Args:
        flag: that named the file, for messages.
        file: to read.

    Raises:
        ConfigError: it cannot be read, or is not YAML.
    """
    return parse_yaml(str(file), read_text(flag, file))


def read_text(flag: str, file: Path) -> str:
    """The text of a file.

    Raises:
        ConfigError: it cannot be read.
    """
    if file.exists() and not file.is_file():
        raise ConfigError(f"{flag} {file}: is not a regular file")
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{flag} {file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{flag} {file}: not UTF-8 text") from error


def parse_yaml(name: str, text: str) -> Node:
    """The root of a YAML document.

    Raises:
        ConfigError: not YAML; the line is named.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise ConfigError(f"{name}:{mark.line + 1 if mark else 1}: not valid YAML: {problem}") from error
    except RecursionError as error:
        raise ConfigError(f"{name}:1: not valid YAML: nested too deeply") from error
    if root is None:
        root = yaml.ScalarNode(f"{_PREFIX}null", "")
        return Node(name, 1, root)
    return Node(name, root.start_mark.line + 1, root)
