"""Flags of the commands that talk to a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from gpuscope_generator.commands.duration import Seconds

__all__ = ["access_options"]

_F = TypeVar("_F", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path, dir_okay=False)


def access_options(variable: str) -> Callable[[_F], _F]:
    """Token, user, password, authorities, headers and time-out. Secrets come from files or from the environment.

    Args:
        variable: begin of the names of the environment variables.
    """
    options = (
        click.option("--token-file", type=_FILE, help=f"File with a bearer token; else ${variable}_TOKEN is taken."),
        click.option("--user", default="", help="Name for basic authentication."),
        click.option("--password-file", type=_FILE, help=f"File with its password; else ${variable}_PASSWORD."),
        click.option("--ca-file", type=_FILE, help="Authorities (PEM) of the server's certificate."),
        click.option(
            "--header", "headers", multiple=True, help="NAME=VALUE sent with each request, such as X-Scope-OrgID=gpu."
        ),
        click.option(
            "--timeout",
            "timeout_s",
            type=Seconds(min=0.1, max=3600),
            default=30.0,
            show_default=True,
            help="Seconds without an answer after which a server counts as unreachable.",
        ),
    )

    def decorate(command: _F) -> _F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
