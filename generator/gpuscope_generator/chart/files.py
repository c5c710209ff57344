"""The files below ``helm/gpuscope`` that the generator makes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from gpuscope_generator.chart.empty import empty_text
from gpuscope_generator.chart.page import fill_page
from gpuscope_generator.chart.schema import schema_text
from gpuscope_generator.chart.values import read_values
from gpuscope_generator.settings import Settings

__all__ = ["CHART", "CONTENT", "chart_files", "switchable"]

CHART = PurePosixPath("helm/gpuscope")
CONTENT = CHART / "charts/content"
"""A chart without templates that holds boards and rules: Helm keeps the files of a chart in the record of each release,
but not those of the charts inside it, and that record may have 1 MiB."""
_FOUNDATION = frozenset(("health", "checks", "exporters", "evaluation", "devices", "interconnect"))
"""Recording rules on which others build, whatever the source."""


def switchable(settings: Settings) -> Mapping[str, Mapping[str, str]]:
    """What a user may switch off, by kind: name to what it is."""
    from gpuscope_generator.dashboards import boards
    from gpuscope_generator.rules.alert import Alert
    from gpuscope_generator.rules.files import rule_files

    recording: dict[str, str] = {}
    alerts: dict[str, str] = {}
    names: dict[str, str] = {}
    for file in rule_files(settings):
        path = PurePosixPath(file.path)
        if path.parent.name == "alerts":
            alerts[path.stem] = file.comment
            names |= {
                rule.name: rule.summary for group in file.groups for rule in group.rules if isinstance(rule, Alert)
            }
        elif not path.stem.startswith("level-") and path.stem not in _FOUNDATION:
            recording[path.stem] = file.comment
    listed = {board.noun.value: board.title for board in boards(settings)}
    return {"recording": recording, "alerts": alerts, "boards": listed, "alertNames": names}


def chart_files(settings: Settings, folder: Path) -> Mapping[PurePosixPath, str]:
    """Boards, rules, schema and README of the chart that lies in a folder.

    Boards have no blanks between their words here: ``kubectl apply`` keeps a ConfigMap a second time in an annotation,
    which may have 256 KiB.

    Args:
        settings: what the user chose.
        folder: the output folder, with ``helm/gpuscope`` in it.

    Raises:
        OSError: ``values.yaml`` or ``README.md`` cannot be read.
        ValueError: one of them is not as it should be; the message names it.
    """
    from gpuscope_generator.output import dashboard_files, rule_texts

    boards = {
        CONTENT / path: json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) + "\n"
        for path, text in dashboard_files(settings).items()
    }
    rules = {CONTENT / "rules" / path.relative_to("alert_rules"): text for path, text in rule_texts(settings).items()}
    names = switchable(settings)
    try:
        values = read_values((folder / CHART / "values.yaml").read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{CHART}/values.yaml: {error}") from error
    try:
        page = fill_page((folder / CHART / "README.md").read_text(encoding="utf-8"), values, names)
    except ValueError as error:
        raise ValueError(f"{CHART}/README.md: {error}") from error
    return {
        **boards,
        **rules,
        CHART / "values.schema.json": schema_text(values, names),
        CHART / "templates/values/_empty.tpl": empty_text(values),
        CHART / "README.md": page,
    }
