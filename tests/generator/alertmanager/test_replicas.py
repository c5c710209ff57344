"""Two real Prometheus that watch the same, configured as the page says: one alert, one message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml
from tests.generator.alertmanager.prometheus_process import prometheus
from tests.generator.alertmanager.running import Running, generated, running
from tests.generator.alertmanager.sinks import Sinks, open_sinks, wait_for
from tests.generator.alertmanager.site import site

PAGE = (Path(__file__).parents[3] / "docs/alertmanager.md").read_text(encoding="utf-8")
RULES = {
    "groups": [
        {
            "name": "test",
            "interval": "1s",
            "rules": [
                {
                    "alert": "GpuFellOffBus",
                    "expr": 'label_replace(vector(1), "node", "n1", "", "")',
                    "labels": {"severity": "critical", "scope": "gpu", "component": "gpu", "audience": "platform"},
                    "annotations": {"summary": "A GPU fell off the bus."},
                }
            ],
        }
    ]
}


def _snippet() -> dict[str, Any]:
    """What the page says about Prometheus."""
    blocks = (yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    (found,) = (block for block in blocks if "alerting" in block)
    return dict(found)


@contextmanager
def _prometheus(folder: Path, replica: str, manager: Running, *, drop: bool) -> Iterator[None]:
    folder.mkdir()
    document = _snippet()
    document["global"]["external_labels"]["replica"] = replica
    document["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [manager.url.removeprefix("http://")]
    if not drop:
        del document["alerting"]["alert_relabel_configs"]
    (folder / "rules.yaml").write_text(yaml.safe_dump(RULES), encoding="utf-8")
    with prometheus(folder, document | {"rule_files": ["rules.yaml"]}):
        yield


def _known(folder: Path, *, drop: bool) -> tuple[list[dict[str, Any]], Sinks]:
    """What Alertmanager knows of two replicas, and what it told."""
    folder.mkdir()
    with open_sinks() as sinks, ExitStack() as stack:
        configuration = generated(folder, site(folder / "secrets", sinks))
        manager = stack.enter_context(running("distribution", configuration, folder))
        for replica in ("a", "b"):
            stack.enter_context(_prometheus(folder / replica, replica, manager, drop=drop))
        heard: set[str] = set()

        def both() -> bool:
            heard.update(one["generatorURL"] for one in manager.alerts())
            return len(heard) == 2

        wait_for(both, "alerts of both")
        wait_for(lambda: sinks.posted("/pagerduty/enqueue"), "page")
        wait_for(lambda: sinks.mailed("platform@example.org"), "mail")
        return manager.alerts(), sinks


def test_two_that_watch_the_same_are_one_alert(tmp_path: Path) -> None:
    known, sinks = _known(tmp_path / "dropped", drop=True)
    (alert,) = known
    assert alert["labels"]["cluster"] == "prod"
    assert "replica" not in alert["labels"]
    assert [one["payload"]["summary"] for one in sinks.posted("/pagerduty/enqueue")] == [
        "[CRITICAL] A GPU fell off the bus: node n1, cluster prod"
    ]


def test_without_the_line_of_the_page_they_are_two(tmp_path: Path) -> None:
    known, _ = _known(tmp_path / "kept", drop=False)
    assert sorted(one["labels"]["replica"] for one in known) == ["a", "b"]
