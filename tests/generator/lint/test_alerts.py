"""Every alert: what it reads, what it says, where it leads, and that somebody tests it."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.generator.lint.artefacts import NAME, SETTINGS, boards, contract, recorded, rules
from tests.generator.lint.parsed import selectors

from gpuscope.demo.programs import find
from gpuscope_generator.output import rule_texts
from gpuscope_generator.rules.alert import Alert, Audience, Component, Scope, Severity
from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.rules.annotations import annotations_of, labels_of
from gpuscope_generator.rules.files import rule_files
from gpuscope_generator.rules.model import Recording

TESTS = Path(__file__).parents[1]
CACHE = TESTS.parents[1] / ".cache"
ALERTS = all_alerts(SETTINGS)
EXTERNAL: frozenset[str] = frozenset()
"""Raw series that an alert may read. There are none: what an alert needs is recorded first."""
_QUERY = re.compile(r'query (?:\(printf "((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"|`([^`]*)`)')
_NAMED = re.compile(r"\$labels\.([a-zA-Z_]\w*)")
each_alert = pytest.mark.parametrize("alert", ALERTS, ids=[one.key for one in ALERTS])


def asked(alert: Alert) -> Iterator[str]:
    """Queries within the texts of an alert, with something in the place of its labels."""
    for text in annotations_of(alert, SETTINGS).values():
        for groups in _QUERY.findall(text):
            query = next(group for group in groups if group)
            yield query.replace("%q", '"x"').replace("%s", "x").replace('\\"', '"')


def test_there_are_alerts() -> None:
    assert len(ALERTS) > 50
    assert len({one.name for one in ALERTS}) > 40


@each_alert
def test_it_is_routed_and_says_what_to_do(alert: Alert) -> None:
    labels = labels_of(alert, SETTINGS)
    Severity(labels["severity"]), Scope(labels["scope"]), Component(labels["component"]), Audience(labels["audience"])
    texts = annotations_of(alert, SETTINGS)
    assert {"summary", "description", "recommended_action", "runbook_url", "dashboard_url"} <= texts.keys()
    assert "{{" not in texts["summary"]
    assert "\n" not in texts["summary"]
    assert len(texts["summary"]) <= 110
    assert all(text.strip() == text != "" for text in texts.values())
    assert alert.tier in (1, 2)
    assert alert.severity is not Severity.NONE or alert.name == "Watchdog"


@each_alert
def test_it_reads_what_rules_record(alert: Alert) -> None:
    found = [*selectors(alert.expression.text), *(one for query in asked(alert) for one in selectors(query))]
    assert {one.name for one in found} - recorded() - EXTERNAL == set()
    for one in found:
        series = contract()[one.name]
        assert one.labels.keys() - {"__name__"} <= set(series.labels), f"{one.name} has {series.labels}"


@each_alert
def test_no_gauge_of_a_last_fault_is_behind_it(alert: Alert) -> None:
    """Complaints 1 to 3: such a gauge keeps its value for ever, and hides what came before."""
    assert not re.search(r"DCGM|GPU_AFID|XID_ERRORS", alert.expression.text)


@each_alert
def test_its_texts_name_labels_that_it_carries(alert: Alert) -> None:
    carried = (alert.expression.labels or frozenset()) | labels_of(alert, SETTINGS).keys()
    named = {label for text in annotations_of(alert, SETTINGS).values() for label in _NAMED.findall(text)}
    assert named - carried == set()


@each_alert
def test_its_link_leads_to_a_board_with_these_variables(alert: Alert) -> None:
    url = urlsplit(annotations_of(alert, SETTINGS)["dashboard_url"])
    _, _, uid, noun = url.path.split("/")
    assert uid == f"gpuscope-{noun}"
    known = {f"var-{variable.name}" for variable in boards()[noun].variables}
    assert parse_qs(url.query, keep_blank_values=True).keys() <= known


@each_alert
def test_it_has_tests(alert: Alert) -> None:
    named = re.compile(rf"\b{alert.name}\b")
    tests = (file for kind in ("*.py", "*.yaml") for file in (TESTS / "alerts").glob(kind))
    assert any(named.search(file.read_text()) for file in tests)


def test_alerts_of_one_name_differ_in_severity_and_say_where_alike() -> None:
    assert [key for key, count in Counter(one.key for one in ALERTS).items() if count > 1] == []
    for name, audience in {(one.name, one.audience) for one in ALERTS}:
        same = [one for one in ALERTS if one.name == name and one.audience is audience]
        assert len({(one.scope, one.component, one.board) for one in same}) == 1, name
        assert len({one.expression.labels for one in same}) == 1, name


def test_numbers_in_texts_are_not_left_to_chance() -> None:
    """Prometheus' own functions: 0.5 of a degree must not read 500m."""
    for one in ALERTS:
        texts = f"{one.description} {one.measured}"
        assert not re.search(r"humanize \}\} (°C|W|s|min|h)\b", texts), one.key


def test_one_of_something_is_no_plural() -> None:
    """A value of 1 must not read "1 GPUs": `counted` writes what fits. A share is of several, and a rate has digits."""
    whole = re.compile(r'\$(?:value|one\.Value)(?: \| printf "%\.(?:0f|3g)")? \}\} (?:\w+ )?(?:\w+s)\b(?! )?')
    for one in ALERTS:
        for text in annotations_of(one, SETTINGS).values():
            assert whole.findall(text) == [], one.key


def test_groups_read_what_they_recorded_before() -> None:
    """Rules of one group are evaluated in order: a later one reads this round's values, an earlier one old ones."""
    for file in rule_files(SETTINGS):
        for group in file.groups:
            order = [rule.series.name if isinstance(rule, Recording) else rule.name for rule in group.rules]
            last = {name: place for place, name in enumerate(order)}
            for place, rule in enumerate(group.rules):
                own = rule.series.name if isinstance(rule, Recording) else ""
                names = {found.name for found in selectors(rule.expression.text)}
                late = {name for name in names & last.keys() if last[name] > place and name != own}
                assert late == set(), f"{group.name}: {order[place]} reads {late} before it is made"


def test_groups_of_alerts_record_nothing_and_come_last() -> None:
    paths = [path.split("/")[1] for path in rules()]
    assert paths == sorted(paths, key=["recording", "alerts"].index)
    for file in rule_files(SETTINGS):
        for group in file.groups:
            assert not (group.alerts and group.recordings), group.name
            assert bool(group.alerts) == file.path.startswith("alerts/") == group.name.startswith("gpuscope-alerts-")


def test_names_of_recorded_series_are_no_names_of_alerts() -> None:
    assert [one.name for one in ALERTS if NAME.fullmatch(one.name)] == []


def test_promtool_finds_nothing_in_alerts(tmp_path: Path) -> None:
    files = []
    for path, text in rule_texts(SETTINGS).items():
        if path.parts[1] == "alerts":
            (tmp_path / path.name).write_text(text)
            files.append(path.name)
    done = subprocess.run(
        [find("promtool", CACHE), "check", "rules", "--lint=all", "--lint-fatal", *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
