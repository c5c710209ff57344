import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from gpuscope_generator.json_text import json_text

VALUES: Any = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=40,
)


@given(VALUES)
def test_nothing_is_lost(value: Any) -> None:
    assert json.loads(json_text(value)) == value


def test_what_is_short_stands_on_one_line_and_the_rest_is_indented() -> None:
    text = json_text({"short": [1, {"a": "ä"}], "long": ["x" * 60, "y" * 60], "none": {}})
    assert text.splitlines() == [
        "{",
        ' "short": [1, {"a": "ä"}],',
        ' "long": [',
        f'  "{"x" * 60}",',
        f'  "{"y" * 60}"',
        " ],",
        ' "none": {}',
        "}",
    ]
