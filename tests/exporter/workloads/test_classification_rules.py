import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from gpuscope.errors import ConfigError
from gpuscope.workloads.classification_command import command
from gpuscope.workloads.classification_reference import MARKERS, update
from gpuscope.workloads.classification_rules import COLUMNS, SHARED, load_rules, parse_rules, plain, words

DOCUMENT = Path(__file__).parents[3] / "docs/classification.md"
HEADER = ",".join(COLUMNS) + "\n"
GOOD = ["log:beep", "beep", "workload", "job", "high", "", "it beeped"]


def changed(column: str, cell: str) -> str:
    return HEADER + ",".join(cell if name == column else old for name, old in zip(COLUMNS, GOOD, strict=True)) + "\n"


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("when", "", "own.csv:2: when: is empty"),
        ("when", "log:", "own.csv:2: when: 'log:' lacks a word"),
        ("when", "log:a|", "own.csv:2: when: 'log:a|' lacks a word"),
        ("when", "dream:a", "own.csv:2: when: 'dream' is not one of"),
        ("when", "outcome:great", "own.csv:2: when: 'great' is not one of"),
        ("when", "xid:off_buss", "own.csv:2: when: 'off_buss' is not one of"),
        ("when", "fact:moon", "own.csv:2: when: 'moon' is not one of"),
        ("when", "exit:all", "own.csv:2: when: 'all' is not one of"),
        ("when", "signal:KILL", "own.csv:2: when: 'kill' is not one of"),
        ("when", "killed:any", "own.csv:2: when: 'any' is not one of"),
        ("fault_type", "", "own.csv:2: fault_type: is empty"),
        ("domain", "heaven", "own.csv:2: domain: 'heaven' is not one of"),
        ("scope", "moon", "own.csv:2: scope: 'moon' is not one of"),
        ("confidence", "sure", "own.csv:2: confidence: 'sure' is not one of"),
        ("shared", "flu", "own.csv:2: shared: 'flu' is not one of"),
        ("meaning", "", "own.csv:2: meaning: is empty"),
    ],
)
def test_a_bad_cell_is_named(column: str, cell: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rules("own.csv", changed(column, cell))
    assert message in str(caught.value)


def test_a_good_row() -> None:
    (rule,) = parse_rules("own.csv", changed("when", "xid:79|off_bus exit:own|3"))
    assert [(term.source, term.words) for term in rule.terms] == [("xid", ("79", "off_bus")), ("exit", ("own", "3"))]
    assert parse_rules("own.csv", HEADER) == ()


def test_words_are_compared_without_case_and_punctuation() -> None:
    assert plain(" [Errno 28] No space left!") == "errno_28_no_space_left"
    assert plain("ImagePullBackOff") == plain("IMAGEPULLBACKOFF")
    assert plain("…") == ""


def test_unknown_types_are_of_unknown_domain_and_planned_ones_are_no_faults() -> None:
    for rule in load_rules():
        assert (rule.fault_type == "none") == (rule.domain == "planned"), rule.when
        assert rule.fault_type != "unknown" or (rule.domain, rule.confidence) == ("unknown", "low"), rule.when


# --- the document ---


def test_tables_in_the_documentation_are_current() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert update(text) == text, "run: gpuscope classification --update docs/classification.md"


def test_documentation_names_every_type_and_signal() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for rule in load_rules():
        assert f"| `{rule.fault_type}` |" in text
    for word in (*words(load_rules(), "node"), *words(load_rules(), "log"), *SHARED):
        assert f"`{word}`" in text


def test_a_document_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="no lines"):
        update("# Classification\n")


def test_command_prints_the_rules_and_writes_the_document(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert "xid:off_bus" in run(command, []).output
    rows = json.loads(run(command, ["--json"]).output)
    assert [row["when"] for row in rows] == [rule.when for rule in load_rules()]
    assert tuple(rows[0]) == COLUMNS
    stale = tmp_path / "classification.md"
    stale.write_text("\n".join(f"{begin}\n{end}" for begin, end in MARKERS.values()))
    assert run(command, ["--update", str(stale), "--check"], standalone_mode=False).return_value == 1
    assert run(command, ["--update", str(stale)], standalone_mode=False).return_value == 0
    assert run(command, ["--update", str(stale), "--check"], standalone_mode=False).return_value == 0
    assert "| `off_bus` |" in stale.read_text()
