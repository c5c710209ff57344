"""Who is told what: every kind of alert through amtool's own routing, and the table for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from tests.generator.alertmanager.running import generated, programs, versions
from tests.generator.alertmanager.sinks import Sinks
from tests.generator.alertmanager.site import site

from gpuscope_generator.alertmanager.configuration import configuration_text
from gpuscope_generator.alertmanager.table import routes_table
from gpuscope_generator.loading import load_settings
from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.rules.annotations import labels_of
from gpuscope_generator.settings import Settings

SINKS = Sinks(url="http://127.0.0.1:1", smarthost="127.0.0.1:1")
OWNER = {"audience": "owner", "scope": "job", "component": "training"}
PLATFORM = {"audience": "platform", "scope": "gpu", "component": "gpu"}

TABLE: tuple[tuple[Mapping[str, str], str], ...] = (
    ({"alertname": "Watchdog", "severity": "none"}, "heartbeat"),
    ({"alertname": "Watchdog", "severity": "none", "cluster": "a"}, "heartbeat"),
    ({"alertname": "InfoInhibitor", "severity": "none"}, "nobody"),
    (PLATFORM | {"severity": "critical", "node": "n"}, "critical"),
    (PLATFORM | {"severity": "warning", "node": "n"}, "warnings"),
    (PLATFORM | {"severity": "info", "node": "n"}, "nobody"),
    (PLATFORM | {"severity": "critical", "scope": "rack", "rack": "r"}, "incidents"),
    (PLATFORM | {"severity": "critical", "scope": "fabric"}, "incidents"),
    (PLATFORM | {"severity": "critical", "scope": "cluster"}, "incidents"),
    # A cluster that is full in the evening is nobody's night.
    (PLATFORM | {"severity": "warning", "scope": "cluster"}, "warnings"),
    (PLATFORM | {"severity": "critical", "component": "recovery", "scope": "cluster"}, "recovery"),
    (PLATFORM | {"severity": "warning", "component": "recovery"}, "warnings"),
    (PLATFORM | {"severity": "critical", "scope": "job", "workload": "w"}, "critical"),
    (PLATFORM | {"severity": "critical", "scope": "monitoring"}, "critical"),
    (OWNER | {"severity": "info", "team": "nlp"}, "team-nlp"),
    (OWNER | {"severity": "warning", "team": "nlp"}, "team-nlp"),
    (OWNER | {"severity": "critical", "team": "nlp"}, "team-nlp,critical"),
    (OWNER | {"severity": "warning", "team": 'a "b"\\c'}, 'team-a "b"\\c'),
    (OWNER | {"severity": "warning", "team": "vision"}, "owners"),
    (OWNER | {"severity": "info"}, "owners"),
    (OWNER | {"severity": "critical"}, "owners,critical"),
    (OWNER | {"severity": "critical", "scope": "cluster"}, "owners,incidents"),
    # A team that has receivers hears what its people can change, not what breaks below them.
    (PLATFORM | {"severity": "warning", "team": "nlp"}, "warnings"),
    # Alerts of somebody else.
    ({"severity": "critical"}, "critical"),
    ({"severity": "page"}, "warnings"),
    ({}, "warnings"),
)

NO_OWNERS: tuple[tuple[Mapping[str, str], str], ...] = (
    (OWNER | {"severity": "warning", "team": "nlp"}, "team-nlp"),
    (OWNER | {"severity": "critical", "team": "nlp"}, "team-nlp,critical"),
    (OWNER | {"severity": "warning", "team": "nlp2"}, "warnings"),
    (OWNER | {"severity": "info", "team": "a.b"}, "team-a.b"),
    (OWNER | {"severity": "info", "team": "axb"}, "nobody"),
    (OWNER | {"severity": "critical"}, "critical"),
)


def _routed(version: str, configuration: Path, labels: Mapping[str, str]) -> str:
    arguments = [f"{name}={value}" for name, value in labels.items()]
    found = programs(version).amtool("config", "routes", "test", f"--config.file={configuration}", *arguments)
    return ",".join(name.removeprefix("gpuscope-") for name in found.strip().split(",gpuscope-"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site where every route has receivers of its own."""
    folder = tmp_path_factory.mktemp("whole")
    settings = site(folder / "secrets", SINKS)
    chosen = settings["alertmanager"]
    chosen["routes"] |= {"incidents": ["pager"], "recovery": ["pager", "oncall"]}
    chosen["teams"]['a "b"\\c'] = ["nlp"]
    return generated(folder, settings)


