# ruff: noqa: E501 - one row is one mistake
"""Settings below ``alertmanager``: what is right is read, what is wrong is refused with its key and its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuscope.errors import ConfigError
from gpuscope_generator.alertmanager.model import GROUPINGS, Email, PagerDuty, Slack, Webhook
from gpuscope_generator.loading import as_plain, load_settings

GOOD = """\
alertmanager:
  grafana_url: https://grafana.example/grafana
  smtp:
    smarthost: smtp.example.org:587
    from: gpuscope@example.org
    auth_username: gpuscope
    auth_password_file: /etc/alertmanager/secrets/smtp
  receivers:
    pager: {type: pagerduty, routing_key_file: /etc/alertmanager/secrets/pagerduty}
    oncall: {type: slack, api_url_file: /etc/alertmanager/secrets/oncall, channel: '#gpu-oncall'}
    bot: {type: slack, token_file: /etc/alertmanager/secrets/bot, channel: '#gpu-warn'}
    mail: {type: email, to: [a@example.org, b@example.org]}
    deadman: {type: webhook, url_file: /etc/alertmanager/secrets/deadman, max_alerts: 5}
  routes:
    heartbeat: [deadman]
    critical: [pager, oncall]
    warnings: [bot]
  teams:
    nlp: [mail]
  grouping:
    critical: {group_wait: 10s, repeat_interval: 1h}
    warnings: {group_by: [cluster]}
  listed_alerts: 5
