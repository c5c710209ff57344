"""Puts settings together: flag before environment before file before default."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuscope.config.collector import COLLECTOR_OPTIONS
from gpuscope.config.file import nearest, read_file
from gpuscope.config.option import Option, Type
from gpuscope.config.settings import OPTIONS, Settings
from gpuscope.errors import ConfigError

__all__ = ["BY_KEY", "Loaded", "load"]

BY_KEY: Mapping[str, Option] = {option.key: option for option in OPTIONS}
"""All settings of the agent by key."""

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

    settings: Settings
    origins: Mapping[str, str]
    options: Sequence[Option] = OPTIONS

    def error(self, key: str, reason: str) -> ConfigError:
        """The error that says what is wrong with a setting, naming the place where it was made."""
        option = next(one for one in self.options if one.key == key)
        return ConfigError(f"{_place(option, self.origins.get(key, option.flag))}: {reason}")


def load(
    flags: Mapping[str, Any],
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    options: Sequence[Option] = OPTIONS,
) -> Loaded:
    """Reads and checks all settings.

    Args:
        flags: texts given on the command line, by key; a list for a list, a truth value for a switch.
        file: YAML file; keys are those of the flags, nested at the dots. Relative paths in it start at its folder.
        environment: variables; those of the process by default.
        options: what can be set.

    Raises:
        ConfigError: names the flag, the variable, or file, line and key.
    """
    variables = os.environ if environment is None else environment
    found: dict[str, tuple[str, Any]] = {}
    by_key = {option.key: option for option in options}
    if file is not None:
        for entry in read_file(file, by_key):
            found[entry.key] = (entry.place, _parse(by_key[entry.key], entry.value, entry.place))
        found = {key: (place, _beside(file, by_key[key], value)) for key, (place, value) in found.items()}
    _refuse_unknown(variables)
    for option in options:
        if variables.get(option.variable):  # an empty variable is how container files say "not set"
            found[option.key] = (option.variable, _parse(option, variables[option.variable], option.variable))
    for key, raw in flags.items():
        found[key] = (by_key[key].flag, _parse(by_key[key], raw, by_key[key].flag))
    values = {option.key: option.default for option in options} | {key: value for key, (_, value) in found.items()}
    return Loaded(Settings(values), {key: place for key, (place, _) in found.items()}, options)


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
    # Agent and collector may share an environment: what one of them knows is no mistake for the other.
    known = {option.variable for option in (*OPTIONS, *COLLECTOR_OPTIONS)}
    for name in sorted(variables):
        if not name.startswith(_PREFIX) or name in known or name in _OTHER_VARIABLES:
            continue
        if name.startswith(_OTHER_PARTS) or _SERVICE_LINK.fullmatch(name):
            continue
        raise ConfigError(f"{name}: no such setting{nearest(name, known)}")
