"""The row Data health, as a reader sees it."""

from pathlib import Path

import pytest
from tests.generator.promtool import expect

from gpuscope_generator.external.sources import SOURCES, source_named
from gpuscope_generator.panels.health import data_health_row, sources_present
from gpuscope_generator.settings import Settings


def test_absent_sources_have_a_row_that_says_so(tmp_path: Path) -> None:
    known = tuple(source_named(key) for key in ("gpuscope", "dcgm"))
    table = sources_present(Settings(), known)
    samples = {'gpuscope_up{instance="a:9836",job="g",cluster="one"}': "1x40"}
    expect(
        tmp_path,
        samples,
        {table.queries[0].expression: {'{cluster="one",source="gpuscope"}': 1, '{source="dcgm"}': 0}},
        only=("health",),
    )


def test_the_row_names_the_sources_of_the_board_and_our_own() -> None:
    row = data_health_row(Settings(), ["kueue"])
    guide = next(panel for panel in row.panels if panel.key == "source_guide")
    assert row.collapsed
    text = str(guide.options()["content"])
    assert "**Kueue**" in text
    assert "**gpuscope agent**" in text
    assert "**vLLM**" not in text


def test_a_source_that_nobody_knows_is_refused() -> None:
    with pytest.raises(KeyError, match="prometheus-of-my-cousin"):
        data_health_row(Settings(), ["prometheus-of-my-cousin"])


def test_every_source_has_a_key_of_its_own_and_markers() -> None:
    keys = [source.key for source in SOURCES]
    assert len(set(keys)) == len(keys)
    assert all(source.markers for source in SOURCES)
