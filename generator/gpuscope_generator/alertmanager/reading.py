"""The settings below ``alertmanager``, read and checked as a whole: nobody is named who is not there, or forgotten."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gpuscope_generator.alertmanager.fields import address, duration, entries, names, path_of_secret, url, whole
from gpuscope_generator.alertmanager.model import (
    GROUPINGS,
    ROUTES,
    Alertmanager,
    Grouping,
    Manifest,
    Receiver,
    Slack,
    Smtp,
)
from gpuscope_generator.alertmanager.receiver_reading import read_receiver
from gpuscope_generator.alertmanager.routing import WATCHDOG
from gpuscope_generator.alertmanager.secret_files import secret_files
from gpuscope_generator.lines import Node, nearest

if TYPE_CHECKING:
    from gpuscope_generator.settings import Settings

__all__ = ["check_heartbeat", "plain", "read_alertmanager"]

_KEYS = tuple(field.name for field in dataclasses.fields(Alertmanager))
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_SECRET_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[^\s:/@]+):(?P<port>[0-9]{1,5})")
_LONGEST_S = 31_536_000
_LOUD = ("slack", "pagerduty")
"""Types that would write, or wake somebody, every few minutes because all is well."""
STRATEGIES = ("None", "OnNamespaceExceptForAlertmanagerNamespace", "OnNamespace")


def read_alertmanager(node: Node, key: str) -> Alertmanager:
    """Reads it.

    Raises:
        ConfigError: file, line and key of what is wrong.
    """
    given = entries(node, key, _KEYS)

    def at(name: str) -> tuple[Node, str]:
        return given[name], f"{key}.{name}"

    found: dict[str, Any] = {}
    receivers = _receivers(*at("receivers")) if "receivers" in given else {}
    found["receivers"] = receivers
    if "smtp" in given:
        found["smtp"] = _smtp(*at("smtp"))
    if "routes" in given:
        found["routes"] = _routes(*at("routes"), receivers)
    if "teams" in given:
        found["teams"] = _teams(*at("teams"), receivers)
    if "retention" in given:
        found["retention"] = duration(*at("retention"), 3600, _LONGEST_S)
    if "grouping" in given:
        found["grouping"] = _grouping(*at("grouping"))
    if "inhibit" in given:
        found["inhibit"] = given["inhibit"].switch(f"{key}.inhibit")
    if "listed_alerts" in given:
        found["listed_alerts"] = whole(*at("listed_alerts"), 1, 25)
    if "grafana_url" in given:
        found["grafana_url"] = _grafana_url(*at("grafana_url"))
    if "manifest" in given:
        found["manifest"] = _manifest(*at("manifest"))
    made = Alertmanager(**found)
    _check_whole(node, key, given, made)
    return made


def _receivers(node: Node, key: str) -> Mapping[str, Receiver]:
    found = {}
    for name, inner in node.mapping(key).items():
        path = f"{key}.{name}"
        if not _NAME.fullmatch(name):
            raise inner.error(path, "not a name: at most 63 of a-z A-Z 0-9 . _ -, none of . _ - at its ends")
        found[name] = read_receiver(inner, path)
    return found


def _known(node: Node, key: str, receivers: Mapping[str, Receiver]) -> tuple[str, ...]:
    found = names(node, key)
    for name in found:
        if name not in receivers:
            raise node.error(key, f"leads nowhere: there is no receiver {name!r}{nearest(name, receivers)}")
    return found


def _routes(node: Node, key: str, receivers: Mapping[str, Receiver]) -> Mapping[str, tuple[str, ...]]:
    found = {name: _known(inner, f"{key}.{name}", receivers) for name, inner in entries(node, key, ROUTES).items()}
    for name in found.get("heartbeat", ()):
        if receivers[name].type in _LOUD:
            reason = f"{name!r} is of the type {receivers[name].type}, which would be told every few minutes; "
            raise node.mapping(key)["heartbeat"].error(f"{key}.heartbeat", f"{reason}give a webhook or an email")
    return found


def _teams(node: Node, key: str, receivers: Mapping[str, Receiver]) -> Mapping[str, tuple[str, ...]]:
    found = {}
    for team, inner in node.mapping(key).items():
        if not team.strip():
            raise inner.error(key, "a team without a name; for owners without a team there is routes.owners")
        found[team] = _known(inner, f"{key}.{team}", receivers)
    return found


def _grouping(node: Node, key: str) -> Mapping[str, Grouping]:
    found = dict(GROUPINGS)
    for route, inner in entries(node, key, GROUPINGS).items():
        path = f"{key}.{route}"
        changes: dict[str, Any] = {}
        for name, value in entries(inner, path, [field.name for field in dataclasses.fields(Grouping)]).items():
            if name == "group_by":
                changes[name] = _labels(value, f"{path}.{name}")
            else:
                changes[name] = duration(value, f"{path}.{name}", 0 if name == "group_wait" else 1, _LONGEST_S)
        found[route] = dataclasses.replace(found[route], **changes)
        if found[route].repeat_interval % found[route].group_interval:
            text = "repeat_interval must be a multiple of group_interval: Alertmanager looks only that often"
            raise inner.error(f"{path}.repeat_interval", f"{_spelled(found[route].repeat_interval)}: {text}")
    return found


def _labels(node: Node, key: str) -> tuple[str, ...]:
    found = node.texts(key)
    for label in found:
        if label != "..." and not _LABEL.fullmatch(label):
            raise node.error(key, f"{label!r} is not a label name")
        if found.count(label) > 1:
            raise node.error(key, f"{label!r} stands there twice")
    if "..." in found and len(found) > 1:
        raise node.error(key, "'...' stands for all labels, and stands alone")
    return found


def _smtp(node: Node, key: str) -> Smtp:
    known = ("smarthost", "from", "hello", "auth_username", "auth_password_file", "require_tls")
    given = entries(node, key, known, ("smarthost", "from"))
    found: dict[str, Any] = {}
    for name, inner in given.items():
        path = f"{key}.{name}"
        if name == "from":
            found["sender"] = address(inner, path)
        elif name == "auth_password_file":
            found[name] = path_of_secret(inner, path)
        elif name == "require_tls":
            found[name] = inner.switch(path)
        else:
            found[name] = inner.text(path)
            if not found[name]:
                raise inner.error(path, "is empty; leave the key out instead")
    if len(found.get("hello", "x").split()) != 1:
        raise given["hello"].error(f"{key}.hello", f"{found['hello']!r} is not one word")
    host = _HOST.fullmatch(found["smarthost"])
    if host is None or not 1 <= int(host["port"]) <= 65_535:
        raise given["smarthost"].error(f"{key}.smarthost", f"{found['smarthost']!r} is not host:port")
    for one, other in (("auth_username", "auth_password_file"), ("auth_password_file", "auth_username")):
        if one in found and other not in found:
            raise node.error(key, f"{one} needs {other}")
    return Smtp(**found)


def _grafana_url(node: Node, key: str) -> str:
    text = url(node, key)
    if text.endswith("/") or "?" in text or "#" in text:
        raise node.error(key, f"{text!r} must end before the /d/ of its boards, without /")
    return text


def _manifest(node: Node, key: str) -> Manifest:
    found: dict[str, Any] = {}
    given = entries(node, key, [field.name for field in dataclasses.fields(Manifest)])
    for name, inner in given.items():
        path = f"{key}.{name}"
        found[name] = inner.switch(path) if name == "enabled" else inner.text(path)
        if name in ("namespace", "secret") and not _OBJECT.fullmatch(found[name]):
            raise inner.error(path, f"{found[name]!r} is not the name of an object of Kubernetes")
    made = Manifest(**found)
    if made.matcher_strategy and made.matcher_strategy not in STRATEGIES:
        text = f"{made.matcher_strategy!r} is not one of {', '.join(STRATEGIES)}"
        raise given["matcher_strategy"].error(f"{key}.matcher_strategy", text)
    if made.enabled and not (made.namespace and made.matcher_strategy):
        raise node.error(key, f"{'matcher_strategy' if made.namespace else 'namespace'} is missing")
    if made.enabled and made.matcher_strategy == "OnNamespace":
        text = f"with OnNamespace it would only see alerts whose label namespace is {made.namespace}, and alerts about "
        text += "GPUs and nodes have none: set the Alertmanager to another strategy (docs/alertmanager.md)"
        raise given["matcher_strategy"].error(f"{key}.matcher_strategy", text)
    return made


def _check_whole(node: Node, key: str, given: Mapping[str, Node], made: Alertmanager) -> None:
    """What can only be said of all of it."""
    used = {name for names_of in (*made.routes.values(), *made.teams.values()) for name in names_of}
    for name, receiver in made.receivers.items():
        place = given["receivers"].mapping(f"{key}.receivers")[name]
        if name not in used:
            raise place.error(f"{key}.receivers.{name}", "no route and no team names it: it is told nothing")
        if receiver.type == "email" and made.smtp is None:
            raise place.error(f"{key}.receivers.{name}", f"mail needs a server: {key}.smtp is missing")
    if made.smtp is not None and all(one.type != "email" for one in made.receivers.values()):
        raise given["smtp"].error(f"{key}.smtp", "no receiver is of the type email")
    routes = given.get("routes", node)
    if made.receivers and not made.told("critical"):
        raise routes.error(f"{key}.routes", "critical is missing: nobody would be woken")
    if made.receivers and not made.told("warnings"):
        raise routes.error(f"{key}.routes", "warnings is missing: nobody would be told")
    if made.manifest.enabled:
        _check_secret_keys(given, key, made)
    for route, group in made.grouping.items():
        if group.repeat_interval >= made.retention:
            text = f"{_spelled(group.repeat_interval)} is not shorter than {key}.retention, "
            text += f"{_spelled(made.retention)}: Alertmanager would have forgotten by then that it told"
            raise given.get("grouping", node).error(f"{key}.grouping.{route}.repeat_interval", text)


def _check_secret_keys(given: Mapping[str, Node], key: str, made: Alertmanager) -> None:
    """In a Secret the files are told apart by their names alone, and the operator wants addresses there."""
    paths: dict[str, str] = {}
    for place, path in secret_files(made):
        _, _, rest = place.partition(".")
        node = given[rest.partition(".")[0]]
        if not _SECRET_KEY.fullmatch(path.name):
            raise node.error(f"{key}.{rest}", f"{path.name!r} cannot be a key of a Secret: only a-z A-Z 0-9 . _ -")
        if paths.setdefault(path.name, str(path)) != str(path):
            raise node.error(f"{key}.{rest}", f"{path} and {paths[path.name]} would be one key of the Secret")
    for name, receiver in made.receivers.items():
        if isinstance(receiver, Slack) and receiver.token_file:
            text = "the operator reads Slack's address from a Secret only; give api_url_file"
            raise given["receivers"].error(f"{key}.receivers.{name}.token_file", text)


def check_heartbeat(node: Node, key: str, settings: Settings) -> None:
    """Refuses that something waits for an alert which a user turned off.

    Raises:
        ConfigError: so it is.
    """
    from gpuscope_generator.rules.alerts import all_alerts

    if settings.alertmanager.told("heartbeat") and WATCHDOG not in {one.name for one in all_alerts(settings)}:
        place = node.mapping(key)["routes"].mapping(f"{key}.routes")["heartbeat"]
        raise place.error(f"{key}.routes.heartbeat", f"would wait for ever: alerts.{WATCHDOG} is off")


def plain(settings: Alertmanager) -> dict[str, Any]:
    """The settings as a file would write them."""
    found = {name: getattr(settings, name) for name in _KEYS}
    found["receivers"] = {name: dict(_told(one)) for name, one in settings.receivers.items()}
    if settings.smtp is None:
        del found["smtp"]
    else:
        found["smtp"] = {{"sender": "from"}.get(name, name): value for name, value in _told(settings.smtp)}
    for name in ("routes", "teams"):
        found[name] = {key: list(value) for key, value in getattr(settings, name).items()}
    found["grouping"] = {
        route: {"group_by": list(one.group_by)}
        | {name: _spelled(getattr(one, name)) for name in ("group_wait", "group_interval", "repeat_interval")}
        for route, one in settings.grouping.items()
    }
    found["retention"] = _spelled(settings.retention)
    found["manifest"] = dict(_told(settings.manifest))
    if not settings.grafana_url:
        del found["grafana_url"]
    return found


def _told(one: Any) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(one):
        value = getattr(one, field.name)
        if value not in ("", None):
            yield field.name, list(value) if isinstance(value, tuple) else value


def _spelled(seconds: int) -> str:
    from gpuscope_generator.rules.text import duration as spelled

    return spelled(seconds)
