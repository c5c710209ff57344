"""Every runbook: of an alert that exists, in one form, with queries that work and links that lead somewhere."""

import dataclasses
import re
from pathlib import Path

import pytest
from tests.generator.lint.artefacts import SETTINGS, contract, recorded
from tests.generator.lint.parsed import selectors

from gpuscope_generator.rules.alert import Severity
from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.settings import Settings, Thresholds

FOLDER = Path(__file__).parents[3] / "docs/runbooks"
HEADINGS = ["Meaning", "Impact", "Diagnosis", "What to do", "How to silence", "Known false positives"]
NAMES = sorted({one.name for one in all_alerts(SETTINGS)})
OF_PROMETHEUS = {"ALERTS", "ALERTS_FOR_STATE", "up"}
each_page = pytest.mark.parametrize("name", NAMES)


def page(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text()


def sections(name: str) -> dict[str, str]:
    """The text below each heading."""
    parts = re.split(r"^## (.+)$", page(name), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.md") if file.stem != "README") == NAMES


@each_page
def test_it_has_the_form_of_all(name: str) -> None:
    assert page(name).startswith(f"# {name}\n\n## Meaning\n")
    found = list(sections(name))
    assert [heading for heading in found if heading in HEADINGS] == HEADINGS
    assert set(found) - set(HEADINGS) <= {"See also"}
    assert all(text.strip() for text in sections(name).values())
    assert 30 <= page(name).count("\n") <= 150


@each_page
def test_its_queries_read_series_that_exist(name: str) -> None:
    queries = re.findall(r"^```promql\n(.*?)^```", page(name), flags=re.MULTILINE | re.DOTALL)
    assert queries, "without a query nobody can look closer"
    for query in queries:
        for found in selectors(query):
            assert found.name in recorded() | OF_PROMETHEUS, query
            if found.name in recorded():
                assert found.labels.keys() - {"__name__"} <= set(contract()[found.name].labels), query


@each_page
def test_blocks_have_a_language(name: str) -> None:
    fences = re.findall(r"^```(.*)$", page(name), flags=re.MULTILINE)
    assert len(fences) % 2 == 0
    assert set(fences[::2]) <= {"promql", "sh", "yaml", "text", "console", "python"}
    assert set(fences[1::2]) == {""}


@each_page
def test_it_can_be_silenced_by_its_name(name: str) -> None:
    text = sections(name)["How to silence"]
    severities = {one.severity for one in all_alerts(SETTINGS) if one.name == name}
    if severities == {Severity.NONE}:
        assert "Never" in text
    else:
        assert re.search(rf'^amtool silence add .*alertname="?{name}\b', text, re.MULTILINE)
        assert "--comment=" in text
        assert "--duration=" in text


@each_page
def test_it_names_settings_that_exist(name: str) -> None:
    known = {field.name for field in dataclasses.fields(Thresholds)}
    assert set(re.findall(r"thresholds\.(\w+)", page(name))) <= known
    assert set(re.findall(r"intervals\.(\w+)", page(name))) <= {
        field.name for field in dataclasses.fields(Settings().intervals)
    }


@each_page
def test_its_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page(name)):
        assert target.startswith("https://") or (FOLDER / target).resolve().is_file(), target
