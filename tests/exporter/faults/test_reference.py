import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from gpuscope.faults.command import command
from gpuscope.faults.reference import MARKERS, update
from gpuscope.faults.sxids import SxidCatalogue
from gpuscope.faults.xids import ACTIONS, CLASSES, COLUMNS, XidCatalogue

DOCUMENT = Path(__file__).parents[3] / "docs/faults.md"


def test_tables_in_the_documentation_are_current() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert update(text) == text, "run: gpuscope xids --update docs/faults.md"


def test_every_code_has_one_row() -> None:
    empty = "\n".join(f"{begin}\n{end}" for begin, end in MARKERS.values())
    text = update(empty)
    assert update(text) == text
    for row in (*XidCatalogue.load().rows(), *SxidCatalogue.load().rows()):
        assert text.count(f"\n| {row.code} | {row.meaning} |") == 1


def test_documentation_names_every_class_action_and_column() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition("### XIDs")[0]
    for word in (*CLASSES, *ACTIONS, *COLUMNS):
        assert f"`{word}`" in text


def test_the_example_in_the_documentation_is_valid(tmp_path: Path) -> None:
    example = DOCUMENT.read_text(encoding="utf-8").partition("```csv\n")[2].partition("```")[0]
    (tmp_path / "own.csv").write_text(example)
    catalogue = XidCatalogue.load(tmp_path / "own.csv")
    assert 31 in catalogue.critical_codes
    assert catalogue.entry(94).action == "drain_and_reset"
    assert catalogue.entry(901).fault_class == "info"


def test_a_document_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="no lines"):
        update("# Faults\n")


def test_command_prints_codes_and_writes_the_document(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert "79  off_bus" in run(command, ["79", "999"]).output
    assert [row["code"] for row in json.loads(run(command, ["--json", "94"]).output)] == [94]
    assert len(json.loads(run(command, ["--json"]).output)) == len(XidCatalogue.load().rows())
    stale = tmp_path / "faults.md"
    stale.write_text("\n".join(f"{begin}\n{end}" for begin, end in MARKERS.values()))
    checked = run(command, ["--update", str(stale), "--check"], standalone_mode=False)
    assert (checked.return_value, "is not current" in checked.output) == (1, True)
    for _ in range(2):
        assert run(command, ["--update", str(stale)], standalone_mode=False).return_value == 0
    assert run(command, ["--update", str(stale), "--check"], standalone_mode=False).return_value == 0
    assert "| 79 |" in stale.read_text()
    missing = run(command, ["--update", str(tmp_path / "none.md")], standalone_mode=False)
    assert str(missing.exception) == f"--update {tmp_path / 'none.md'}: No such file or directory"
