"""A YAML file that remembers where its keys stand, so that a mistake is named with file, line and key."""

import difflib
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from gpuscope.errors import ConfigError

__all__ = ["Document", "Path", "nearest", "number_problem"]

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML mapping.

    Attributes:
        source: file name for messages.
        value: the mapping.
        lines: line of each key path, from 1.
    """

    source: str
    value: dict[str, Any]
    lines: Mapping[Path, int]

    @classmethod
    def parse(cls, source: str, text: str) -> "Document":
        """Reads YAML text.

        Raises:
            ConfigError: not YAML, not a mapping, or a key given twice.
        """
        try:
            node = yaml.compose(text, Loader=yaml.SafeLoader)
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = f"{source}:{mark.line + 1}" if mark else source
            raise ConfigError(f"{place}: not YAML: {getattr(error, 'problem', None) or error}") from error
        except (RecursionError, ValueError) as error:
            raise ConfigError(f"{source}: not usable YAML: {type(error).__name__}") from error
        if not isinstance(value, dict):
            raise ConfigError(f"{source}:1: must be a mapping of keys and values")
        return cls(source, value, {(): 1, **dict(_walk(source, node, (), set()))})

    def fail(self, path: Path, reason: str) -> ConfigError:
        """The error for a key; the line is that of the key or of what it stands in."""
        line = next(self.lines[path[:size]] for size in range(len(path), -1, -1) if path[:size] in self.lines)
        key = ".".join(str(part) for part in path)
        return ConfigError(f"{self.source}:{line}: {key}: {reason}" if key else f"{self.source}:{line}: {reason}")

    def mapping(self, path: Path, value: object, keys: Collection[str]) -> dict[str, Any]:
        """The value as a mapping with these keys only.

        Raises:
            ConfigError: something else.
        """
        if not isinstance(value, dict):
            raise self.fail(path, f"must be a mapping with the keys {', '.join(sorted(set(keys)))}")
        for key in value:
            if key not in keys:
                raise self.fail((*path, key), f"unknown key{nearest(key, keys)}")
        return value

    def sequence(self, path: Path, value: object, what: str) -> list[Any]:
        """The value as a list.

        Raises:
            ConfigError: something else.
        """
        if not isinstance(value, list):
            raise self.fail(path, f"must be a list of {what}")
        return value

    def one_of(self, path: Path, value: object, allowed: Collection[str]) -> str:
        """The value as one of these words.

        Raises:
            ConfigError: something else.
        """
        if not isinstance(value, str) or value not in allowed:
            wrong = "is missing; it is one of" if value is None else f"{value!r} is not one of"
            raise self.fail(path, f"{wrong} {', '.join(sorted(allowed))}")
        return value

    def flag(self, path: Path, value: object) -> bool:
        """The value as true or false.

        Raises:
            ConfigError: something else.
        """
        if not isinstance(value, bool):
            raise self.fail(path, f"{value!r} is neither true nor false")
        return value

    def whole(self, path: Path, value: object, low: int, high: int) -> int:
        """The value as a whole number in a range.

        Raises:
            ConfigError: something else.
        """
        problem = number_problem(value, low, high, whole=True)
        if problem:
            raise self.fail(path, problem)
        assert isinstance(value, int)
        return value

    def text(self, path: Path, value: object) -> str:
        """The value as text.

        Raises:
            ConfigError: something else.
        """
        if not isinstance(value, str):
            raise self.fail(path, "is missing" if value is None else f"{value!r} is no text; put it in quotes")
        return value


def nearest(word: object, known: Collection[str]) -> str:
    """The end of a message about an unknown word: what was probably meant, or what there is."""
    near = difflib.get_close_matches(str(word), known, n=3)
    return f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(sorted(set(known)))}"


def number_problem(value: object, low: float, high: float, *, whole: bool = False) -> str:
    """What is wrong with a number, or an empty string."""
    kind = "a whole number" if whole else "a number"
    if value is None:
        return f"is missing; it is {kind}"
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return f"{value!r} is not {kind}"
    if not math.isfinite(value) or not low <= value <= high:
        return f"{value!r} is not {kind} from {low:g} to {high:g}"
    return ""


def _walk(source: str, node: Any, path: Path, above: set[int]) -> Iterator[tuple[Path, int]]:
    if id(node) in above:
        raise ConfigError(f"{source}:{node.start_mark.line + 1}: an alias refers to what it stands in")
    inside = above | {id(node)}
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if key.value in seen:
                raise ConfigError(f"{source}:{key.start_mark.line + 1}: {key.value}: given twice")
            if isinstance(key, yaml.ScalarNode):
                seen.add(key.value)
            yield (*path, key.value), key.start_mark.line + 1
            yield from _walk(source, value, (*path, key.value), inside)
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield (*path, number), value.start_mark.line + 1
            yield from _walk(source, value, (*path, number), inside)
