"""Receivers as Alertmanager's configuration writes them."""

from __future__ import annotations

from typing import Any

from gpuscope_generator.alertmanager.model import Alertmanager, Email, PagerDuty, Receiver, Slack, Smtp, Webhook
from gpuscope_generator.alertmanager.routing import PREFIX, told_receivers

__all__ = ["POST_MESSAGE", "called", "receiver_documents"]

POST_MESSAGE = "https://slack.com/api/chat.postMessage"
"""Where a bot of Slack writes."""


def called(name: str) -> str:
    """A call of one of our templates."""
    return f'{{{{ template "{PREFIX.rstrip("-")}.{name}" . }}}}'


def receiver_documents(settings: Alertmanager) -> list[dict[str, Any]]:
    """Every receiver of Alertmanager with what it sends to."""
    found = []
    for name, members in told_receivers(settings).items():
        document: dict[str, Any] = {"name": name}
        for member in members:
            kind, sent = _sent(settings.receivers[member], settings.smtp)
            if name == f"{PREFIX}heartbeat":
                sent["send_resolved"] = False
            document.setdefault(kind, []).append(sent)
        found.append(document)
    return found


def _sent(receiver: Receiver, smtp: Smtp | None) -> tuple[str, dict[str, Any]]:
    if isinstance(receiver, Slack):
        return "slack_configs", _slack(receiver)
    if isinstance(receiver, PagerDuty):
        return "pagerduty_configs", _pagerduty(receiver)
    if isinstance(receiver, Webhook):
        return "webhook_configs", _webhook(receiver)
    if smtp is None:
        raise ValueError("mail needs a server")
    return "email_configs", _email(receiver, smtp)


def _slack(receiver: Slack) -> dict[str, Any]:
    found: dict[str, Any] = {"send_resolved": receiver.send_resolved}
    if receiver.api_url_file:
        found["api_url_file"] = receiver.api_url_file
    else:
        found["api_url"] = POST_MESSAGE
        found["http_config"] = _bearer(receiver.token_file)
    if receiver.channel:
        found["channel"] = receiver.channel
    return found | {
        "username": "gpuscope",
        "color": called("slack.color"),
        "fallback": called("title"),
        "title": called("slack.title"),
        "title_link": called("manager_url"),
        "text": called("slack.text"),
        "mrkdwn_in": ["text"],
        "short_fields": False,
    }


def _email(receiver: Email, smtp: Smtp) -> dict[str, Any]:
    found: dict[str, Any] = {
        "send_resolved": receiver.send_resolved,
        "to": ", ".join(receiver.to),
        "from": smtp.sender,
        "smarthost": smtp.smarthost,
        "require_tls": smtp.require_tls,
    }
    if smtp.hello:
        found["hello"] = smtp.hello
    if smtp.auth_username:
        found |= {"auth_username": smtp.auth_username, "auth_password_file": smtp.auth_password_file}
    return found | {
        "headers": {"Subject": called("title")},
        "html": called("email.html"),
        "text": called("email.text"),
    }


def _pagerduty(receiver: PagerDuty) -> dict[str, Any]:
    found: dict[str, Any] = {"send_resolved": receiver.send_resolved, "routing_key_file": receiver.routing_key_file}
    if receiver.url:
        found["url"] = receiver.url
    return found | {
        "description": called("title"),
        "severity": called("pagerduty.severity"),
        "client": "gpuscope",
        "client_url": called("manager_url"),
        "component": called("place"),
        "group": "{{ .GroupLabels.cluster }}",
        "class": "{{ .CommonLabels.alertname }}",
        "details": {
            "firing": called("text.alerts"),
            "resolved": "{{ .Alerts.Resolved | len }}",
        },
    }


def _webhook(receiver: Webhook) -> dict[str, Any]:
    found: dict[str, Any] = {"send_resolved": receiver.send_resolved}
    found |= {"url_file": receiver.url_file} if receiver.url_file else {"url": receiver.url}
    if receiver.token_file:
        found["http_config"] = _bearer(receiver.token_file)
    if receiver.max_alerts:
        found["max_alerts"] = receiver.max_alerts
    return found


def _bearer(file: str) -> dict[str, Any]:
    return {"authorization": {"type": "Bearer", "credentials_file": file}}
