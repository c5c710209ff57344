"""From a GPU to a mail: a real agent on a simulated node that loses all its GPUs, our rules, and the real servers."""

from __future__ import annotations

import dataclasses
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests
from tests.generator.alertmanager.prometheus_process import prometheus
from tests.generator.alertmanager.running import generated, running
from tests.generator.alertmanager.sinks import open_sinks, wait_for
from tests.generator.alertmanager.site import site
from tests.generator.alertmanager.slack_format import slack_faults

from gpuscope_generator.output import rule_texts
from gpuscope_generator.settings import Intervals, Settings

BEGIN_S = 20
"""Until then a busy machine has seen that all is well."""
EVENTS = "".join(f"  - {{at: {BEGIN_S}, do: xid, gpu: {gpu}, code: 79, message: Lost.}}\n" for gpu in range(8))
SCENARIO = f"title: eight GPUs fall off the bus at once\nkind: fault\nextends: h100x8\nevents:\n{EVENTS}"
FILES = ("gpuscope", "devices", "level-fault", "level-node", "hardware", "memory", "monitoring")


@contextmanager
def _agent(folder: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    scenario = folder / "eight.yaml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    command = [sys.executable, "-m", "gpuscope", "agent", "--web.listen-address", address, "--node-name", "gpu-017"]
    command += ["--simulate", str(scenario), "--interval.fast", "1s", "--interval.attribution", "1s"]
    with (folder / "agent.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)

    def answers() -> bool:
        assert process.poll() is None, (folder / "agent.log").read_text()
        try:
            with requests.Session() as session:
                session.trust_env = False
                return "gpuscope_gpu_info" in session.get(f"http://{address}/metrics", timeout=30).text
        except requests.RequestException:
            return False

    try:
        wait_for(answers, "agent")
        yield address
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(30)


def test_a_node_that_loses_eight_gpus_is_one_page_one_message_and_one_mail(tmp_path: Path) -> None:
    settings = dataclasses.replace(Settings(), intervals=Intervals(normalize=5, aggregate=5, slow=60))
    for path, text in rule_texts(settings).items():
        if path.stem in FILES:
            (tmp_path / f"{path.parent.name}-{path.name}").write_text(text, encoding="utf-8")
    with open_sinks() as sinks:
        wait = {"group_wait": "10s", "group_interval": "5s", "repeat_interval": "1h"}
        times = dict.fromkeys(("critical", "warnings", "owners", "incidents", "recovery"), wait)
        configuration = generated(tmp_path / "site", site(tmp_path / "secrets", sinks, grouping=times))
        with running("distribution", configuration, tmp_path) as manager, _agent(tmp_path) as agent:
            document = {
                "global": {"scrape_interval": "2s", "external_labels": {"cluster": "prod"}},
                "rule_files": [f"{tmp_path}/recording-*.yaml", f"{tmp_path}/alerts-*.yaml"],
                "alerting": {"alertmanagers": [{"static_configs": [{"targets": [manager.url[7:]]}]}]},
                "scrape_configs": [
                    {
                        "job_name": "gpuscope",
                        "static_configs": [{"targets": [agent], "labels": {"node": "gpu-017", "cluster": "prod"}}],
                    }
                ],
            }
            with prometheus(tmp_path, document):
                wait_for(lambda: sinks.posted("/pagerduty/enqueue"), "page", limit_s=150)
                wait_for(lambda: sinks.mailed("platform@example.org"), "mail")
                wait_for(lambda: sinks.posted("/slack/oncall"), "message")
    (page,) = sinks.posted("/pagerduty/enqueue")
    assert page["payload"]["summary"] == "[CRITICAL] A GPU fell off the bus: node gpu-017, cluster prod (8 alerts)"
    (message,) = sinks.posted("/slack/oncall")
    assert slack_faults(message) == []
    text = message["attachments"][0]["text"]
    assert [number in text for number in (f"node gpu-017, GPU {gpu}, GPU-" for gpu in range(8))] == [True] * 8
    (mail,) = sinks.mailed("platform@example.org")
    plain = mail.get_body(("plain",)).get_content()
    lines = re.findall(
        r"^• node gpu-017, GPU (\d), GPU-[0-9a-f-]{36}, serial \d+ \(cluster prod\)", plain, re.MULTILINE
    )
    assert sorted(lines) == list("01234567")
    assert "Do first: " in plain
    assert "docs/runbooks/GpuFellOffBus.md" in plain
    assert (
        "https://grafana.example/d/gpuscope-cluster/cluster?var-cluster=prod&var-node=gpu-017&var-gpu=0&from=" in plain
    )
