"""The page about Alertmanager: its examples are real, and nothing is left out."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
import yaml
from tests.generator.alertmanager.running import generated, programs, versions

from gpuscope_generator.alertmanager.causes import NEVER
from gpuscope_generator.alertmanager.model import (
    GROUPINGS,
    ROUTES,
    Alertmanager,
    Email,
    Manifest,
    PagerDuty,
    Slack,
    Webhook,
)
from gpuscope_generator.alertmanager.routing import route_tree, walk
from gpuscope_generator.alertmanager.table import routes_table
from gpuscope_generator.loading import load_settings
from gpuscope_generator.rules.text import duration

PAGE = (Path(__file__).parents[3] / "docs/alertmanager.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
SITE = BLOCKS[0]


@pytest.mark.parametrize("version", versions())
def test_the_site_on_the_page_is_a_configuration(version: str, tmp_path: Path) -> None:
    assert "SUCCESS" in programs(version).amtool("check-config", generated(tmp_path, SITE))


def test_the_table_on_the_page_has_the_routes_of_the_site(tmp_path: Path) -> None:
    generated(tmp_path, SITE)
    chosen = load_settings(tmp_path / "settings.yaml").alertmanager
    (shown,) = re.findall(r"^```\n(Alerts .*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line.split("  ")[0] if line[0] != " " else line.split()[0] for line in shown.splitlines()[1:]]
    tree = list(walk(route_tree(chosen)))
    routes = [" ".join(match.text for match in route.matches) or "all others" for _, route, _ in (*tree[1:], tree[0])]
    assert lines == routes
    printed = [re.split(r"\s{2,}", line.strip()) for line in routes_table(chosen).splitlines() if line[0] != "-"]
    left = [[row[0], *row[2:4]] for row in printed]
    assert [re.split(r"\s{2,}", line.strip()) for line in shown.splitlines()] == left


def test_every_setting_stands_on_the_page() -> None:
    keys = [field.name for field in dataclasses.fields(Alertmanager)]
    keys += [f"routes.{route}" for route in ROUTES]
    keys += [f"grouping.<route>.{name}" for name in ("group_by", "group_wait", "group_interval", "repeat_interval")]
    keys += [
        f"smtp.{name}" for name in ("smarthost", "from", "hello", "auth_username", "auth_password_file", "require_tls")
    ]
    for kind in (Slack, Email, PagerDuty, Webhook):
        keys += [field.name for field in dataclasses.fields(kind) if field.name != "send_resolved"]
    missing = {key for key in keys if not re.search(rf"`{re.escape(key)}(`|\.)", PAGE)}
    assert missing - {"routes", "smtp", "grouping"} == set()
    assert all(f"{field.name}:" in PAGE for field in dataclasses.fields(Manifest))


def test_usual_times_on_the_page_are_those_that_hold() -> None:
    for route, group in GROUPINGS.items():
        times = (group.group_wait, group.group_interval, group.repeat_interval)
        row = " | ".join(f"`{duration(one)}`" for one in times)
        assert f"| `{route}` | {row} |" in PAGE


def test_what_is_never_held_back_stands_on_the_page() -> None:
    (text,) = re.findall(r"are never held back: (.*?)\.\n", PAGE, re.DOTALL)
    assert re.split(r",\s+", text) == list(NEVER)


def test_our_routes_below_a_route_of_somebody_else(tmp_path: Path) -> None:
    (beside,) = (block for block in BLOCKS if "routes" in block.get("route", {}))
    made = yaml.safe_load(generated(tmp_path, SITE).read_text(encoding="utf-8"))
    beside["route"]["routes"][0]["routes"] = made["route"]["routes"]
    beside["receivers"] = [{"name": "yours"}, *made["receivers"]]
    for receiver in beside["receivers"]:
        receiver.pop("webhook_configs", None)
    file = tmp_path / "merged.yaml"
    file.write_text(yaml.safe_dump(beside), encoding="utf-8")

    def told(*labels: str) -> str:
        return programs("distribution").amtool("config", "routes", "test", f"--config.file={file}", *labels).strip()

    assert told("alertname=KubeSomething", "severity=critical") == "yours"
    assert told("alertname=GpuX", "severity=critical", "audience=platform") == "gpuscope-critical"
    assert told("alertname=GpuX", "severity=warning", "audience=owner", "team=nlp") == "gpuscope-team-nlp"
