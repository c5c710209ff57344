"""A site with every type of receiver, all of them the sinks of the tests, and short times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.generator.alertmanager.sinks import Sinks

GRAFANA = "https://grafana.example"


def site(
    folder: Path, sinks: Sinks, *, grouping: dict[str, dict[str, str]] | None = None, **more: Any
) -> dict[str, Any]:
    """Settings.

    Args:
        folder: gets the files of secrets.
        sinks: what is told.
        grouping: times by route; else a second to the first message, and two between changes.
        more: further keys below ``alertmanager``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("oncall", f"{sinks.url}/slack/oncall"),
        ("warnings", f"{sinks.url}/slack/warnings"),
        ("nlp", f"{sinks.url}/slack/nlp"),
        ("key", "R0UT1NG"),
        ("token", "t0ken"),
    ):
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    short = {"group_wait": "1s", "group_interval": "2s", "repeat_interval": "1h"}
    routes = ("heartbeat", "recovery", "incidents", "critical", "owners", "warnings")
    return {
        "alertmanager": {
            "grafana_url": GRAFANA,
            "smtp": {"smarthost": sinks.smarthost, "from": "gpuscope@example.org", "require_tls": False},
            "receivers": {
                "pager": {
                    "type": "pagerduty",
                    "routing_key_file": str(folder / "key"),
                    "url": f"{sinks.url}/pagerduty/enqueue",
                },
                "oncall": {"type": "slack", "api_url_file": str(folder / "oncall"), "channel": "#gpu-oncall"},
                "warnings": {"type": "slack", "api_url_file": str(folder / "warnings"), "channel": "#gpu-warn"},
                "platform": {"type": "email", "to": ["platform@example.org"]},
                "tickets": {"type": "webhook", "url": f"{sinks.url}/tickets", "token_file": str(folder / "token")},
                "ml": {"type": "email", "to": ["ml@example.org"]},
                "nlp": {"type": "slack", "api_url_file": str(folder / "nlp"), "channel": "#nlp"},
                "nlp-mail": {"type": "email", "to": ["nlp@example.org", "lead@example.org"]},
                "deadman": {"type": "webhook", "url": f"{sinks.url}/heartbeat"},
            },
            "routes": {
                "heartbeat": ["deadman"],
                "critical": ["pager", "oncall", "platform"],
                "warnings": ["warnings", "tickets"],
                "owners": ["ml"],
            },
            "teams": {"nlp": ["nlp", "nlp-mail"]},
            "grouping": grouping or dict.fromkeys(routes, short),
        }
        | more
    }
