"""Puts settings together: flag before environment before file before default."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuscope.config.file import nearest, read_file
from gpuscope.config.option import Option, Type
from gpuscope.config.settings import OPTIONS, AgentSettings
from gpuscope.errors import ConfigError

__all__ = ["BY_KEY", "Loaded", "load"]

BY_KEY: Mapping[str, Option] = {option.key: option for option in OPTIONS}
"""All settings by key."""

_PREFIX = "GPUSCOPE_"
_OTHER_PARTS = ("GPUSCOPE_DEMO_", "GPUSCOPE_TEST_", "GPUSCOPE_TOP_", "GPUSCOPE_SIMULATE_HOOK")
_OTHER_VARIABLES = ("GPUSCOPE_CONFIG", "GPUSCOPE_REVISION")
# Kubernetes tells every pod about every Service of its namespace, and one of them may be named gpuscope.
_SERVICE_LINK = re.compile(
    r"GPUSCOPE(_[A-Z0-9_]+)?_"
    r"(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where each value that is not the default came from: a flag, a variable, or file and line."""

    settings: AgentSettings
    origins: Mapping[str, str]

    def error(self, key: str, reason: str) -> ConfigError:
        """The error that says what is wrong with a setting, naming the place where it was made."""
        return ConfigError(f"{_place(BY_KEY[key], self.origins.get(key, BY_KEY[key].flag))}: {reason}")


def load(flags: Mapping[str, Any], file: Path | None = None, environment: Mapping[str, str] | None = None) -> Loaded:
    """Reads and checks all settings.

    Args:
        flags: texts given on the command line, by key; a list for a list, a truth value for a switch.
        file: YAML file; keys are those of the flags, nested at the dots. Relative paths in it start at its folder.
        environment: variables; those of the process by default.

    Raises:
        ConfigError: names the flag, the variable, or file, line and key.
    """
    variables = os.environ if environment is None else environment
    found: dict[str, tuple[str, Any]] = {}
    if file is not None:
        for entry in read_file(file, BY_KEY):
            found[entry.key] = (entry.place, _parse(BY_KEY[entry.key], entry.value, entry.place))
        found = {key: (place, _beside(file, BY_KEY[key], value)) for key, (place, value) in found.items()}
    _refuse_unknown(variables)
    for option in OPTIONS:
        if variables.get(option.variable):  # an empty variable is how container files say "not set"
            found[option.key] = (option.variable, _parse(option, variables[option.variable], option.variable))
    for key, raw in flags.items():
        found[key] = (BY_KEY[key].flag, _parse(BY_KEY[key], raw, BY_KEY[key].flag))
    values = {option.key: option.default for option in OPTIONS} | {key: value for key, (_, value) in found.items()}
    return Loaded(AgentSettings(values), {key: place for key, (place, _) in found.items()})


def _parse(option: Option, raw: Any, place: str) -> Any:
    try:
        return option.parse(raw)
    except ValueError as error:
        raise ConfigError(f"{_place(option, place)}: {error}") from error


def _place(option: Option, place: str) -> str:
    """A flag or a variable is a name already; file and line need the key."""
    return place if place in {option.flag, option.variable} else f"{place}: {option.key}"


def _beside(file: Path, option: Option, value: Any) -> Any:
    if option.type is not Type.FILE or not value or value in option.choices:
        return value
    return str(file.parent / value)


def _refuse_unknown(variables: Mapping[str, str]) -> None:
    known = {option.variable for option in OPTIONS}
    for name in sorted(variables):
        if not name.startswith(_PREFIX) or name in known or name in _OTHER_VARIABLES:
            continue
        if name.startswith(_OTHER_PARTS) or _SERVICE_LINK.fullmatch(name):
            continue
        raise ConfigError(f"{name}: no such setting{nearest(name, known)}")
