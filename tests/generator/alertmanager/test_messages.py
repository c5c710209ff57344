"""What stands in messages: nothing that a label or a text could smuggle in, and nothing that is too long."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage
from html.parser import HTMLParser
from typing import Any

import pytest
from tests.generator.alertmanager.running import alert, generated, running, versions
from tests.generator.alertmanager.sinks import Sinks, open_sinks, wait_for
from tests.generator.alertmanager.site import site
from tests.generator.alertmanager.slack_format import slack_faults

NODE = {"severity": "critical", "scope": "node", "component": "gpu", "audience": "platform"}
EVIL = "<script>alert(1)</script><!channel> <@U1> & \"'`*"
HOSTILE = {
    "summary": f"{EVIL}.",
    "description": EVIL,
    "location": f"node {EVIL}",
    "owner": EVIL,
    "measured": EVIL,
    "recommended_action": EVIL,
    "runbook_url": "javascript:alert(1)",
    "dashboard_url": 'https://evil.example/d/x?y="><script>alert(1)</script>|z',
}
PARTS = ("summary", "description", "location", "owner", "measured", "recommended_action")
LONG = dict.fromkeys(PARTS, f"{'word ' * 2000}.")
FOREIGN = {"message": "An alert of somebody else has other texts."}


class _Page(HTMLParser):
    """Tags and addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attributes if name in ("href", "src")]
        assert all(not name.startswith("on") for name, _ in attributes)


@pytest.fixture(scope="module", params=versions())
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sinks]:
    """What was told of hostile, long and foreign alerts; and of one that ended while another went on."""
    folder = tmp_path_factory.mktemp(request.param)
    with open_sinks() as sinks:
        configuration = generated(folder, site(folder / "secrets", sinks))
        with running(request.param, configuration, folder) as manager:
            mixed = {"summary": "A check failed.", "dashboard_url": "/d/gpuscope-cluster/cluster"}
            manager.post(
                [
                    alert("GpuX", HOSTILE, cluster="hostile", node=f"{EVIL}\nnew line", **NODE),
                    *(
                        alert("GpuX", LONG, cluster="long", node="n1", check=f"c{number}", **NODE)
                        for number in range(12)
                    ),
                    alert("SomebodyElses", FOREIGN, cluster="foreign", instance="host:9100", severity="critical"),
                    *(alert("GpuX", mixed, cluster="mixed", node="n1", check=check, **NODE) for check in "ab"),
                ]
            )
            wait_for(lambda: len(sinks.posted("/slack/oncall")) >= 4, "messages")
            wait_for(lambda: len(sinks.mailed("platform@example.org")) >= 4, "mails")
            manager.post([alert("GpuX", mixed, over=True, cluster="mixed", node="n1", check="a", **NODE)])
            wait_for(lambda: _mails(sinks, "1 firing, 1 over"), "mail about the change")
            manager.post([alert("GpuX", mixed, over=True, cluster="mixed", node="n1", check="b", **NODE)])
            wait_for(lambda: _mails(sinks, "[RESOLVED]"), "mail about the end")
            wait_for(lambda: _slack(sinks, "RESOLVED"), "message about the end")
            yield sinks


def _slack(sinks: Sinks, word: str) -> list[dict[str, Any]]:
    found = (one["attachments"][0] for one in sinks.posted("/slack/oncall"))
    return [one for one in found if word in one["title"]]


def _mails(sinks: Sinks, word: str) -> list[EmailMessage]:
    return [one for one in sinks.mailed("platform@example.org") if word in str(one["subject"])]


def _bodies(mail: EmailMessage) -> tuple[str, str]:
    plain, page = (mail.get_body((kind,)) for kind in ("plain", "html"))
    assert plain is not None
    assert page is not None
    return plain.get_content(), page.get_content()


def test_slack_takes_every_message(told: Sinks) -> None:
    messages = [body for path, body in told.http if path.startswith("/slack/")]
    assert len(messages) >= 6
    assert [fault for message in messages for fault in slack_faults(message)] == []


def test_texts_of_labels_and_annotations_stay_texts(told: Sinks) -> None:
    (message,) = _slack(told, "hostile")
    assert "&lt;!channel&gt; &lt;@U1&gt; &amp;" in message["text"]
    (mail,) = _mails(told, "hostile")
    plain, text = _bodies(mail)
    assert "<script>alert(1)</script>" in plain
    page = _Page(text)
    assert page.tags <= {"html", "head", "meta", "title", "body", "div", "b", "p", "a", "span"}
    assert all(link.startswith("http://am.example/") for link in page.links)
    assert "&lt;script&gt;" in text
    assert "\n" not in str(mail["subject"])


def test_addresses_that_are_none_are_no_links(told: Sinks) -> None:
    (message,) = _slack(told, "hostile")
    assert "evil.example" not in message["text"]
    assert "javascript" not in message["text"]


def test_long_texts_are_cut_and_long_groups_counted(told: Sinks) -> None:
    (message,) = _slack(told, "long")
    assert len(message["text"]) < 25_000
    assert "… and 2 more, 12 in all." in message["text"]
    (mail,) = _mails(told, "long")
    assert len(str(mail["subject"])) < 400
    for body in _bodies(mail):
        assert "… and 2 more, 12 in all." in body


def test_an_alert_of_somebody_else_is_told_with_its_labels(told: Sinks) -> None:
    (message,) = _slack(told, "foreign")
    assert message["title"] == "🔴 [CRITICAL] SomebodyElses: cluster foreign"
    assert "*Where:* instance host:9100 (cluster foreign)" in message["text"]
    assert "Do first" not in message["text"]


def test_what_ended_stands_apart_in_its_own_words(told: Sinks) -> None:
    (mail,) = _mails(told, "1 firing, 1 over")
    plain, page = _bodies(mail)
    firing, _, over = plain.partition("Over, nothing more to do")
    assert "check b" in firing
    assert "check a" not in firing
    assert "A check failed. It is over: check a, node n1 (cluster mixed); from " in over
    assert "<b>It is over:</b> check a, node n1" in page


def test_a_message_about_the_end_asks_for_nothing(told: Sinks) -> None:
    (mail,) = _mails(told, "[RESOLVED]")
    for body in _bodies(mail):
        assert "Do first" not in body
        assert "Silence" not in body
    (message,) = _slack(told, "RESOLVED")
    assert message["color"] == "#009E73"
    assert "Silence" not in message["text"]


def test_pagerduty_gets_text_in_its_details(told: Sinks) -> None:
    details = [one["payload"]["custom_details"] for one in told.posted("/pagerduty/enqueue")]
    assert all(isinstance(one["firing"], str) for one in details)


def test_the_silence_is_for_the_group(told: Sinks) -> None:
    (message,) = [one for one in _slack(told, "mixed") if "CRITICAL" in one["title"] and "2 alerts" in one["title"]]
    filter_text = "%7Bcluster%3D%22mixed%22%2Cnode%3D%22n1%22%7D"
    assert f"<http://am.example/#/silences/new?filter={filter_text}|Silence this group>" in message["text"]
