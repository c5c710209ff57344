from pathlib import Path

import pytest
import yaml

from gpuscope.config import OPTIONS, load
from gpuscope.config.reference import BEGIN, END, reference, update

DOCUMENT = Path(__file__).parents[3] / "docs/configuration.md"


def test_documentation_of_settings_is_current() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert update(text) == text, "run: gpuscope settings --update docs/configuration.md"


def test_every_setting_has_one_row() -> None:
    rows = reference().splitlines()[2:]
    assert len(rows) == len(OPTIONS)
    for option, row in zip(OPTIONS, rows, strict=True):
        assert f"`{option.flag}`" in row
        assert f"`{option.variable}`" in row
        assert row.replace("\\|", "").count("|") == 6


def test_only_what_stands_between_the_markers_is_replaced() -> None:
    assert update(f"a\n{BEGIN}\nold\n{END}\nz\n") == f"a\n{BEGIN}\n{reference()}{END}\nz\n"


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}{BEGIN}"])
def test_a_document_without_markers_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no lines"):
        update(text)


def test_the_example_in_the_documentation_is_valid(tmp_path: Path) -> None:
    blocks = DOCUMENT.read_text(encoding="utf-8").split("```yaml\n")[1:]
    for number, block in enumerate(blocks):
        file = tmp_path / f"{number}.yaml"
        file.write_text(block.partition("```")[0])
        assert yaml.safe_load(file.read_text())
        assert load({}, file, {}).origins
    assert len(blocks) == 2
