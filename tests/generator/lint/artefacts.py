"""All boards and rules that exist, built once."""

import functools
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import yaml

from gpuscope_generator import normalized
from gpuscope_generator.dashboards import BOARDS
from gpuscope_generator.live.panels import panels_of
from gpuscope_generator.output import dashboard_files, rule_texts
from gpuscope_generator.promql import Series
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board

SETTINGS = Settings()
NAME = re.compile(
    r"(gpu|mig|port|node|pod|workload|team|job|queue|model|filesystem|target|partition|source|cluster)"
    r":[a-z][a-z0-9_]*:[a-z0-9_]+"
)


@functools.cache
def boards() -> dict[str, Board]:
    """The boards, by noun."""
    return {board.noun.value: board for board in (make(SETTINGS) for make in BOARDS)}


@functools.cache
def texts() -> dict[str, str]:
    """The files of the boards, by noun."""
    return {path.stem: text for path, text in dashboard_files(SETTINGS).items()}


@functools.cache
def documents() -> dict[str, Any]:
    """The JSON of the boards, by noun."""
    return {noun: json.loads(text) for noun, text in texts().items()}


def panels(noun: str) -> list[dict[str, Any]]:
    """Every panel of a board as JSON, without rows."""
    return [dict(panel) for panel in panels_of(documents()[noun])]


@functools.cache
def rules() -> dict[str, list[dict[str, Any]]]:
    """The recording rules by file."""
    return {
        str(path): [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]
        for path, text in rule_texts(SETTINGS).items()
    }


def recorded() -> set[str]:
    """Names of all recorded series."""
    return {rule["record"] for found in rules().values() for rule in found if "record" in rule}


@functools.cache
def contract() -> dict[str, Series]:
    """Every declared series, by name."""
    found: dict[str, Series] = {}
    for module in pkgutil.iter_modules(normalized.__path__):
        for value in vars(importlib.import_module(f"{normalized.__name__}.{module.name}")).values():
            if isinstance(value, Series):
                assert found.setdefault(value.name, value) is value, f"{value.name} is declared twice"
    return found


def nouns() -> list[str]:
    """For parameters: importing a test must not fail while a board cannot be built."""
    return [make.__name__.removesuffix("_board") for make in BOARDS]


def leaves(found: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    """Every value of a document that is neither a mapping nor a list."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield from leaves(value, f"{path}.{key}")
    elif isinstance(found, list):
        for index, value in enumerate(found):
            yield from leaves(value, f"{path}[{index}]")
    else:
        yield path, found
