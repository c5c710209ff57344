"""Rules and boards of the chart are the generated ones, and what users change in them is changed."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.helm.charts import CONTENT, HELMS, LEAN, ROOT, Object, objects, of_kind, only, rendered
from tests.helm.strict import faults

from gpuscope_generator.alertmanager.manifest import manifest_text
from gpuscope_generator.loading import load_settings

RULES = {path.relative_to(CONTENT / "rules"): path for path in (CONTENT / "rules").glob("*/*.yaml")}
LARGEST_BOARD = 200_000
"""Bytes of a board as manifest, which ``kubectl apply`` keeps once more in an annotation of at most 262,144."""


def groups(path: Path) -> list[Any]:
    found: list[Any] = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)["groups"]
    return found


def name_of(path: Path) -> str:
    return f"gpu-gpuscope-{path.parent.name}-{path.stem}"


def assert_good_rules(folder: Path) -> None:
    """Asserts that promtool takes every file of a folder."""
    checked = subprocess.run(
        ["promtool", "check", "rules", *sorted(folder.iterdir())],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


def test_the_chart_has_every_generated_rule_file_as_it_is() -> None:
    wanted = {
        path.relative_to(ROOT / "alert_rules"): path.read_bytes()
        for kind in ("recording", "alerts")
        for path in (ROOT / "alert_rules" / kind).glob("*.yaml")
    }
    assert {path: place.read_bytes() for path, place in RULES.items()} == wanted


def test_the_chart_has_every_generated_board_without_blanks() -> None:
    for path in (ROOT / "dashboards").glob("*.json"):
        board = json.loads(path.read_text(encoding="utf-8"))
        text = (CONTENT / "dashboards" / path.name).read_text(encoding="utf-8")
        assert text == json.dumps(board, ensure_ascii=False, separators=(",", ":")) + "\n"
    assert len(list((CONTENT / "dashboards").iterdir())) == len(list((ROOT / "dashboards").glob("*.json")))


@pytest.mark.parametrize("version", HELMS)
def test_rules_reach_prometheus_as_they_are(version: str) -> None:
    found = {
        one["metadata"]["name"]: one["spec"]["groups"]
        for one in of_kind("PrometheusRule", objects("no-grafana", version=version))
    }
    assert found == {name_of(path): groups(place) for path, place in RULES.items()}
    assert "{{ $labels.gpu }}" in json.dumps(found)
    assert "{{ $value | printf" in json.dumps(found)


@pytest.mark.parametrize("version", HELMS)
def test_boards_reach_grafana_byte_by_byte(version: str) -> None:
    maps = [one for one in of_kind("ConfigMap", objects(version=version)) if "-board-" in one["metadata"]["name"]]
    found = {key: text for one in maps for key, text in one["data"].items()}
    assert found == {path.name: path.read_text(encoding="utf-8") for path in (CONTENT / "dashboards").iterdir()}
    assert all(len(one["data"]) == 1 for one in maps)
    assert all(one["metadata"]["labels"]["grafana_dashboard"] == "1" for one in maps)
    for text in found.values():
        assert "__inputs" not in text
        assert "${DS_" not in text


def test_each_config_map_is_small_enough_for_kubectl_apply() -> None:
    sizes = {
        one["metadata"]["name"]: len(json.dumps(one, ensure_ascii=False).encode())
        for case in ("", "plain-prometheus")
        for one in of_kind("ConfigMap", objects(case))
    }
    assert max(sizes.values()) < LARGEST_BOARD, sizes


def test_each_rule_object_is_small_enough_for_kubectl_apply() -> None:
    assert max(len(json.dumps(one)) for one in of_kind("PrometheusRule", objects("no-grafana"))) < LARGEST_BOARD


@pytest.mark.parametrize("version", HELMS)
def test_config_maps_hold_the_same_files_and_promtool_takes_them(version: str, tmp_path: Path) -> None:
    for one in of_kind("ConfigMap", objects("plain-prometheus", version=version)):
        if "-rules-" in one["metadata"]["name"]:
            assert one["metadata"]["labels"]["prometheus_rules"] == "1"
            for name, text in one["data"].items():
                assert not (tmp_path / name).exists()
                (tmp_path / name).write_text(text, encoding="utf-8")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{path.parent.name}-{path.name}" for path in RULES} | {"extra.yaml"}
    for path, place in RULES.items():
        assert (tmp_path / f"{path.parent.name}-{path.name}").read_bytes() == place.read_bytes()
    assert "{{ $labels.instance }} is down: {{ $value }}" in (tmp_path / "extra.yaml").read_text()
    assert_good_rules(tmp_path)


@pytest.mark.parametrize("version", HELMS)
def test_changed_rules_are_good_rules(version: str, tmp_path: Path) -> None:
    found = of_kind("PrometheusRule", objects("kube-prometheus-stack", version=version))
    assert all(one["metadata"]["labels"]["release"] == "monitoring" for one in found)
    for one in found:
        (tmp_path / f"{one['metadata']['name']}.yaml").write_text(yaml.safe_dump(one["spec"]), encoding="utf-8")
    assert_good_rules(tmp_path)
    for path, place in RULES.items():
        rules = [
            rule for group in only("PrometheusRule", name_of(path), found)["spec"]["groups"] for rule in group["rules"]
        ]
        assert rules == [_changed(rule) for group in groups(place) for rule in group["rules"] if _stays(rule)]


def _stays(rule: Object) -> bool:
    return rule.get("alert") != "GpuAllocatedIdle"


def _changed(rule: Object) -> Object:
    if "alert" not in rule:
        return rule
    labels = {"region": "eu"} | rule["labels"]
    annotations = dict(rule["annotations"])
    if rule["alert"] != "GpuFirmwareFault":
        return rule | {"labels": labels, "annotations": annotations}
    return rule | {
        "for": "5m",
        "labels": labels | {"severity": "warning"},
        "annotations": annotations | {"escalation": "tier {{ $labels.node }}"},
    }


def test_groups_are_left_out_by_file() -> None:
    settings = ("rules.enabled=true", "rules.recording.dcgm=false", "rules.alerts.thermal=false")
    found = {one["metadata"]["name"] for one in of_kind("PrometheusRule", objects("", *settings))}
    assert {name_of(path) for path in RULES} - found == {"gpu-gpuscope-recording-dcgm", "gpu-gpuscope-alerts-thermal"}


def test_an_object_without_rules_is_left_out() -> None:
    path = next(path for path in RULES if path.parent.name == "alerts" and path.stem == "thermal")
    names = [rule["alert"] for group in groups(RULES[path]) for rule in group["rules"]]
    settings = ("rules.enabled=true", *(f"rules.disabled.{name}=true" for name in names))
    assert name_of(path) not in {one["metadata"]["name"] for one in objects("", *settings)}


def test_a_category_takes_its_rules_alerts_and_board_along() -> None:
    base = {(one["kind"], one["metadata"]["name"]) for one in objects("", "rules.enabled=true")}
    off = {
        (one["kind"], one["metadata"]["name"])
        for one in objects("", "rules.enabled=true", "categories.inference.level=off")
    }
    gone = {name.removeprefix("gpu-gpuscope-") for _, name in base - off}
    assert off <= base
    assert {"alerts-serving", "board-inference", "recording-vllm", "recording-sglang"} <= gone
    back = objects("", "rules.enabled=true", "categories.inference.level=off", "rules.recording.vllm=true")
    assert only("PrometheusRule", "gpu-gpuscope-recording-vllm", back)


def test_every_file_of_a_category_is_there() -> None:
    text = (ROOT / "helm/gpuscope/templates/_categories.tpl").read_text(encoding="utf-8")
    table = yaml.safe_load(text.split('"gpuscope.categories" -}}')[1].split("{{- end -}}")[0])
    values = yaml.safe_load((ROOT / "helm/gpuscope/values.yaml").read_text(encoding="utf-8"))
    assert set(table) == set(values["categories"])
    listed = [
        f"{kind}/{name}.yaml"
        for parts in table.values()
        for kind in ("recording", "alerts")
        for name in parts.get(kind, [])
    ]
    assert len(set(listed)) == len(listed)
    assert {Path(one) for one in listed} <= set(RULES)
    boards = {f"{name}.json" for parts in table.values() for name in parts.get("boards", [])}
    assert boards <= {path.name for path in (CONTENT / "dashboards").iterdir()}


def test_folders_and_grafana_dashboards() -> None:
    (folder,) = {
        one["metadata"]["annotations"]["grafana_folder"]
        for one in of_kind("ConfigMap", objects("kube-prometheus-stack"))
        if "-board-" in one["metadata"]["name"]
    }
    assert folder == "GPU"
    assert "grafana_folder" not in rendered()
    found = objects("grafana-operator")
    maps = {one["metadata"]["name"]: set(one["data"]) for one in of_kind("ConfigMap", found)}
    dashboards = of_kind("GrafanaDashboard", found)
    assert len(dashboards) == 5
    for one in dashboards:
        assert {one["spec"]["configMapRef"]["key"]} == maps[one["spec"]["configMapRef"]["name"]]


def test_the_configuration_of_alertmanager_is_taken_as_it_is() -> None:
    one = only("AlertmanagerConfig", "gpu-gpuscope", objects("grafana-operator"))
    assert one["spec"]["route"]["matchers"] == [{"name": "alertname", "matchType": "=", "value": "Watchdog"}]
    assert one["spec"]["receivers"][0]["slackConfigs"][0]["title"] == "{{ .CommonLabels.alertname }}"
    assert '"matchType":"="' in rendered("grafana-operator")


def test_what_the_generator_writes_for_the_operator_is_taken_and_right(tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text(
        """
alertmanager:
  receivers:
    oncall: {type: slack, api_url_file: /etc/secrets/slack, channel: '#gpu'}
    mail: {type: email, to: [a@example.org]}
  smtp: {smarthost: 'smtp.example.org:587', from: b@example.org}
  routes: {critical: [oncall], warnings: [mail]}
  manifest: {enabled: true, namespace: monitoring, secret: gpuscope-alertmanager, matcher_strategy: None}
""",
        encoding="utf-8",
    )
    manifest = tmp_path / "alertmanagerconfig.yaml"
    manifest.write_text(manifest_text(load_settings(settings)), encoding="utf-8")
    more = ("--set-file", f"alertmanagerConfig.manifest={manifest}")
    chosen = ("alertmanagerConfig.enabled=true,alertmanagerConfig.matcherStrategy=None", *LEAN)
    for version in HELMS:
        one = only("AlertmanagerConfig", "gpu-gpuscope", objects("", *chosen, version=version, more=more))
        assert one["spec"] == yaml.safe_load(manifest.read_text(encoding="utf-8"))["spec"]
        assert faults(one, "1.37") == []
