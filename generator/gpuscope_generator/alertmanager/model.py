"""What a user may choose about Alertmanager, as the settings file writes it below ``alertmanager``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "GROUPINGS",
    "ROUTES",
    "Alertmanager",
    "Email",
    "Grouping",
    "Manifest",
    "PagerDuty",
    "Receiver",
    "Slack",
    "Smtp",
    "Webhook",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """A channel of Slack.

    Attributes:
        type: ``slack``.
        api_url_file: file that holds the address of an incoming webhook.
        token_file: file that holds the token of a bot, in place of it.
        channel: such as ``#gpu-oncall``; an incoming webhook knows its own.
        send_resolved: whether the end of an alert is told.
    """

    type: str = "slack"
    api_url_file: str = ""
    token_file: str = ""
    channel: str = ""
    send_resolved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Email:
    """Addresses that get a mail; the server is that of ``smtp``.

    Attributes:
        type: ``email``.
        to: addresses.
        send_resolved: whether the end of an alert is told.
    """

    type: str = "email"
    to: tuple[str, ...]
    send_resolved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerDuty:
    """A service of PagerDuty, through its Events API v2.

    Attributes:
        type: ``pagerduty``.
        routing_key_file: file that holds the integration key.
        url: of the API where it is not the usual one, as for accounts in Europe.
        send_resolved: whether the end of an alert is told, and the incident closed.
    """

    type: str = "pagerduty"
    routing_key_file: str
    url: str = ""
    send_resolved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A program that takes Alertmanager's own JSON.

    Attributes:
        type: ``webhook``.
        url: address, where it is no secret.
        url_file: file that holds the address, where it is one; needs Alertmanager 0.26.
        token_file: file that holds a bearer token.
        max_alerts: alerts in one message; 0 sends all of a group.
        send_resolved: whether the end of an alert is told.
    """

    type: str = "webhook"
    url: str = ""
    url_file: str = ""
    token_file: str = ""
    max_alerts: int = 0
    send_resolved: bool = True


Receiver = Slack | Email | PagerDuty | Webhook


@dataclass(frozen=True, slots=True, kw_only=True)
class Smtp:
    """The server that takes mail.

    Attributes:
        smarthost: ``host:port``; port 465 speaks TLS from the start.
        sender: address that mails come from; the file calls it ``from``.
        hello: name of this machine for the server.
        auth_username: where the server wants one.
        auth_password_file: file that holds the password.
        require_tls: refuse to speak without TLS.
    """

    smarthost: str
    sender: str
    hello: str = ""
    auth_username: str = ""
    auth_password_file: str = ""
    require_tls: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Which alerts share a message, and when it is sent; durations in seconds.

    Attributes:
        group_by: labels that are equal within a message.
        group_wait: from the first alert of a group to its first message.
        group_interval: between two messages about a group that changed.
        repeat_interval: until a message about a group that did not change is sent again.
    """

    group_by: tuple[str, ...]
    group_wait: int
    group_interval: int
    repeat_interval: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The same as an AlertmanagerConfig for the Prometheus operator.

    Attributes:
        enabled: whether it is written.
        namespace: where it will lie, with the Secret.
        secret: name of the Secret; its keys are the names of the secret files.
        matcher_strategy: what ``alertmanagerConfigMatcherStrategy`` of the Alertmanager is set to.
    """

    enabled: bool = False
    namespace: str = ""
    secret: str = "gpuscope-alertmanager"  # noqa: S105 - the name of a Secret
    matcher_strategy: str = ""


GROUPINGS: Mapping[str, Grouping] = {
    "heartbeat": Grouping(group_by=("cluster",), group_wait=0, group_interval=60, repeat_interval=300),
    "recovery": Grouping(group_by=("alertname", "cluster"), group_wait=10, group_interval=300, repeat_interval=3600),
    "incidents": Grouping(
        group_by=("alertname", "cluster", "rack"), group_wait=30, group_interval=300, repeat_interval=7200
    ),
    "critical": Grouping(group_by=("cluster", "node"), group_wait=30, group_interval=300, repeat_interval=14_400),
    "owners": Grouping(
        group_by=("team", "cluster", "namespace", "workload"),
        group_wait=120,
        group_interval=600,
        repeat_interval=86_400,
    ),
    "warnings": Grouping(group_by=("cluster", "alertname"), group_wait=60, group_interval=600, repeat_interval=43_200),
}
"""Usual grouping of each route: one node is one page, one job is one mail to its team."""

ROUTES: Mapping[str, str] = {
    "heartbeat": "the dead-man's switch: something outside that expects a sign of life",
    "recovery": "critical alerts about the automatic recovery; those of critical where not given",
    "incidents": "critical alerts about a rack, a fabric or a cluster; those of critical where not given",
    "critical": "critical alerts: somebody is woken",
    "owners": "alerts for the owner of the work whose team is unknown or has no receivers of its own",
    "warnings": "warnings, and everything that no other route takes",
}
"""What a receiver can be there for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alertmanager:
    """Who is told what.

    Attributes:
        receivers: by name.
        smtp: the server for receivers of the type ``email``.
        routes: names of receivers by route.
        teams: names of receivers by team, for alerts that the owner of the work can act on.
        grouping: which alerts share a message, and when it is sent, by route.
        inhibit: whether alerts that follow from others are held back.
        listed_alerts: alerts of a group that a message lists; of the others it tells the number.
        grafana_url: where Grafana lives, for links to boards, where ``link_prefix`` is a path alone.
        retention: how long Alertmanager keeps its data, ``--data.retention``, in seconds.
        manifest: the same for the Prometheus operator.
    """

    receivers: Mapping[str, Receiver] = field(default_factory=dict)
    smtp: Smtp | None = None
    routes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    teams: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    grouping: Mapping[str, Grouping] = field(default_factory=lambda: dict(GROUPINGS))
    inhibit: bool = True
    listed_alerts: int = 10
    grafana_url: str = ""
    retention: int = 432_000
    manifest: Manifest = field(default_factory=Manifest)

    def told(self, route: str) -> tuple[str, ...]:
        """The names of the receivers of a route; a route that was not chosen falls back to another."""
        if route in self.routes:
            return self.routes[route]
        fallback = {"recovery": "critical", "incidents": "critical"}.get(route)
        return self.told(fallback) if fallback else ()
