"""The AlertmanagerConfig, made into a configuration as the operator makes it, and run by the real Alertmanager."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.generator.alertmanager.operator_merge import merged
from tests.generator.alertmanager.running import alert, generated, programs, running
from tests.generator.alertmanager.sinks import Sinks, open_sinks, wait_for
from tests.generator.alertmanager.site import site

GPU = {"severity": "critical", "scope": "gpu", "component": "gpu", "audience": "platform", "cluster": "c", "node": "n"}
MANIFEST = {"enabled": True, "namespace": "monitoring", "matcher_strategy": "None"}


@dataclass(frozen=True)
class Made:
    """What was made of a site, and of that what the operator makes under each strategy."""

    manifest: dict[str, Any]
    sinks: Sinks
    under: dict[str, Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """A site with a manifest, made once."""
    folder = tmp_path_factory.mktemp("manifest")
    with open_sinks() as sinks:
        settings = site(folder / "secrets", sinks, manifest=MANIFEST)
        file = generated(folder, settings).with_name("alertmanagerconfig.yaml")
        manifest = yaml.safe_load(file.read_text(encoding="utf-8"))
        under = {}
        for strategy in ("None", "OnNamespace"):
            under[strategy] = folder / f"{strategy}.yaml"
            document = merged(manifest, folder / "secrets", strategy=strategy)
            under[strategy].write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        yield Made(manifest, sinks, under)


def _told(file: Path, **labels: str) -> str:
    arguments = [f"{name}={value}" for name, value in labels.items()]
    return programs("distribution").amtool("config", "routes", "test", f"--config.file={file}", *arguments).strip()


def test_it_is_off_unless_it_is_wanted(tmp_path: Path) -> None:
    configuration = generated(tmp_path, site(tmp_path / "secrets", Sinks("http://127.0.0.1:1", "127.0.0.1:1")))
    assert not configuration.with_name("alertmanagerconfig.yaml").exists()


def test_it_needs_no_file_of_templates_and_no_file_of_secrets(made: Made, tmp_path: Path) -> None:
    sinks = made.sinks
    with running("distribution", made.under["None"], tmp_path) as manager:
        texts = {"summary": "A GPU fell off the bus.", "recommended_action": "Drain the node."}
        manager.post(
            [
                alert("GpuFellOffBus", texts, gpu="1", uuid="u", **GPU),
                alert("GpuMemoryUncorrectable", texts, gpu="1", uuid="u", **GPU),
            ]
        )
        wait_for(lambda: sinks.posted("/pagerduty/enqueue"), "page")
        wait_for(lambda: sinks.posted("/slack/oncall"), "message")
        (mail,) = wait_for(lambda: sinks.mailed("platform@example.org"), "mail")
    (page,) = sinks.posted("/pagerduty/enqueue")
    title = "[CRITICAL] A GPU fell off the bus: node n, GPU 1, cluster c"
    assert page["payload"]["summary"] == title
    assert page["routing_key"] == "R0UT1NG"
    (message,) = sinks.posted("/slack/oncall")
    assert message["attachments"][0]["title"] == f"🔴 {title}"
    assert "*Do first:* Drain the node." in message["attachments"][0]["text"]
    assert mail["subject"] == title
    assert "<b>Do first:</b> Drain the node." in mail.get_body(("html",)).get_content()


def test_alerts_of_somebody_else_are_left_to_them(made: Made) -> None:
    configuration = made.under["None"]
    assert _told(configuration, **GPU) == "monitoring/gpuscope/gpuscope-critical"
    assert _told(configuration, alertname="KubePodCrashLooping", severity="warning") == "operator-null"
    assert _told(configuration, alertname="Watchdog", severity="none") == "operator-null"


def test_with_the_usual_strategy_of_the_operator_it_would_see_no_gpu(made: Made) -> None:
    configuration = made.under["OnNamespace"]
    assert _told(configuration, **GPU) == "operator-null"
    assert _told(configuration, **GPU, namespace="monitoring") == "monitoring/gpuscope/gpuscope-critical"


def test_it_says_what_the_alertmanager_must_be_set_to(tmp_path: Path) -> None:
    settings = site(
        tmp_path / "secrets",
        Sinks("http://127.0.0.1:1", "127.0.0.1:1"),
        manifest=MANIFEST | {"matcher_strategy": "OnNamespaceExceptForAlertmanagerNamespace"},
    )
    text = generated(tmp_path, settings).with_name("alertmanagerconfig.yaml").read_text(encoding="utf-8")
    assert "alertmanagerConfigMatcherStrategy: {type: OnNamespaceExceptForAlertmanagerNamespace}" in text
    assert "label namespace is monitoring" in text


def test_secrets_are_keys_of_one_secret_by_the_names_of_their_files(made: Made) -> None:
    found: list[tuple[str, str]] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if value.keys() == {"name", "key"}:
                found.append((value["name"], value["key"]))
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    look(made.manifest["spec"]["receivers"])
    assert {name for name, _ in found} == {"gpuscope-alertmanager"}
    assert {key for _, key in found} == {"key", "oncall", "warnings", "nlp", "token"}
    assert str(made.under["None"].parent) not in str(made.manifest)


def test_operators_of_conditions_are_those_of_the_manifest(made: Made) -> None:
    used = set(re.findall(r"'matchType': '([^']+)'", str(made.manifest)))
    assert used == {"=", "=~", "!=", "!~"}
