"""Whether the boards carry data on a live Prometheus."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuscope_generator.commands.artefacts import settings_option
from gpuscope_generator.commands.duration import DURATION, Seconds
from gpuscope_generator.commands.remote_options import access_options

if TYPE_CHECKING:
    from gpuscope_generator.settings import Settings
    from gpuscope_generator.view import Board

__all__ = ["check"]

_NOUNS = ("task", "training", "inference", "cluster", "filesystem", "partition")


@click.command()
@click.option("--prometheus", "url", required=True, help="Address, such as http://127.0.0.1:9090.")
@click.option("--board", "nouns", type=click.Choice(_NOUNS), multiple=True, help="Only this board; may be repeated.")
@click.option("--range", "range_s", type=DURATION, default="1h", show_default=True, help="Length of the time range.")
@click.option(
    "--end", type=Seconds(min=0, max=1e11), help="End of the time range, in seconds since 1970; now when not given."
)
@click.option("--step", "step_s", type=DURATION, help="Distance of two points; what Grafana takes when not given.")
@click.option(
    "--scrape-interval",
    "scrape_s",
    type=DURATION,
    default="15s",
    show_default=True,
    help="Scrape interval that Grafana's data source names; $__rate_interval follows from it.",
)
@click.option("--slow", "slow_s", type=DURATION, default="1s", show_default=True, help="A slower query is a finding.")
@click.option(
    "--allow-empty",
    type=click.Path(path_type=Path, dir_okay=False),
    help="YAML: profile, board/panel, reason: panels that may be empty.",
)
@click.option("--profile", default="all", show_default=True, help="Which profile of that file holds, besides all.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@access_options("GPUSCOPE_PROMETHEUS")
@settings_option
@click.pass_context
def check(
    context: click.Context,
    /,
    url: str,
    nouns: tuple[str, ...],
    range_s: float,
    end: float | None,
    step_s: float | None,
    scrape_s: float,
    slow_s: float,
    allow_empty: Path | None,
    profile: str,
    as_json: bool,
    settings_file: Path | None,
    **how: Any,
) -> None:
    """Run every query of every board on a live Prometheus.

    Variables and $__rate_interval are filled in as Grafana does: first as the board opens; where a panel is empty
    then, once more with the first value of each variable.

    \b
    Exit code 0: every panel has data or may be empty. 1: findings: errors, empty panels, panels with nothing but NaN,
    slow queries. 2: Prometheus cannot be reached or does not let us in, or a flag or file is wrong.
    """
    from gpuscope_generator.live.panels import TimeRange, check_board
    from gpuscope_generator.live.prometheus import Prometheus
    from gpuscope_generator.live.report import json_report, text_report
    from gpuscope_generator.loading import load_settings
    from gpuscope_generator.remote import access

    settings = load_settings(settings_file)
    prometheus = Prometheus(url, access("GPUSCOPE_PROMETHEUS", **how))
    chosen, known = _boards(settings, nouns)
    allowed = _allowed(allow_empty, profile, known)
    at = time.time() if end is None else end
    when = TimeRange(start=at - range_s, end=at, step_s=step_s, scrape_s=scrape_s, slow_s=slow_s)
    prometheus.greet()
    results = [check_board(board, settings, prometheus, when, allowed) for board in chosen]
    if as_json:
        click.echo(json_report(results, prometheus.url, when))
    else:
        for line in text_report(results):
            click.echo(line)
    if any(result.is_finding for board in results for result in board.results):
        context.exit(1)


def _boards(settings: Settings, nouns: Sequence[str]) -> tuple[list[Board], frozenset[str]]:
    from gpuscope_generator.dashboards import boards
    from gpuscope_generator.view import LabelValues

    every = boards(settings)
    known = {f"{board.noun.value}/{panel.key}" for board in every for panel in board.panels} | {
        f"{board.noun.value}/variable:{variable.name}"
        for board in every
        for variable in board.variables
        if isinstance(variable, LabelValues)
    }
    return [board for board in every if not nouns or board.noun.value in nouns], frozenset(known)


def _allowed(file: Path | None, profile: str, known: frozenset[str]) -> dict[str, str]:
    from gpuscope_generator.live.allowed import load_allowed

    if file is None:
        if profile != "all":
            raise click.UsageError("--profile needs --allow-empty")
        return {}
    return load_allowed(file, profile, known)
