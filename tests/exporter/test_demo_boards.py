"""The boards in the demo. A small program stands for Grafana: it reads what a Grafana reads, and answers for it."""

import json
import sys
import textwrap
import time
from pathlib import Path

import pytest
import yaml

from gpuscope.demo import boards
from gpuscope.demo.checks import board_checks, rule_checks
from gpuscope.demo.children import Children

PROMETHEUS = "http://127.0.0.1:9"
GRAFANA = f"#!{sys.executable}\n" + textwrap.dedent(
    """
    import http.server, json, os, pathlib, sys
    import yaml

    place = pathlib.Path(os.environ["GF_PATHS_PROVISIONING"])
    (provider,) = yaml.safe_load((place / "dashboards/gpuscope.yaml").read_text())["providers"]
    files = pathlib.Path(provider["options"]["path"]).glob("*.json")
    found = [{"title": json.loads(file.read_text())["title"]} for file in files]
    assert sys.argv[1:3] == ["server", "--homepath"], sys.argv

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/api/search?type=dash-db&tag=gpuscope" else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

    address = (os.environ["GF_SERVER_HTTP_ADDR"], int(os.environ["GF_SERVER_HTTP_PORT"]))
    http.server.HTTPServer(address, Answer).serve_forever()
    """
)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Grafana; programs are those in ``bin`` below."""
    programs = tmp_path / "machine/bin"
    programs.mkdir(parents=True)
    monkeypatch.setenv("PATH", str(programs))
    return tmp_path / "machine"


def with_grafana(machine: Path, name: str) -> None:
    program = machine / "bin" / name
    program.write_text(GRAFANA, encoding="utf-8")
    program.chmod(0o755)
    (machine / "conf").mkdir()
    (machine / "conf/defaults.ini").touch()


def until(count: int, shown: boards.Boards) -> None:
    end = time.monotonic() + 60
    while shown.count() != count:
        assert time.monotonic() < end, f"{shown.count()} boards"
        time.sleep(0.1)


def test_a_grafana_of_this_machine_is_given_the_boards_and_where_to_ask(machine: Path, tmp_path: Path) -> None:
    with_grafana(machine, "grafana")
    told: list[str] = []
    with Children(tmp_path) as children:
        shown = boards.start_boards(children, tmp_path, PROMETHEUS, "5s", told.append)
        assert shown is not None
        until(6, shown)
        (check,) = board_checks(shown)
        assert (check.passed, check.seen) == (True, "6 by Grafana")
    assert shown.count() == 0
    assert told == []
    (source,) = yaml.safe_load((tmp_path / "grafana/provisioning/datasources/gpuscope.yaml").read_text())["datasources"]
    assert (source["type"], source["url"], source["isDefault"]) == ("prometheus", PROMETHEUS, True)
    assert source["jsonData"]["timeInterval"] == "5s"


def test_a_grafana_listens_here_only_lets_look_and_asks_nobody_else(tmp_path: Path) -> None:
    environment = boards.provision(tmp_path, tmp_path / "boards", PROMETHEUS, "5s", "127.0.0.1:3000")
    assert (environment["GF_SERVER_HTTP_ADDR"], environment["GF_SERVER_HTTP_PORT"]) == ("127.0.0.1", "3000")
    assert environment["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert len(environment["GF_SECURITY_ADMIN_PASSWORD"]) > 20
    assert {value for key, value in environment.items() if "CHECK_FOR" in key or "REPORTING" in key} == {"false"}
    assert all(value.startswith(str(tmp_path)) for key, value in environment.items() if key.startswith("GF_PATHS"))
    (provider,) = yaml.safe_load((tmp_path / "provisioning/dashboards/gpuscope.yaml").read_text())["providers"]
    assert provider["options"] == {"path": str(tmp_path / "boards")}
    assert provider["allowUiUpdates"] is False


def test_a_grafana_without_its_files_is_none(machine: Path) -> None:
    assert boards.find_grafana() is None
    with_grafana(machine, "grafana-server")
    found = boards.find_grafana()
    assert found == ([str(machine / "bin/grafana-server")], machine)
    (machine / "conf/defaults.ini").unlink()
    assert boards.find_grafana() is None


def test_without_the_page_of_the_preview_one_line_says_what_to_run(
    machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boards, "_page_is_built", lambda: False)
    told: list[str] = []
    with Children(tmp_path) as children:
        assert boards.start_boards(children, tmp_path, PROMETHEUS, "5s", told.append) is None
    assert told == ["boards are not shown: neither Grafana is here nor the page of the preview: make preview"]


class _Rules:
    """A Prometheus with these rules."""

    def __init__(self, **health: str) -> None:
        self.found = [{"name": name, "health": is_, "lastError": "no such label"} for name, is_ in health.items()]

    def rules(self) -> list[dict[str, str]]:
        return json.loads(json.dumps(self.found))


def test_a_rule_that_fails_is_named_and_none_is_not_enough() -> None:
    (good,) = rule_checks(_Rules(a="ok", b="unknown"))
    assert (good.passed, good.seen) == (True, "1 of 2 so far")
    (bad,) = rule_checks(_Rules(a="ok", b="err"))
    assert (bad.passed, bad.seen) == (False, "b: no such label")
    (early,) = rule_checks(_Rules(a="unknown"))
    assert not early.passed
