"""Pages about boards and recorded series: every panel and every series stands there once."""

import re
from pathlib import Path, PurePosixPath

import pytest
from tests.generator.lint.artefacts import SETTINGS, boards, recorded

from gpuscope_generator.board_catalogue import boards_page
from gpuscope_generator.output import document_files
from gpuscope_generator.series_catalogue import series_page


def test_every_panel_stands_under_its_board() -> None:
    page = boards_page(SETTINGS)
    for board in boards().values():
        part = page.partition(f'<a id="{board.noun.value}"></a>')[2].partition("\n## ")[0]
        keys = re.findall(r"^\| [^|]+ \| `(\w+)` \|", part, re.MULTILINE)
        assert keys == [panel.key for panel in board.panels]
        assert all(row.title in part for row in board.rows)
        assert all(f"`{variable.name}`" in part for variable in board.variables[1:])


def test_every_recorded_series_stands_once_with_its_sources() -> None:
    page = series_page(SETTINGS)
    found = re.findall(r'^\| <a id="[^"]+"></a>`([^`]+)` \|', page, re.MULTILINE)
    assert sorted(found) == sorted(recorded())
    row = next(line for line in page.splitlines() if "`gpu:power_watts:union`" in line)
    assert row.endswith("| watts | Power drawn. | `gpuscope`, `dcgm`, `amd` |")
    assert "| `alert_rules/recording/dcgm.yaml` |" in page


def test_pages_that_people_write_are_filled_where_they_lie(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("<!-- table: settings -->\n<!-- end of table -->\n")
    found = document_files(SETTINGS, tmp_path)
    assert set(found) == {
        PurePosixPath(name)
        for name in ("docs/metrics.md", "docs/dashboards.md", "docs/recording-rules.md", "docs/alerts.md", "README.md")
    }
    assert "| `thresholds.idle_ratio` |" in found[PurePosixPath("README.md")]
    (tmp_path / "README.md").write_text("<!-- table: nothing -->\n")
    with pytest.raises(ValueError, match=r"README\.md: line 1: no table 'nothing'"):
        document_files(SETTINGS, tmp_path)
