"""Settings as click's flags."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from gpuscope.config import Option, Type

__all__ = ["flags", "given"]

_METAVARS = {Type.DURATION: "DURATION", Type.FILE: "PATH", Type.LIST: "ADDRESS", Type.WHOLE: "N", Type.NUMBER: "X"}


def _name(option: Option) -> str:
    return option.key.replace(".", "_").replace("-", "_")


def _flag(option: Option) -> click.Option:
    written = option.format(option.default)
    switch = option.type is Type.SWITCH
    return click.Option(
        [f"{option.flag}/--no-{option.key}" if switch else option.flag, _name(option)],
        default=None,
        multiple=option.type is Type.LIST,
        metavar=None if switch else "|".join(option.choices).upper() or _METAVARS.get(option.type, "TEXT"),
        type=None if switch else click.UNPROCESSED,
        help=f"{option.help}  [{('on' if option.default else 'off') if switch else written or 'empty'}]",
    )


def flags(options: Sequence[Option]) -> list[click.Parameter]:
    """A flag for each setting, ``--config`` and ``--check-config``."""
    return [
        *(_flag(option) for option in options),
        click.Option(
            ["--config", "file"],
            type=click.Path(path_type=Path),
            envvar="GPUSCOPE_CONFIG",
            help="YAML file with settings; also GPUSCOPE_CONFIG.",
        ),
        click.Option(
            ["--check-config"],
            is_flag=True,
            help="Check the whole configuration, print the settings in force and where they come from, and exit.",
        ),
    ]


def given(options: Sequence[Option], values: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line said, by key, in the form that ``config.load`` takes."""
    keys = {_name(option): option.key for option in options}
    return {
        keys[name]: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None and value != ()
    }
