"""Every defect that is known of other boards has a test that keeps it out of ours, or a reason why there is none."""

import ast
import functools
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
KNOWN = yaml.safe_load((Path(__file__).parent / "known_defects.yaml").read_text(encoding="utf-8"))
RULES_OF_THE_LINTER = 17


@functools.cache
def functions(path: str) -> set[str]:
    """Names of the tests in a file; of files whose tests were removed there are none."""
    file = ROOT / path
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_none_is_missing() -> None:
    assert list(KNOWN["defects"]) == list(range(1, 26))
    assert list(KNOWN["complaints"]) == list(range(1, 35))
    assert len(KNOWN["linter"]) == RULES_OF_THE_LINTER


@pytest.mark.parametrize("kind", KNOWN)
def test_each_has_tests_that_exist_or_a_reason(kind: str) -> None:
    for name, entry in KNOWN[kind].items():
        assert entry.get("tests") or entry.get("reason", "").endswith("."), f"{kind} {name}"
        for test in entry.get("tests", ()):
            path, _, function = test.partition("::")
            assert function.startswith("test_"), test
            assert function in functions(path), f"{kind} {name}: there is no {test}"
