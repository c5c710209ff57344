"""The alerts of all fault stories, as the rules make them, through the real Alertmanager to mail and to Slack.

What is expected of each story, titles of messages by place and what is held back, stands in ``told.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.generator.alertmanager.running import versions
from tests.generator.alertmanager.slack_format import slack_faults
from tests.generator.alertmanager.stories_told import (
    HELD,
    Alert,
    Told,
    expected,
    fired,
    named,
    plain,
    slack,
    titles,
    told,
)

STORIES = fired()
EXPECTED = expected()
_GAPS = re.compile(
    r"<no value>|%!|map\[|\[\]|^\*?[A-Z][a-z ]+:\*? *$|\( *\)|cluster *\)|  +"
    r"|^(?:\*?Where:\*?|•).*\b(?:node|GPU|serial|rack|device|port|system|queue|model|namespace|workload)(?:,| \(|$)",
    re.MULTILINE,
)
"""What a text looks like where a value was missing."""


@pytest.fixture(scope="module", params=versions())
def told_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    with told(request.param, tmp_path_factory.mktemp("stories"), STORIES) as found:
        yield found


def _heard(story: str) -> list[Alert]:
    """Alerts of a story that somebody hears of: neither held back, nor for boards alone."""
    silent = EXPECTED[story].get(HELD, [])
    heard = [one for one in STORIES[story] if named(one["labels"]) not in silent]
    return [one for one in heard if one["labels"]["severity"] != "info" or one["labels"]["audience"] == "owner"]


def test_exactly_the_expected_messages_come_of_each_story(told_of: Told) -> None:
    wanted = {name: {place: texts for place, texts in one.items() if place != HELD} for name, one in EXPECTED.items()}
    assert told_of.begun == {name: places for name, places in wanted.items() if places}


def test_exactly_what_follows_from_something_else_is_held_back(told_of: Told) -> None:
    assert told_of.held == {name: one[HELD] for name, one in EXPECTED.items() if HELD in one}


def test_a_node_is_one_page_one_message_and_one_mail() -> None:
    """Of what is expected above: no story of one node wakes anybody twice."""
    for name, one in EXPECTED.items():
        nodes = {
            alert["labels"]["node"]
            for alert in _heard(name)
            if alert["labels"]["severity"] == "critical" and "node" in alert["labels"]
        }
        for place in ("pages", "oncall", "platform"):
            assert len([text for text in one.get(place, []) if "node " in text]) == len(nodes), name


def test_every_message_is_followed_by_one_that_says_that_it_is_over(told_of: Told) -> None:
    ended = titles(told_of.sinks, "[RESOLVED]")
    for name, places in told_of.begun.items():
        for place in ("oncall", "platform", "warnings", "team", "owners"):
            begun = sorted(re.sub(r"^\[\w+\]", "[RESOLVED]", text) for text in places.get(place, []))
            assert ended.get(name, {}).get(place, []) == begun, (name, place)
    events = told_of.sinks.posted("/pagerduty/enqueue")
    keys = [{one["dedup_key"] for one in events if one["event_action"] == what} for what in ("trigger", "resolve")]
    assert keys[0] == keys[1]


def test_slack_takes_every_message(told_of: Told) -> None:
    messages = [body for path, body in told_of.sinks.http if path.startswith("/slack/")]
    assert [fault for message in messages for fault in slack_faults(message)] == []


@pytest.mark.parametrize("story", sorted(STORIES))
def test_a_mail_says_what_where_whose_since_when_how_much_and_what_to_do(told_of: Told, story: str) -> None:
    mails = [plain(mail) for _, mail in told_of.sinks.mails if _is_about(str(mail["subject"]), story)]
    begun = [text for text in mails if "Since:" in text or "; since " in text]
    for one in _heard(story):
        if one["labels"]["severity"] == "critical" or one["labels"]["audience"] == "owner":
            assert any(_tells(text, one) for text in begun), (named(one["labels"]), begun)
    assert [gap for text in mails for gap in _GAPS.findall(text)] == []


@pytest.mark.parametrize("story", sorted(STORIES))
def test_slack_says_the_same(told_of: Told, story: str) -> None:
    found = [one for channel in ("oncall", "warnings", "nlp") for one in slack(told_of.sinks, channel)]
    texts = [
        _unescaped(one["text"]) for one in found if _is_about(one["title"], story) and "RESOLVED" not in one["title"]
    ]
    for one in _heard(story):
        if one["labels"]["severity"] in ("critical", "warning") and one["labels"]["audience"] == "platform":
            assert any(_tells(text, one, slack=True) for text in texts), (named(one["labels"]), texts)
    assert [gap for text in texts for gap in _GAPS.findall(text)] == []


def test_no_message_tells_of_what_is_held_back(told_of: Told) -> None:
    texts = [(str(mail["subject"]), plain(mail)) for _, mail in told_of.sinks.mails]
    texts += [
        (one["title"], one["text"])
        for channel in ("oncall", "warnings", "nlp")
        for one in slack(told_of.sinks, channel)
    ]
    for story, one in EXPECTED.items():
        heard = {alert["labels"]["alertname"] for alert in _heard(story)}
        for name in {name.split()[0] for name in one.get(HELD, [])} - heard:
            assert not [text for title, text in texts if _is_about(title, story) and re.search(rf"\b{name}\b", text)], (
                story,
                name,
            )


def _is_about(title: str, story: str) -> bool:
    return re.search(rf"cluster {re.escape(story)}( \(|$)", title) is not None


def _tells(text: str, one: Alert, *, slack: bool = False) -> bool:
    """Whether a text tells of an alert: all that its annotations say, and where to read on."""
    said = one["annotations"]
    wanted = [said[name][:200] for name in ("location", "owner", "measured", "recommended_action") if said.get(name)]
    wanted += [said["runbook_url"], _escaped(said["dashboard_url"]), f"(cluster {one['labels']['cluster']})"]
    if not said.get("location"):
        wanted[-1] = f"cluster {one['labels']['cluster']}"
    since = re.search(r"[Ss]ince:?\*? \d+ \w+ \d{4} \d\d:\d\d UTC", text) is not None
    return since and re.search(r"[&?]from=\d{13}&to=now", text) is not None and all(part in text for part in wanted)


def _escaped(url: str) -> str:
    return url


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
