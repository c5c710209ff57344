"""The alerts of all stories in one real Alertmanager, and what real servers of mail and of HTTP got of them."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import yaml
from tests.generator.alertmanager.running import Running, generated, running
from tests.generator.alertmanager.sinks import Sinks, open_sinks, wait_for
from tests.generator.alertmanager.site import site

FIRED = Path(__file__).parents[1] / "stories/fired"
TOLD = Path(__file__).with_name("told.yaml")
PLACES = ("pages", "oncall", "platform", "warnings", "tickets", "team", "owners")
"""Where messages arrive: PagerDuty, Slack, mail, Slack, a webhook, Slack of a team, and mail."""
TIMES = {"group_wait": "3s", "group_interval": "3s", "repeat_interval": "1h"}
HELD = "held back"
Alert = Mapping[str, Mapping[str, str]]


def fired() -> dict[str, list[Alert]]:
    """What fired in each story: labels and annotations, as the rules made them."""
    found: dict[str, list[Alert]] = {}
    for file in sorted(FIRED.glob("*.json")):
        found |= json.loads(file.read_text(encoding="utf-8"))
    return found


def expected() -> dict[str, dict[str, list[str]]]:
    """What is to be told of each story, by place, and what is held back."""
    found: dict[str, dict[str, list[str]]] = yaml.safe_load(TOLD.read_text(encoding="utf-8"))
    return found


@dataclass
class Told:
    """What happened.

    Attributes:
        sinks: what arrived, in the end.
        held: names of alerts that were held back while all fired, by story.
        begun: titles by story and place while all fired.
    """

    sinks: Sinks
    held: dict[str, list[str]]
    begun: dict[str, dict[str, list[str]]] = field(default_factory=dict)


@contextmanager
def told(version: str, folder: Path, stories: Mapping[str, Sequence[Alert]]) -> Iterator[Told]:
    """All stories happen at once, each in a cluster of its own; then all is over.

    Args:
        version: of Alertmanager.
        folder: an empty folder.
        stories: alerts by story.
    """
    every = [one for alerts in stories.values() for one in alerts]
    with open_sinks() as sinks:
        routes = ("heartbeat", "recovery", "incidents", "critical", "owners", "warnings")
        settings = site(
            folder / "secrets", sinks, grouping=dict.fromkeys(routes, TIMES), teams={"llm": ["nlp", "nlp-mail"]}
        )
        with running(version, generated(folder, settings), folder) as manager:
            # One that began longer ago than a group waits would be told before what explains it is known.
            began = datetime.datetime.now(datetime.UTC)
            manager.post([_posted(one, began) for one in every])
            _quiet(sinks)
            found = Told(sinks, _held(manager), titles(sinks))
            # What is held back ends before its cause, as in the stories: of its end nobody hears either.
            for held in (True, False):
                over = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=1)
                manager.post([_posted(one, began, over) for one in every if _is_held(one, found) is held])
                time.sleep(4 if held else 0)
            _quiet(sinks)
            yield found


def _is_held(one: Alert, found: Told) -> bool:
    return named(one["labels"]) in found.held.get(one["labels"]["cluster"], ())


def _posted(one: Alert, began: datetime.datetime, over: datetime.datetime | None = None) -> dict[str, Any]:
    found = {**one, "startsAt": began.isoformat(), "generatorURL": "http://prometheus.example/graph"}
    return found | ({"endsAt": over.isoformat()} if over else {})


def _quiet(sinks: Sinks) -> None:
    """Waits until something came, and then nothing more for longer than a group waits."""
    before, since = _count(sinks), time.monotonic()
    wait_for(lambda: _count(sinks) > before, "message")

    def still() -> bool:
        nonlocal before, since
        if _count(sinks) != before:
            before, since = _count(sinks), time.monotonic()
        return time.monotonic() - since > 4

    wait_for(still, "end of messages")


def _count(sinks: Sinks) -> int:
    return len(sinks.http) + len(sinks.mails)


def _held(manager: Running) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in manager.alerts():
        if one["status"]["inhibitedBy"]:
            found.setdefault(one["labels"]["cluster"], []).append(named(one["labels"]))
    return {story: sorted(names) for story, names in found.items()}


def named(labels: Mapping[str, str]) -> str:
    """An alert in short: its name, how grave it is, and what it is about."""
    about = [labels[label] for label in ("node", "gpu", "workload", "filesystem") if labels.get(label)]
    return " ".join((labels["alertname"], labels["severity"], *about))


def slack(sinks: Sinks, channel: str) -> list[dict[str, Any]]:
    """The attachments of a channel's messages."""
    return [one["attachments"][0] for one in sinks.posted(f"/slack/{channel}")]


def titles(sinks: Sinks, word: str = "") -> dict[str, dict[str, list[str]]]:
    """Titles of all messages by story and place; those with a word in them."""
    pages = [
        one["payload"]["summary"] for one in sinks.posted("/pagerduty/enqueue") if one["event_action"] == "trigger"
    ]
    every = {
        "pages": pages,
        "oncall": [one["title"].lstrip("🔴🟠✅ ") for one in slack(sinks, "oncall")],
        "platform": [str(mail["subject"]) for mail in sinks.mailed("platform@example.org")],
        "warnings": [one["title"].lstrip("🔴🟠✅ ") for one in slack(sinks, "warnings")],
        "tickets": [_ticket(one) for one in sinks.posted("/tickets")],
        "team": [one["title"].lstrip("🔴🟠✅ ") for one in slack(sinks, "nlp")],
        "owners": [str(mail["subject"]) for mail in sinks.mailed("ml@example.org")],
    }
    found: dict[str, dict[str, list[str]]] = {}
    for place, texts in every.items():
        for text in sorted(texts):
            if word in text:
                story = text.rpartition("cluster ")[2].partition(" (")[0]
                found.setdefault(story, {}).setdefault(place, []).append(text)
    return found


def _ticket(body: Mapping[str, Any]) -> str:
    name = body["commonLabels"].get("alertname", "several")
    return f"{body['status']}: {name}, cluster {body['commonLabels']['cluster']}"


def plain(mail: EmailMessage) -> str:
    """The text of a mail."""
    body = mail.get_body(("plain",))
    assert body is not None
    return str(body.get_content())
