"""Commands that write boards, rules, the mixin and the pages about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import click

__all__ = ["OWNED", "everything", "output_options", "publish_or_check", "settings_option"]

_F = TypeVar("_F", bound=Callable[..., Any])
_PARTS = ("dashboards", "rules", "mixin", "chart", "docs")
_ALL = ("dashboards", "rules", "alertmanager", "mixin", "chart", "docs")
_HELP = {
    "all": "Write the boards, the rules, Alertmanager's configuration, the mixin, files of the chart and the pages of "
    "the documentation.",
    "dashboards": "Write the Grafana boards: dashboards/*.json.",
    "rules": "Write the rules of Prometheus: alert_rules/recording/, alerts/ and manifests/.",
    "mixin": "Write the monitoring mixin, with the boards and the rules that it imports.",
    "chart": "Write what the Helm chart takes from here: boards, rules, the schema and the table of its values.",
    "docs": "Write the generated pages and tables of the documentation.",
}
_NEEDS = {
    "all": _ALL,
    "dashboards": ("dashboards",),
    "rules": ("rules",),
    "mixin": ("dashboards", "rules", "mixin"),
    "chart": ("chart",),
    "docs": ("docs",),
}


def settings_option(command: _F) -> _F:
    """The flag ``--settings`` of every command that builds something."""
    return click.option(
        "--settings",
        "settings_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="YAML or Jsonnet file with settings; docs/generator.md lists them.",
    )(command)


def output_options(command: _F) -> _F:
    """The flags ``--out`` and ``--check``."""
    out = click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path(),
        show_default="this folder",
        help="Folder that receives dashboards/, alert_rules/, mixin/, docs/, and the files of helm/gpuscope/, if any.",
    )
    check = click.option(
        "--check", is_flag=True, help="Write nothing; exit 1 and say what differs when files are stale."
    )
    return out(check(command))


def everything() -> list[click.Command]:
    """The commands ``all``, ``dashboards``, ``rules``, ``mixin``, ``chart`` and ``docs``."""
    return [_command(name) for name in ("all", *_PARTS)]


def _command(name: str) -> click.Command:
    @click.command(name, help=_HELP[name], short_help=_HELP[name])
    @output_options
    @settings_option
    @click.pass_context
    def command(context: click.Context, out: Path, check: bool, settings_file: Path | None) -> None:
        _run(context, name, out, settings_file, check=check)

    return command


def _run(context: click.Context, name: str, out: Path, settings_file: Path | None, *, check: bool) -> None:
    from gpuscope_generator.loading import load_settings

    settings = load_settings(settings_file)
    owned = [folder for part in _NEEDS[name] for folder in OWNED[part]]
    publish_or_check(context, out, _files(name, settings, out), owned, check=check)


def publish_or_check(
    context: click.Context, out: Path, files: Mapping[PurePosixPath, str], owned: Sequence[str], *, check: bool
) -> None:
    """Writes files, or with ``check`` says what differs, and then ends with exit code 1.

    Args:
        context: of the command.
        out: the output folder.
        files: text by path below it.
        owned: subfolders all of whose generated files stand in ``files``.
        check: write nothing.

    Raises:
        ClickException: a file cannot be written.
    """
    from gpuscope_generator import publication

    try:
        if check:
            found = publication.differences(out, files, owned)
            for path, difference in found:
                click.echo(f"{out / path} is stale; run gpuscope-generator {context.info_name}\n{difference}", err=True)
            if found:
                context.exit(1)
            click.echo(f"{len(files)} files are current")
        else:
            changes = publication.publish(out, files, owned)
            for path, _ in changes:
                click.echo(f"{out / path} {'written' if path in files else 'removed'}")
            click.echo(f"{len(files) - sum(path in files for path, _ in changes)} files were current")
    except OSError as error:
        raise click.ClickException(f"--out {error.filename or out}: {error.strerror or error}") from error


OWNED: Mapping[str, tuple[str, ...]] = {
    "dashboards": ("dashboards",),
    "rules": ("alert_rules/recording", "alert_rules/alerts", "alert_rules/manifests"),
    "alertmanager": ("alert_rules/alertmanager",),
    "mixin": ("mixin",),
    "chart": ("helm/gpuscope/charts/content",),
    "docs": (),
}
"""Folders all of whose generated files a part makes: what else lies there was made by an earlier version."""


def _files(name: str, settings: Any, out: Path) -> dict[PurePosixPath, str]:
    from gpuscope_generator import output

    made: dict[PurePosixPath, str] = {}
    for part in _NEEDS[name]:
        if part == "dashboards":
            made |= output.dashboard_files(settings)
        elif part == "rules":
            made |= output.rule_texts(settings)
            made |= output.manifest_texts(settings)
        elif part == "alertmanager":
            made |= output.alertmanager_texts(settings)
        elif part == "mixin":
            made |= output.mixin_files(settings)
        elif part == "chart" and name == "all" and not (out / "helm/gpuscope").is_dir():
            continue
        else:
            make = output.chart_files if part == "chart" else output.document_files
            try:
                made |= make(settings, out)
            except (OSError, ValueError) as error:
                raise click.ClickException(f"--out {out}: {error}") from error
    return made
