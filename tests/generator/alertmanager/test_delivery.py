"""What the real Alertmanager sends, in each version: one page a node, nothing that something else explains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.generator.alertmanager.running import Running, alert, generated, running, versions
from tests.generator.alertmanager.sinks import Sinks, open_sinks, wait_for
from tests.generator.alertmanager.site import site

OFF = {
    "summary": "A GPU fell off the bus.",
    "description": "XID 79 was logged in the last 10 minutes; none is right.",
    "owner": "nlp/llama (job 12), team nlp",
    "measured": "1 event",
    "recommended_action": "Drain the node, then reboot it.",
    "runbook_url": "https://runbooks.example/GpuFellOffBus.md",
}
DEVICE = {"scope": "gpu", "component": "gpu", "audience": "platform"}
JOB = {"scope": "job", "component": "usage", "audience": "owner", "namespace": "nlp", "workload": "llama"}


def _gpu(name: str, severity: str, cluster: str, node: str, gpu: int, **how: Any) -> dict[str, Any]:
    texts = OFF | {
        "location": f"node {node}, GPU {gpu}, GPU-{node}-{gpu}, serial 17{gpu}",
        "dashboard_url": f"/d/gpuscope-cluster/cluster?var-cluster={cluster}&var-node={node}",
    }
    labels = {"cluster": cluster, "node": node, "gpu": str(gpu), "uuid": f"GPU-{node}-{gpu}"}
    return alert(name, texts, severity=severity, **DEVICE, **labels, **how)


def _happening(**how: Any) -> list[dict[str, Any]]:
    """Everything that happens in the clusters of this test, or that is over in all of them."""
    lost = [
        *(_gpu("GpuFellOffBus", "critical", "lost", "n1", gpu, **how) for gpu in range(8)),
        *(_gpu("GpuMemoryUncorrectable", "critical", "lost", "n1", gpu, **how) for gpu in range(8)),
        *(_gpu("GpuHealthCheckFailed", "warning", "lost", "n1", gpu, **how) for gpu in range(8)),
        alert(
            "GpuCountBelowExpected",
            {"summary": "A node has fewer GPUs than it should have."},
            **DEVICE | {"scope": "node"},
            severity="critical",
            cluster="lost",
            node="n1",
            **how,
        ),
    ]
    two = [
        _gpu("GpuFellOffBus", "critical", "two", "n1", 3, **how),
        _gpu("GpuRowRemapFailed", "critical", "two", "n1", 5, **how),
    ]
    bare = [
        alert("GpuFellOffBus", OFF, severity="critical", cluster="bare", **DEVICE, **how),
        alert("GpuHealthCheckFailed", OFF, severity="warning", cluster="bare", **DEVICE, **how),
    ]
    both = [_gpu("GpuRecoveryActionReset", level, "both", "n1", 0, **how) for level in ("critical", "warning")]
    many = [_gpu("GpuPcieDegraded", "warning", "many", f"n{node:02}", 0, **how) for node in range(30)]
    owners = [
        alert("GpuAllocatedIdle", OFF, severity="info", cluster="owners", team="nlp", **JOB, **how),
        alert("GpuAllocatedIdle", OFF, severity="info", cluster="owners", team="vision", **JOB, **how),
        alert("JobStalled", OFF, severity="critical", cluster="stalled", team="nlp", **JOB, **how),
    ]
    quiet = [_gpu("GpuUnknownFault", "info", "quiet", "n1", 0, **how)]
    return [*lost, *two, *bare, *both, *many, *owners, *quiet]


@pytest.fixture(scope="module", params=versions())
def site_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Sinks, Running]]:
    """What was told at a site in which all of it began, and ended."""
    folder = tmp_path_factory.mktemp(request.param)
    with open_sinks() as sinks:
        short = {"group_wait": "1s", "group_interval": "2s", "repeat_interval": "1h"}
        times = dict.fromkeys(("critical", "incidents", "owners", "warnings"), short)
        times["heartbeat"] = {"group_wait": "0s", "group_interval": "1s", "repeat_interval": "1s"}
        configuration = generated(folder, site(folder / "secrets", sinks, grouping=times))
        with running(request.param, configuration, folder) as manager:
            always = alert("Watchdog", severity="none", scope="monitoring", component="monitoring", audience="platform")
            # Two Prometheus that watch the same tell the same.
            for _ in range(2):
                manager.post([always, *_happening()])
            wait_for(lambda: len(sinks.posted("/pagerduty/enqueue")) >= 5, "pages")
            wait_for(lambda: len(sinks.posted("/slack/warnings")) >= 2, "warnings")
            wait_for(lambda: len(sinks.posted("/heartbeat")) >= 2, "heartbeats")
            wait_for(lambda: len(sinks.mailed("nlp@example.org")) >= 2, "mails to the team")
            manager.post(_happening(over=True))
            wait_for(lambda: len(_about(sinks, "resolve")) >= 5, "ends of pages")
            wait_for(lambda: len(_titles(sinks, "oncall", "RESOLVED")) >= 5, "ends of pages in the channel")
            wait_for(lambda: len(_titles(sinks, "warnings", "RESOLVED")) >= 2, "ends of warnings")
            wait_for(lambda: len(_mails(sinks, "nlp@example.org", "[RESOLVED]")) >= 2, "ends of mails")
            wait_for(lambda: len(_mails(sinks, "platform@example.org", "[RESOLVED]")) >= 5, "ends at the platform")
            yield sinks, manager


def _about(sinks: Sinks, action: str) -> list[str]:
    return sorted(
        one["payload"]["summary"] for one in sinks.posted("/pagerduty/enqueue") if one["event_action"] == action
    )


def _titles(sinks: Sinks, channel: str, word: str) -> list[str]:
    found = (one["attachments"][0]["title"] for one in sinks.posted(f"/slack/{channel}"))
    return sorted(title for title in found if word in title)


def _mails(sinks: Sinks, to: str, word: str) -> list[str]:
    return sorted(str(mail["subject"]) for mail in sinks.mailed(to) if word in str(mail["subject"]))


def test_one_node_that_loses_eight_gpus_is_one_page(site_of: tuple[Sinks, Running]) -> None:
    pages = [one for one in site_of[0].posted("/pagerduty/enqueue") if one["payload"]["group"] == "lost"]
    assert [one["event_action"] for one in pages] == ["trigger", "resolve"]
    assert len({one["dedup_key"] for one in pages}) == 1
    # Eight GPUs and the count; neither their memory nor their checks.
    assert str(pages[0]["payload"]["custom_details"]["num_firing"]) == "9"
    assert "GpuMemoryUncorrectable" not in str(pages)
    assert pages[0]["payload"]["severity"] == "critical"
    assert pages[0]["routing_key"] == "R0UT1NG"


def test_pages_are_those_that_are_meant_and_each_ends(site_of: tuple[Sinks, Running]) -> None:
    expected = [
        "A GPU fell off the bus, and more: node n1, cluster two (2 alerts)",
        "A GPU fell off the bus: cluster bare",
        "A GPU fell off the bus: nlp/llama, cluster stalled",
        "A GPU fell off the bus: node n1, GPU 0, cluster both",
        "A node has fewer GPUs than it should have, and more: node n1, cluster lost (9 alerts)",
    ]
    assert [text.removeprefix("[CRITICAL] ") for text in _about(site_of[0], "trigger")] == expected
    # What was held back ends with what held it back, and is counted then.
    ends = [text.removeprefix("[RESOLVED] ").replace("17", "9") for text in _about(site_of[0], "resolve")]
    assert ends == expected
    # The same people in other ways.
    assert len(_titles(site_of[0], "oncall", "CRITICAL")) == len(_titles(site_of[0], "oncall", "RESOLVED")) == 5
    assert len(_mails(site_of[0], "platform@example.org", "[CRITICAL]")) == 5


def test_a_critical_alert_about_another_gpu_of_the_node_is_told(site_of: tuple[Sinks, Running]) -> None:
    (page,) = (
        one
        for one in site_of[0].posted("/pagerduty/enqueue")
        if one["payload"]["group"] == "two" and one["event_action"] == "trigger"
    )
    assert "GpuRowRemapFailed" in page["payload"]["custom_details"]["firing"]


def test_labels_that_are_missing_on_both_sides_hold_nothing_back(site_of: tuple[Sinks, Running]) -> None:
    assert any("cluster bare" in title for title in _titles(site_of[0], "warnings", "WARNING"))


def test_warnings_are_one_message_for_each_alert_and_the_rest_is_counted(site_of: tuple[Sinks, Running]) -> None:
    assert _titles(site_of[0], "warnings", "WARNING") == [
        "🟠 [WARNING] A GPU fell off the bus: cluster bare",
        "🟠 [WARNING] A GPU fell off the bus: cluster many (30 alerts)",
    ]
    (text,) = (
        one["attachments"][0]["text"]
        for one in site_of[0].posted("/slack/warnings")
        if "WARNING" in one["attachments"][0]["title"] and "many" in one["attachments"][0]["title"]
    )
    assert text.count("\n• ") == 10
    assert "\n… and 20 more, 30 in all.\n" in text
    tickets = site_of[0].posted("/tickets")
    assert {one["_authorization"] for one in tickets} == {"Bearer t0ken"}
    assert {len(one["alerts"]) for one in tickets} == {1, 30}


def test_the_owner_hears_of_what_the_owner_can_change_and_nobody_else_does(site_of: tuple[Sinks, Running]) -> None:
    sinks, _ = site_of
    assert _titles(sinks, "nlp", "[INFO]") == ["[INFO] A GPU fell off the bus: nlp/llama, cluster owners"]
    assert _mails(sinks, "lead@example.org", "[INFO]") == ["[INFO] A GPU fell off the bus: nlp/llama, cluster owners"]
    # A team that nobody named.
    assert _mails(sinks, "ml@example.org", "[INFO]") == ["[INFO] A GPU fell off the bus: nlp/llama, cluster owners"]
    others = [*sinks.posted("/slack/oncall"), *sinks.posted("/slack/warnings"), *sinks.posted("/tickets")]
    assert "GpuAllocatedIdle" not in str(others)
    assert len(_mails(sinks, "ml@example.org", "")) == 2


def test_what_is_critical_for_an_owner_wakes_somebody_as_well(site_of: tuple[Sinks, Running]) -> None:
    stalled = "[CRITICAL] A GPU fell off the bus: nlp/llama, cluster stalled"
    assert stalled in _mails(site_of[0], "nlp@example.org", "[CRITICAL]")
    assert stalled in _about(site_of[0], "trigger")


def test_the_sign_of_life_comes_again_and_again_to_the_heartbeat_alone(site_of: tuple[Sinks, Running]) -> None:
    beats = site_of[0].posted("/heartbeat")
    assert len(beats) >= 2
    assert {one["alerts"][0]["labels"]["alertname"] for one in beats} == {"Watchdog"}
    assert {len(one["alerts"]) for one in beats} == {1}
    elsewhere = [body for path, body in site_of[0].http if path != "/heartbeat"]
    assert "Watchdog" not in str(elsewhere)


def test_information_is_told_to_nobody(site_of: tuple[Sinks, Running]) -> None:
    assert "GpuUnknownFault" not in str(site_of[0].http)


def test_of_two_severities_the_graver_is_told(site_of: tuple[Sinks, Running]) -> None:
    assert not [title for title in _titles(site_of[0], "warnings", "") if "both" in title]


def test_messages_have_what_somebody_at_three_in_the_morning_needs(site_of: tuple[Sinks, Running]) -> None:
    (mail,) = (
        one for one in site_of[0].mailed("platform@example.org") if str(one["subject"]).startswith("[CRITICAL]")
        and "cluster both" in str(one["subject"])
    )  # fmt: skip
    plain, page = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))
    for text in (plain, page):
        assert "XID 79 was logged in the last 10 minutes" in text
        assert "node n1, GPU 0, GPU-n1-0, serial 170 (cluster both)" in text
        assert "nlp/llama (job 12), team nlp" in text
        assert "1 event" in text
        assert "Drain the node, then reboot it." in text
        assert "https://runbooks.example/GpuFellOffBus.md" in text
        assert re.search(r"Since:(</b>)? \d+ \w+ \d{4} \d\d:\d\d UTC", text)
        assert re.search(
            r"https://grafana\.example/d/gpuscope-cluster/cluster\?var-cluster=both&(amp;)?var-node=n1"
            r"&(amp;)?from=\d{13}&(amp;)?to=now",
            text,
        )