"""


def _written(folder: Path, text: str, name: str = "my.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_settings_are_read(tmp_path: Path) -> None:
    read = load_settings(_written(tmp_path, GOOD)).alertmanager
    assert read.receivers == {
        "pager": PagerDuty(routing_key_file="/etc/alertmanager/secrets/pagerduty"),
        "oncall": Slack(api_url_file="/etc/alertmanager/secrets/oncall", channel="#gpu-oncall"),
        "bot": Slack(token_file="/etc/alertmanager/secrets/bot", channel="#gpu-warn"),
        "mail": Email(to=("a@example.org", "b@example.org")),
        "deadman": Webhook(url_file="/etc/alertmanager/secrets/deadman", max_alerts=5),
    }
    assert read.told("incidents") == read.told("recovery") == ("pager", "oncall")
    assert read.told("owners") == ()
    assert (read.grouping["critical"].group_wait, read.grouping["critical"].repeat_interval) == (10, 3600)
    assert read.grouping["critical"].group_interval == GROUPINGS["critical"].group_interval
    assert read.grouping["warnings"].group_by == ("cluster",)
    assert read.listed_alerts == 5


def test_settings_written_again_read_the_same(tmp_path: Path) -> None:
    import yaml

    first = load_settings(_written(tmp_path, GOOD))
    again = yaml.safe_dump({"alertmanager": as_plain(first)["alertmanager"]})
    assert load_settings(_written(tmp_path, again, "again.yaml")).alertmanager == first.alertmanager


def test_jsonnet_changes_the_usual_grouping(tmp_path: Path) -> None:
    text = "{ _config+:: { alertmanager+: { grouping+: { critical+: { repeat_interval: '1h' } } } } }"
    read = load_settings(_written(tmp_path, text, "my.jsonnet")).alertmanager
    assert read.grouping["critical"].repeat_interval == 3600
    assert read.grouping["warnings"] == GROUPINGS["warnings"]


RECEIVER = "alertmanager:\n  receivers:\n    a: {type: slack, api_url_file: /a, channel: '#a'}\n"
ROUTED = f"{RECEIVER}  routes: {{critical: [a], warnings: [a]}}\n"
EMAIL = "alertmanager:\n  smtp: {smarthost: h:25, from: a@b}\n  receivers:\n    a: {type: email, to: [TO]}\n"
MANIFEST = f"{ROUTED}  manifest: {{enabled: true, namespace: monitoring, matcher_strategy: None}}\n"


def _one(receiver: str) -> str:
    return f"alertmanager:\n  receivers:\n    a: {receiver}\n  routes: {{critical: [a], warnings: [a]}}\n"


@pytest.mark.parametrize(
    ("text", "line", "error"),
    [
        (_one("{type: slak, api_url_file: /a}"), 3, "receivers.a.type: unknown type of receiver: 'slak'; did you mean slack?"),
        (_one("{type: opsgenie}"), 3, "receivers.a.type: unknown type of receiver: 'opsgenie'; there are slack, email, "),
        (_one("{api_url_file: /a}"), 3, "receivers.a: type is missing: one of slack, email, pagerduty, webhook"),
        (_one("{type: slack, channel: '#a'}"), 3, "receivers.a: needs api_url_file or token_file, and not both"),
        (_one("{type: slack, token_file: /a}"), 3, "receivers.a: channel is missing: a bot must be told where to write"),
        (_one("{type: slack, api_url_file: /a, channel: '# a'}"), 3, "receivers.a.channel: '# a' is no channel"),
        (_one("{type: slack, api_url: 'https://hooks.slack.com/x'}"), 3, "receivers.a.api_url: a secret stands in a file"),
        (_one("{type: pagerduty, routing_key: abc}"), 3, "receivers.a.routing_key: a secret stands in a file of its own; give routing_key_file"),
        (_one("{type: pagerduty}"), 3, "receivers.a: routing_key_file is missing"),
        (_one("{type: pagerduty, routing_key_file: R0UT1NG}"), 3, "receivers.a.routing_key_file: must be the absolute path"),
        (_one("{type: slack, api_url_file: 'https://hooks.slack.com/x'}"), 3, "receivers.a.api_url_file: must be the absolute path"),
        (_one("{type: webhook, url: 'https://user:word@host/x'}"), 3, "receivers.a.url: holds a password"),
        (_one("{type: webhook, url: 'ftp://host'}"), 3, "receivers.a.url: 'ftp://host' is no address like https://"),
        (_one("{type: webhook, url: 'http://h/', url_file: /a}"), 3, "receivers.a: needs url or url_file, and not both"),
        (_one("{type: webhook, url: 'http://h/', max_alerts: 1.5}"), 3, "receivers.a.max_alerts: 1.5 is not a whole number"),
        (_one("{type: webhook, url: 'http://h/', adress: x}"), 3, "receivers.a.adress: no such setting"),
        (_one("{type: webhook, url: 'http://h:port/'}"), 3, "receivers.a.url: 'http://h:port/' is no address like https://"),
        (_one("{type: webhook, url: 'http://h:99999/'}"), 3, "receivers.a.url: 'http://h:99999/' is no address like https://"),
        (_one("{type: webhook, url: 'http://[::1'}"), 3, "receivers.a.url: 'http://[::1' is no address like https://"),
        (_one("{type: webhook, url: 'http://h/%zz'}"), 3, "receivers.a.url: 'http://h/%zz' is no address like https://"),
        (_one("{type: webhook, url: 'http://h\\x/'}"), 3, "receivers.a.url: 'http://h\\\\x/' is no address like https://"),
        (_one("{type: webhook, url: 'http://{h}/'}"), 3, "receivers.a.url: 'http://{h}/' is no address like https://"),
        (_one("{type: pagerduty, routing_key_file: /a, url: 'http://h/{{.x}}'}"), 3, "receivers.a.url: 'http://h/{{.x}}' is no address"),
        (_one("{type: slack, api_url_file: /a, channel: '#{{a'}"), 3, "receivers.a.channel: '#{{a' is no channel"),
        (EMAIL.replace("TO", "'{{a}}@b'"), 4, "receivers.a.to: '{{a}}@b' is no address like somebody@example.org"),
        (EMAIL.replace("TO", "(a)@b"), 4, "receivers.a.to: '(a)@b' is no address like somebody@example.org"),
        (EMAIL.replace("TO", "a..b@c"), 4, "receivers.a.to: 'a..b@c' is no address like somebody@example.org"),
        (EMAIL.replace("TO", "'a:b@c'"), 4, "receivers.a.to: 'a:b@c' is no address like somebody@example.org"),
        (EMAIL.replace("TO", "a@b").replace("h:25", 'h:25, hello: "x\\ny"'), 2, "smtp.hello: 'x\\ny' is not one word"),
        (EMAIL.replace("TO", "a@b").replace("h:25", "h:25, auth_username: '', auth_password_file: /p"), 2, "smtp.auth_username: is empty"),
        (f"{ROUTED}  grouping: {{critical: {{group_by: [a, a]}}}}\n", 5, "grouping.critical.group_by: 'a' stands there twice"),
        (f"{ROUTED}  grafana_url: 'https://g/a|b'\n", 5, "grafana_url: 'https://g/a|b' is no address like https://host/path"),
        (EMAIL.replace("TO", "somebody"), 4, "receivers.a.to: 'somebody' is no address like somebody@example.org"),
        (EMAIL.replace("TO", "a@b, c"), 4, "receivers.a.to: 'c' is no address"),
        (EMAIL.replace("[TO]", "[]"), 4, "receivers.a.to: names nobody"),
        (EMAIL.replace("TO", "a@b").replace("h:25", "h"), 2, "smtp.smarthost: 'h' is not host:port"),
        (EMAIL.replace("TO", "a@b").replace("a@b}", "ab}"), 2, "smtp.from: 'ab' is no address"),
        (EMAIL.replace("TO", "a@b").replace("h:25", "h:25, password: x"), 2, "smtp.password: a secret stands in a file"),
        (EMAIL.replace("TO", "a@b").replace("h:25", "h:25, auth_username: x"), 2, "smtp: auth_username needs auth_password_file"),
        (_one("{type: email, to: a@b}"), 3, "receivers.a: mail needs a server: alertmanager.smtp is missing"),
        (f"{ROUTED}  smtp: {{smarthost: 'h:25', from: a@b}}\n", 5, "smtp: no receiver is of the type email"),
        (RECEIVER, 3, "receivers.a: no route and no team names it: it is told nothing"),
        (f"{RECEIVER}  routes: {{warnings: [a]}}\n", 4, "routes: critical is missing: nobody would be woken"),
        (f"{RECEIVER}  routes: {{critical: [a]}}\n", 4, "routes: warnings is missing: nobody would be told"),
        (f"{RECEIVER}  routes: {{critical: [aa]}}\n", 4, "routes.critical: leads nowhere: there is no receiver 'aa'; did you mean a?"),
        (f"{RECEIVER}  routes: {{critical: [a, a]}}\n", 4, "routes.critical: 'a' stands there twice"),
        (f"{RECEIVER}  routes: {{critical: []}}\n", 4, "routes.critical: names nobody; leave the key out instead"),
        (f"{RECEIVER}  routes: {{crit: [a]}}\n", 4, "routes.crit: no such setting; did you mean critical?"),
        (f"{RECEIVER}  routes: {{heartbeat: [a], critical: [a]}}\n", 4, "routes.heartbeat: 'a' is of the type slack, which"),
        (f"{ROUTED}  teams: {{nlp: [b]}}\n", 5, "teams.nlp: leads nowhere: there is no receiver 'b'"),
        (f"{ROUTED}  teams: {{'': [a]}}\n", 5, "teams: a team without a name"),
        (f"{ROUTED}  grouping: {{critical: {{group_wait: soon}}}}\n", 5, "grouping.critical.group_wait: 'soon' is not a duration"),
        (f"{ROUTED}  grouping: {{critical: {{group_interval: 0s}}}}\n", 5, "grouping.critical.group_interval: 0s is not between 1s and"),
        (f"{ROUTED}  grouping: {{critical: {{repeat_interval: 7m}}}}\n", 5, "grouping.critical.repeat_interval: 7m: repeat_interval must be a multiple"),
        (f"{ROUTED}  grouping: {{critical: {{repeat_interval: 10d}}}}\n", 5, "grouping.critical.repeat_interval: 10d is not shorter than alertmanager.retention, 5d"),
        (f"{ROUTED}  grouping: {{critical: {{group_by: [a-b]}}}}\n", 5, "grouping.critical.group_by: 'a-b' is not a label name"),
        (f"{ROUTED}  grouping: {{critical: {{group_by: ['...', a]}}}}\n", 5, "grouping.critical.group_by: '...' stands for all labels"),
        (f"{ROUTED}  grouping: {{pages: {{}}}}\n", 5, "grouping.pages: no such setting"),
        (f"{ROUTED}  listed_alerts: 100\n", 5, "listed_alerts: 100 is not between 1 and 25"),
        (f"{ROUTED}  grafana_url: https://g.example/\n", 5, "grafana_url: 'https://g.example/' must end before the /d/"),
        (f"{ROUTED}  grafana_url: /grafana\n", 5, "grafana_url: '/grafana' is no address like https://host/path"),
        (f"{ROUTED}  inhibit: no thanks\n", 5, "inhibit: must be true or false"),
        (f"{ROUTED}  receiver: {{}}\n", 5, "receiver: no such setting; did you mean receivers?"),
        (f"{RECEIVER}    a: {{type: webhook, url: 'http://h/'}}\n", 4, "receivers.a: given twice, first in line 3"),
        ("alertmanager:\n  receivers:\n    a b: {type: email, to: a@b}\n", 3, "receivers.a b: not a name"),
        (f"{ROUTED}  manifest: {{enabled: true}}\n", 5, "manifest: namespace is missing"),
        (f"{ROUTED}  manifest: {{enabled: true, namespace: x}}\n", 5, "manifest: matcher_strategy is missing"),
        (f"{ROUTED}  manifest: {{namespace: X}}\n", 5, "manifest.namespace: 'X' is not the name of an object"),
        (MANIFEST.replace("None", "All"), 5, "manifest.matcher_strategy: 'All' is not one of None, OnNamespaceExcept"),
        (MANIFEST.replace("None", "OnNamespace"), 5, "manifest.matcher_strategy: with OnNamespace it would only see alerts"),
        (MANIFEST.replace("api_url_file", "token_file"), 2, "receivers.a.token_file: the operator reads Slack's address"),
        (MANIFEST.replace("/a,", "/a b,"), 2, "receivers.a.api_url_file: 'a b' cannot be a key of a Secret"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_with_its_key_and_its_line(tmp_path: Path, text: str, line: int, error: str) -> None:
    file = _written(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        load_settings(file)
    assert str(refused.value).startswith(f"{file}:{line}: alertmanager.{error}")
    assert "\n" not in str(refused.value)


def test_files_of_one_name_cannot_be_one_key_of_a_secret(tmp_path: Path) -> None:
    text = MANIFEST.replace("'#a'}\n", "'#a'}\n    b: {type: webhook, url_file: /other/a}\n").replace("[a]}", "[a, b]}")
    with pytest.raises(ConfigError, match=r"receivers\.b\.url_file: /other/a and /a would be one key of the Secret"):
        load_settings(_written(tmp_path, text))