@pytest.mark.parametrize("version", versions())
@pytest.mark.parametrize(
    ("labels", "told"), TABLE, ids=lambda one: ",".join(one.values()) if isinstance(one, dict) else one
)
def test_every_kind_of_alert_has_its_receiver(version: str, whole: Path, labels: dict[str, str], told: str) -> None:
    quoted = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in labels.items()}
    quoted = {name: f'"{value}"' if value != labels[name] else value for name, value in quoted.items()}
    assert _routed(version, whole, quoted) == told


@pytest.mark.parametrize(("labels", "told"), NO_OWNERS)
def test_without_receivers_for_owners_their_alerts_go_where_others_go(
    tmp_path: Path, labels: dict[str, str], told: str
) -> None:
    settings = site(tmp_path / "secrets", SINKS)
    chosen = settings["alertmanager"]
    del chosen["routes"]["owners"], chosen["receivers"]["ml"]
    chosen["teams"]["a.b"] = ["nlp"]
    assert _routed("distribution", generated(tmp_path, settings), labels) == told


def test_each_of_our_alerts_reaches_somebody_but_for_information(whole: Path) -> None:
    settings = load_settings(whole.parents[2] / "settings.yaml")
    kinds = {
        tuple(sorted({"team": "nlp", **labels_of(one, settings)}.items())): one.name
        for one in all_alerts(settings)
        if one.name != "Watchdog"
    }
    for labels, name in kinds.items():
        told = _routed("distribution", whole, dict(labels) | {"alertname": name})
        kind = dict(labels)
        assert (told == "nobody") == (kind["severity"] == "info" and kind["audience"] == "platform"), name


@pytest.mark.parametrize("version", versions())
def test_alertmanager_takes_every_configuration(version: str, tmp_path: Path, whole: Path) -> None:
    plain = generated(tmp_path / "plain", {})
    no_inhibition = generated(tmp_path / "off", site(tmp_path / "secrets", SINKS, inhibit=False))
    for configuration in (plain, no_inhibition, whole):
        assert "SUCCESS" in programs(version).amtool("check-config", configuration)
    assert "inhibit_rules" not in no_inhibition.read_text()


def test_without_receivers_the_file_says_that_nobody_is_told() -> None:
    text = configuration_text(Settings())
    assert "# The settings name no receiver: with this file alone nobody is told anything." in text
    document = yaml.safe_load(text)
    assert document["receivers"] == [{"name": "gpuscope-nobody"}]


def test_the_same_settings_give_the_same_bytes(whole: Path) -> None:
    settings = load_settings(whole.parents[2] / "settings.yaml")
    assert configuration_text(settings) == configuration_text(settings) == whole.read_text()


def test_a_receiver_with_its_address_in_a_file_names_the_version_that_it_needs(tmp_path: Path) -> None:
    settings = site(tmp_path / "secrets", SINKS)
    settings["alertmanager"]["receivers"]["deadman"] = {"type": "webhook", "url_file": "/secret"}
    assert "# Needs Alertmanager 0.26 or newer" in generated(tmp_path, settings).read_text()


def test_the_table_has_a_line_for_each_route_in_the_order_in_which_they_are_tried(whole: Path) -> None:
    table = routes_table(load_settings(whole.parents[2] / "settings.yaml").alertmanager)
    head, rule, *rows = table.splitlines()
    assert head.split("  ")[0] == "Alerts"
    assert set(rule) == {"-"}
    assert rows[0].split() == [
        'alertname="Watchdog"', "dead-man's", "switch", "deadman", "(webhook)", "cluster", "1s", "2s", "1h"
    ]  # fmt: skip
    assert rows[1].split()[-7:-5] == ["to", "nobody"] or "nobody" in rows[1]
    assert rows[-1].startswith("all others")
    assert "pager (pagerduty), oncall (slack)" in table
    assert sum(line.startswith('  team="nlp"') for line in rows) == 2
