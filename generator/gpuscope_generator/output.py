"""Every file that the generator makes, as text by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from gpuscope_generator.settings import Settings

__all__ = ["dashboard_files", "rule_texts"]


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

    return {PurePosixPath("alert_rules", file.path): rule_file_text(file) for file in rule_files(settings)}
