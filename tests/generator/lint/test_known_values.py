"""How many panels have a test that knows the number which they must show, read from the tests themselves."""

import ast
from collections.abc import Iterator
from pathlib import Path

PANELS = Path(__file__).parents[1] / "panels"
ASKING = {"shown", "column", "query", "rounded"}
"""Helpers of these tests that take the query of a panel, or of a column of a table."""
AT_LEAST = 40


def numbered(tree: ast.FunctionDef) -> set[str]:
    """Functions that build a panel, such as ``tokens.token_throughput``, whose query a test gives a number for."""
    built = dict(_assigned(tree))
    found = set()
    for mapping in (node for node in ast.walk(tree) if isinstance(node, ast.Dict)):
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            nothing = isinstance(value, ast.Constant) and value.value is None
            if key is not None and not nothing:
                found |= {name for call in _asking(key) for name in _panel(call.args[0], built)}
    return found


def _assigned(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            (target,) = node.targets
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            elif isinstance(target, ast.Tuple):
                pairs = [(one, node.value) for one in target.elts]
            for name, value in pairs:
                if isinstance(name, ast.Name) and isinstance(value, ast.Call):
                    yield name.id, ast.unparse(value.func)


def _asking(key: ast.expr) -> Iterator[ast.Call]:
    for node in ast.walk(key):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKING:
            yield node


def _panel(argument: ast.expr, built: dict[str, str]) -> Iterator[str]:
    if isinstance(argument, ast.Call):
        yield ast.unparse(argument.func)
    elif isinstance(argument, ast.Name) and argument.id in built:
        yield built[argument.id]


def test_forty_panels_and_more_have_a_number_that_is_known() -> None:
    found: set[str] = set()
    for file in PANELS.glob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found |= numbered(node)
    assert len(found) >= AT_LEAST, sorted(found)


def test_the_numbers_that_boards_are_known_to_get_wrong_are_among_them() -> None:
    wanted = {
        "GPU memory, which DCGM counts in MiB": "test_memory_that_dcgm_counts_in_mib_is_bytes_on_the_board",
        "success of 100 % while nothing fails": "test_success_is_all_while_nothing_fails",
        "activity of a GPU in MIG mode, weighted": "test_overview_counts_gpus_instances_and_slices",
        "throughput of FSx from sums of a period": "test_space_traffic_and_operations",
        "GPUs that are held and idle": "test_gpus_held_at_work_and_idle",
        "p90 of the time to the first token": "test_percentiles_of_known_buckets",
    }
    tests = {
        node.name: node
        for file in PANELS.glob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert {what for what, name in wanted.items() if name not in tests or not numbered(tests[name])} == set()
