"""Every file that the generator makes, as text by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from gpuscope_generator.settings import Settings

__all__ = [
    "alertmanager_texts",
    "chart_files",
    "dashboard_files",
    "document_files",
    "manifest_texts",
    "mixin_files",
    "rule_texts",
]

_WRITTEN_PAGES = ("README.md", "docs/generator.md")
"""Pages that people write and that hold generated tables."""


def dashboard_files(settings: Settings) -> Mapping[PurePosixPath, str]:
    """The boards as JSON, by path below the output folder."""
    from gpuscope_generator.dashboards import boards
    from gpuscope_generator.grafana import board_text

    return {
        PurePosixPath("dashboards", f"{board.noun.value}.json"): board_text(board, settings)
        for board in boards(settings)
    }


def rule_texts(settings: Settings) -> Mapping[PurePosixPath, str]:
    """The rule files as YAML, by path below the output folder."""
    from gpuscope_generator.rules import rule_file_text
    from gpuscope_generator.rules.files import rule_files

    return {PurePosixPath("alert_rules", file.path): rule_file_text(file, settings) for file in rule_files(settings)}


def manifest_texts(settings: Settings) -> Mapping[PurePosixPath, str]:
    """The same rules as manifests for the Prometheus operator, by path below the output folder."""
    from gpuscope_generator.rules.files import rule_files
    from gpuscope_generator.rules.text import manifest_text

    return {
        PurePosixPath("alert_rules/manifests", file.path.replace("/", "-")): manifest_text(file, settings)
        for file in rule_files(settings)
    }


def alertmanager_texts(settings: Settings) -> Mapping[PurePosixPath, str]:
    """The configuration of Alertmanager and the templates of its messages, by path below the output folder."""
    from gpuscope_generator.alertmanager.configuration import alertmanager_files

    return alertmanager_files(settings)


def mixin_files(settings: Settings) -> Mapping[PurePosixPath, str]:
    """The monitoring mixin; it imports the boards and rules that lie beside it."""
    from gpuscope_generator.mixin import mixin_text

    return {PurePosixPath("mixin/mixin.libsonnet"): mixin_text(settings)}


def chart_files(settings: Settings, folder: Path) -> Mapping[PurePosixPath, str]:
    """What the Helm chart in that folder takes from the generator.

    Raises:
        OSError: its values or its README cannot be read.
        ValueError: one of them is not as it should be.
    """
    from gpuscope_generator import chart

    return chart.chart_files(settings, folder)


def document_files(settings: Settings, folder: Path) -> Mapping[PurePosixPath, str]:
    """The generated pages, and with fresh tables the pages in that folder that people write.

    Raises:
        OSError: a page cannot be read.
        ValueError: a page asks for a table that does not exist.
    """
    from gpuscope_generator import reference, tables
    from gpuscope_generator.alert_catalogue import alerts_page
    from gpuscope_generator.board_catalogue import boards_page
    from gpuscope_generator.series_catalogue import series_page

    found = {
        PurePosixPath("docs/metrics.md"): reference.page(),
        PurePosixPath("docs/dashboards.md"): boards_page(settings),
        PurePosixPath("docs/recording-rules.md"): series_page(settings),
        PurePosixPath("docs/alerts.md"): alerts_page(settings),
    }
    for name in _WRITTEN_PAGES:
        path = folder / name
        if path.is_file():
            try:
                found[PurePosixPath(name)] = tables.fill(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
    return found
