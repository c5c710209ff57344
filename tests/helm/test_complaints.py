"""Each complaint about charts, and each point of a reviewer's list, has a test or a reason."""

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent
TABLE: dict[str, dict[Any, dict[str, Any]]] = yaml.safe_load((HERE / "complaints.yaml").read_text(encoding="utf-8"))
POINTS = [(part, name) for part, points in TABLE.items() for name in points]


def _tests() -> set[str]:
    return {
        f"{path.name}::{node.name}"
        for path in HERE.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }


def test_all_parts_and_all_twelve_issues_are_there() -> None:
    assert list(TABLE) == ["issues", "more", "checklist"]
    assert list(TABLE["issues"]) == list(range(1, 13))
    assert len(TABLE["checklist"]) == 26


@pytest.mark.parametrize(("part", "name"), POINTS, ids=[f"{part}: {name}" for part, name in POINTS])
def test_each_has_tests_that_exist_or_a_reason(part: str, name: str | int) -> None:
    point = TABLE[part][name]
    assert set(point) <= {"what", "tests", "reason"}
    assert point.get("tests") or len(point.get("reason", "")) > 20
    assert set(point.get("tests", [])) <= _tests()
    assert part != "issues" or point["tests"]
