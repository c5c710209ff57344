"""Alerts in the demo: the receiver, the configuration, and what ``--once`` waits for."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from gpuscope.demo.alerts import DemoAlerts, alert_checks, make_rules, open_receiver, start_alertmanager
from gpuscope.demo.children import Children, free_port
from gpuscope.demo.programs import find
from gpuscope.demo.prometheus import configuration
from gpuscope.errors import SourceError

CACHE = Path(__file__).parents[2] / ".cache"


def _message(*alerts: dict[str, Any]) -> dict[str, Any]:
    return {"version": "4", "alerts": list(alerts)}


def _alert(name: str, status: str = "firing", **labels: str) -> dict[str, Any]:
    return {
        "status": status,
        "fingerprint": f"{name}{sorted(labels.items())}",
        "labels": {"alertname": name, "severity": "critical", **labels},
        "annotations": {"location": f"node {labels['node']}, GPU 3"} if "node" in labels else {},
        "startsAt": "2026-11-30T16:47:51.123456789Z",
    }


def _json(document: Any) -> bytes:
    return json.dumps(document).encode()


def _post(url: str, body: bytes) -> int:
    with requests.Session() as session:
        session.trust_env = False
        return session.post(url, data=body, timeout=30).status_code


def test_the_receiver_keeps_how_each_alert_stands() -> None:
    with open_receiver() as alerts:
        for status in ("firing", "resolved"):
            message = _message(_alert("GpuFellOffBus", status, node="n"))
            assert _post(f"{alerts.receiver}/critical", _json(message)) == 200
            (row,) = alerts.rows()
            assert row.over is (status == "resolved")
    assert (row.name, row.where, row.told, row.measured) == ("GpuFellOffBus", "node n, GPU 3", "critical", "")
    assert row.began == pytest.approx(1_796_057_271.12, abs=0.01)


def test_the_sign_of_life_is_counted_and_no_alert() -> None:
    with open_receiver() as alerts:
        assert _post(f"{alerts.receiver}/heartbeat", _json(_message(_alert("Watchdog")))) == 200
        assert alerts.beats == 1
        assert alerts.rows() == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"alerts": [{}]}', b'{"alerts": 1}'])
def test_what_is_no_message_is_refused_and_forgotten(body: bytes) -> None:
    with open_receiver() as alerts:
        assert _post(f"{alerts.receiver}/critical", body) == 400
        assert alerts.rows() == []


def test_a_fault_that_the_fleet_has_is_waited_for() -> None:
    alerts = DemoAlerts("http://127.0.0.1:1")
    fleet = {"a": "h100x8", "b": "h100-pretrain+gpu-lost"}
    life, faults = alert_checks(alerts, fleet)
    assert (life.passed, faults.passed, faults.seen) == (False, False, "no GpuFellOffBus on b")
    alerts.take("heartbeat", _message(_alert("Watchdog")))
    alerts.take("critical", _message(_alert("GpuFellOffBus", node="a")))
    assert not alert_checks(alerts, fleet)[1].passed
    alerts.take("critical", _message(_alert("GpuFellOffBus", node="b")))
    assert [check.passed for check in alert_checks(alerts, fleet)] == [True, True]
    assert len(alert_checks(alerts, {"a": "h100x8"})) == 1


def test_alertmanager_runs_on_what_the_generator_makes_and_tells_this_process(tmp_path: Path) -> None:
    with open_receiver() as alerts, Children(tmp_path) as children:
        address = f"127.0.0.1:{free_port()}"
        assert not alerts.ready()
        start_alertmanager(children, tmp_path / "alerts", find("alertmanager", CACHE), address, alerts, "http://boards")
        _until(alerts.ready)
        body = [{"labels": {"alertname": "Watchdog", "severity": "none"}}]
        body += [{"labels": {"alertname": "GpuX", "severity": "critical", "node": "n", "cluster": "demo"}}]
        with requests.Session() as session:
            session.trust_env = False
            assert session.post(f"{alerts.url}/api/v2/alerts", json=body, timeout=30).ok
        _until(lambda: alerts.beats > 0 and alerts.rows())
        (row,) = alerts.rows()
        assert (row.name, row.where, row.told) == ("GpuX", "node n", "critical")
        children.check()
    made = (tmp_path / "alerts/alert_rules/alertmanager/templates/gpuscope.tmpl").read_text(encoding="utf-8")
    assert '"http://boards"' in made


def _until(happened: Any) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_rules_are_those_of_the_generator_evaluated_more_often(tmp_path: Path) -> None:
    recording, alerting = make_rules(tmp_path)
    assert recording.endswith("recording/*.yaml")
    files = [*tmp_path.glob("alert_rules/recording/*.yaml"), *tmp_path.glob("alert_rules/alerts/*.yaml")]
    assert Path(alerting).parent == files[-1].parent
    loaded = yaml.safe_load((tmp_path / "alert_rules/alerts/monitoring.yaml").read_text(encoding="utf-8"))
    assert {group["interval"] for group in loaded["groups"]} == {"10s"}
    program = find("promtool", CACHE)
    done = subprocess.run([program, "check", "rules", *files], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "alert_rules").write_text("mine", encoding="utf-8")
    with pytest.raises(SourceError, match=r"rules: could not be generated: .*alert_rules"):
        make_rules(tmp_path)


def test_prometheus_is_told_of_alertmanager_and_gives_alerts_their_cluster() -> None:
    told = yaml.safe_load(configuration({}, None, alertmanager="127.0.0.1:1"))
    assert told["alerting"] == {"alertmanagers": [{"static_configs": [{"targets": ["127.0.0.1:1"]}]}]}
    assert told["global"]["external_labels"] == {"cluster": "demo"}
    assert "alerting" not in yaml.safe_load(configuration({}, None))
