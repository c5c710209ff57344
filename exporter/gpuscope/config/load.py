"""Puts settings together: flag before environment before file before default."""

import difflib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gpuscope.config.settings import OPTIONS, AgentSettings, Option
from gpuscope.errors import ConfigError

__all__ = ["Loaded", "load"]

_BY_KEY = {option.key: option for option in OPTIONS}
_PREFIX = "GPUSCOPE_"
_OTHER_VARIABLES = {"GPUSCOPE_CONFIG", "GPUSCOPE_SIMULATE_HOOK", "GPUSCOPE_REVISION"}


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where each value that is not the default came from."""

    settings: AgentSettings
    origins: Mapping[str, str]


def load(flags: Mapping[str, Any], file: Path | None = None, environment: Mapping[str, str] | None = None) -> Loaded:
    """Reads and checks all settings.

    Args:
        flags: values given on the command line, by key.
        file: YAML file; keys are those of the flags, nested at the dots.
        environment: variables; those of the process by default.

    Raises:
        ConfigError: names the flag, the variable, or file, line and key.
    """
    variables = os.environ if environment is None else environment
    values: dict[str, Any] = {option.key: option.default for option in OPTIONS}
    origins: dict[str, str] = {}
    for key, raw, place in _file_values(file) if file else ():
        values[key] = _parse(_BY_KEY[key], raw, f"{place}: {key}")
        origins[key] = place
    for option in OPTIONS:
        if option.variable in variables:
            values[option.key] = _parse(option, variables[option.variable], option.variable)
            origins[option.key] = option.variable
    _refuse_unknown(variables)
    for key, raw in flags.items():
        values[key] = _parse(_BY_KEY[key], raw, _BY_KEY[key].flag)
        origins[key] = _BY_KEY[key].flag
    return Loaded(AgentSettings(values), origins)


def _parse(option: Option, raw: Any, place: str) -> Any:
    try:
        return option.parse(raw)
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from error


def _refuse_unknown(variables: Mapping[str, str]) -> None:
    known = {option.variable for option in OPTIONS} | _OTHER_VARIABLES
    for name in variables:
        if name.startswith(_PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(f"{name}: no such setting{hint}")


def _file_values(file: Path) -> Iterator[tuple[str, Any, str]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(f"--config {file}: cannot be read: {reason}") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1}" if mark else str(file)
        raise ConfigError(f"{place}: not YAML: {getattr(error, 'problem', None) or error}") from error
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise ConfigError(f"{file}:1: must be a mapping of settings")
    yield from _walk(file, root, "", set())


def _walk(file: Path, node: yaml.MappingNode, prefix: str, seen: set[str]) -> Iterator[tuple[str, Any, str]]:
    for key_node, value_node in node.value:
        place = f"{file}:{key_node.start_mark.line + 1}"
        key = f"{prefix}{key_node.value}"
        if key in seen:
            raise ConfigError(f"{place}: {key}: stands twice")
        seen.add(key)
        if isinstance(value_node, yaml.MappingNode) and any(known.startswith(f"{key}.") for known in _BY_KEY):
            yield from _walk(file, value_node, f"{key}.", seen)
        elif key in _BY_KEY:
            yield key, _plain(value_node), place
        elif key == "simulate.scenario":  # `simulate` has settings below it, so its own value needs a name here
            yield "simulate", _plain(value_node), place
        else:
            near = difflib.get_close_matches(key, _BY_KEY, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(f"{place}: {key}: no such setting{hint}")


def _plain(node: yaml.Node) -> Any:
    """A value as Python has it; a number or a date stays the text that was written."""
    if isinstance(node, yaml.ScalarNode):
        if node.tag == "tag:yaml.org,2002:bool":
            return node.value.lower() in {"true", "yes", "on"}
        return None if node.tag == "tag:yaml.org,2002:null" else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(child) for child in node.value]
    return {}
