"""``gpuscope simulate``: what scenarios there are, other programs on them, and a cluster around them."""

import json
import os

import click

from gpuscope.errors import ConfigError
from gpuscope.finite import Finite
from gpuscope.simulate.cluster.command import command as cluster
from gpuscope.simulate.launch import environment
from gpuscope.simulate.scenario import load, scenarios

__all__ = ["command"]


@click.group()
def command() -> None:
    """List, show and use the scenarios of the simulated driver.

    \b
    Example: gpuscope simulate run h100-mig -- nvitop -1
    """


command.add_command(cluster)


@command.command("scenarios")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_scenarios(as_json: bool) -> None:
    """List the shipped scenarios.

    \b
    Any of them is a value of `gpuscope agent --simulate`; a node and faults join with +:
    gpuscope agent --simulate h100-mig+xid-burst
    """
    found = scenarios()
    if as_json:
        click.echo(json.dumps([{"name": one.name, "kind": one.kind, "title": one.title} for one in found], indent=2))
        return
    width = max(len(one.name) for one in found)
    for one in found:
        click.echo(f"{one.name:<{width}}  {one.kind:<5}  {one.title}")


@command.command()
@click.argument("name")
def show(name: str) -> None:
    """Print the YAML of a shipped scenario, to start your own from.

    \b
    Example: gpuscope simulate show h100-mig > mine.yaml
    """
    for one in scenarios():
        if one.name == name:
            click.echo(one.text, nl=False)
            return
    load(name)
    raise ConfigError(f"{name}: is a file already")


@command.command(context_settings={"ignore_unknown_options": True})
@click.argument("scenario")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--seed", default="node-a", show_default=True, help="Name of the simulated machine.")
@click.option(
    "--speed",
    default=1.0,
    type=Finite(min=0.01),
    show_default=True,
    help="How many times faster its world runs.",
)
def run(scenario: str, program: tuple[str, ...], seed: str, speed: float) -> None:
    """Run a Python program on the simulated driver, unmodified.

    \b
    Example: gpuscope simulate run gb200 -- gpustat --no-color
    """
    load(scenario)
    try:
        os.execvpe(program[0], program, environment(scenario, seed=seed, speed=speed))  # noqa: S606
    except OSError as error:
        raise ConfigError(f"{program[0]}: cannot be run: {error.strerror}") from error
