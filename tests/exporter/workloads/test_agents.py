"""Faults are read from agents; one that fails costs its node only."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.errors import ConfigError
from gpuscope.workloads.agent_answer import AnswerError, read_answer
from gpuscope.workloads.agent_target import check_urls
from gpuscope.workloads.agents import AgentFaults
from gpuscope.workloads.attribution_window import NodeEvent
from gpuscope.workloads.node_faults import KEEP_S, NodeFaults

NOW = time.time()


def stamp(unix_time: float) -> str:
    return datetime.fromtimestamp(unix_time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fault(code: int = 79, at: float = NOW, **fields) -> dict[str, object]:
    return {"kind": "xid", "code": code, "first": stamp(at), "last": stamp(at), "gpu_uuid": "GPU-1", **fields}


def document(*faults: dict[str, object], node: str = "n1", ok: bool = True, at: float | None = None) -> bytes:
    when = time.time() if at is None else at
    return json.dumps(
        {"node": node, "generated_at": stamp(when), "driver": {"ok": ok}, "faults": list(faults)}
    ).encode()


class Agent(ThreadingHTTPServer):
    """Gives fixed bytes by path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.gate = threading.Event()


class Answering(BaseHTTPRequestHandler):
    server: Agent

    def do_GET(self) -> None:
        status, body = self.server.answers.get(self.path, (404, b""))
        if status == 0:
            self.server.gate.wait(20)
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.fixture
def agent() -> Iterator[Agent]:
    server = Agent()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.gate.set()
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.fixture
def reader() -> Iterator[Callable[..., AgentFaults]]:
    made: list[AgentFaults] = []

    def make(*urls: str, **options: float) -> AgentFaults:
        made.append(AgentFaults(urls, NodeFaults(), **options))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def url(agent: Agent, path: str = "") -> str:
    return f"http://127.0.0.1:{agent.server_port}{path}"


def test_every_node_is_asked_by_its_name_and_told_apart(agent: Agent, reader) -> None:
    for node, code in (("n1", 79), ("n2", 48)):
        agent.answers[f"/{node}/api/v1/faults"] = 200, document(fault(code), node=node)
    one = reader(url(agent, "/{node}/"))
    began = time.time()
    one.round(["n1", "n2"])
    assert [(event.node, event.what) for event in one.memory.xids(["n1"])] == [("n1", 79)]
    assert [(event.node, event.what) for event in one.memory.xids(["n2"])] == [("n2", 48)]
    assert (one.answering, one.failed, dict(one.failures)) == (2, 0, {})
    assert one.memory.watched(["n1", "n2"], began - 1)
    assert began <= one.memory.read_at <= time.time()


def test_agents_that_fail_are_counted_with_the_reason_and_cost_their_nodes_only(agent: Agent, reader, caplog) -> None:
    answers = {
        "good": (200, document(fault(), node="good")),
        "status": (503, b""),
        "malformed": (200, b'{"faults": 7}'),
        "nobody": (200, document(node="")),
        "large": (200, b" " * ((4 << 20) + 1)),
        "stale": (200, document(fault(), node="stale", at=NOW - 900)),
        "timeout": (0, b""),
    }
    agent.answers = {f"/{node}/api/v1/faults": answer for node, answer in answers.items()}
    one = reader(url(agent, "/{node}"), timeout_s=0.3)
    for _ in range(2):
        one.round(answers)
    assert (one.answering, one.failed) == (1, 6)
    assert dict(one.failures) == {"status": 2, "malformed": 4, "too_large": 2, "stale": 2, "timeout": 2}
    assert [event.what for event in one.memory.xids(["good"])] == [79]
    assert not one.memory.watched(["good", "stale"], NOW - 1000)
    assert caplog.text.count("cannot be used") == 6, "once while nothing changes"
    agent.answers["/status/api/v1/faults"] = 200, document(node="status")
    with caplog.at_level("INFO"):
        one.round(["good", "status"])
    assert "answers again" in caplog.text


def test_an_agent_that_is_gone_is_counted_and_what_it_told_stays(agent: Agent, reader) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = probe.getsockname()[1]
    one = reader(f"http://localhost:{closed}", "http://no-such-host.invalid", url(agent))
    one.memory.note("n9", [NodeEvent("n9", 79, NOW)], (), NOW)
    one.round([])
    assert one.failures["connection"] >= 1
    assert (one.failures["status"], one.failures["address"]) == (1, 1)
    assert [event.what for event in one.memory.xids(["n9"])] == [79]


def test_it_reads_again_and_again_in_a_thread_of_its_own(agent: Agent, reader) -> None:
    agent.answers["/api/v1/faults"] = 200, document(node="n1")
    one = reader(url(agent), interval_s=0.05)
    one.start(lambda: ())
    end = time.monotonic() + 60
    while not one.memory.watched(["n1"], NOW - 1):
        assert time.monotonic() < end
        time.sleep(0.02)
    agent.answers["/api/v1/faults"] = 200, document(fault(), node="n1")
    while not one.memory.xids(["n1"]):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_real_agent_is_understood(tmp_path: Path, reader, free_port) -> None:
    port, story = free_port(), tmp_path / "story.yaml"
    story.write_text("title: one\nkind: fault\nextends: l40s\nevents:\n  - {at: 1, do: xid, gpu: 0, code: 79}\n")
    program = [sys.executable, "-m", "gpuscope", "agent", "--simulate", str(story), "--web.listen-address"]
    environment = {**os.environ, "GPUSCOPE_NODE_NAME": "sim"}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([*program, f"127.0.0.1:{port}"], stdout=log, stderr=log, env=environment)
    try:
        one = reader(f"http://127.0.0.1:{port}")
        end = time.monotonic() + 60
        names: set[str] = set()
        while not names:
            assert time.monotonic() < end, (tmp_path / "log").read_text()
            assert process.poll() is None, (tmp_path / "log").read_text()
            one.round(())
            names = {node for node in one.memory.nodes() if one.memory.xids([node])}
            time.sleep(0.2)
        assert one.answering == 1
        assert one.memory.watched(sorted(names), NOW - 1)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@pytest.mark.parametrize(
    "bad",
    [
        "n1:9836",
        "ftp://n1",
        "http://",
        "http://n1:0",
        "http://n1:99999",
        "http://{name}:1",
        "http://n1/?a",
        "http://a@n1",
    ],
)
def test_an_address_that_is_none_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(repr(bad))):
        check_urls([bad])


def test_faults_of_a_switch_count_when_they_are_fatal() -> None:
    def sxid(meaning: str) -> dict[str, object]:
        return {**fault(12028), "kind": "sxid", "gpu_uuid": None, "meaning": meaning}

    told = read_answer(document(sxid("egress error (fatal)"), sxid("a link (nonfatal)"), at=NOW), NOW)
    assert [event.what for event in told.signals] == ["sxid_fatal"]
    assert told.xids == ()


def test_a_burst_has_a_first_and_a_last_time_and_a_blind_agent_watches_nothing() -> None:
    told = read_answer(document(fault(last=stamp(NOW + 9)), ok=False, at=NOW), NOW)
    assert len(told.xids) == 2
    assert told.watched_until is None


@given(st.binary(max_size=200) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
    lambda value: json.dumps({"node": value, "generated_at": value, "faults": value, "driver": value}).encode()
))  # fmt: skip
def test_anything_else_is_malformed_and_nothing_worse(body: bytes) -> None:
    with pytest.raises(AnswerError, match="malformed"):
        read_answer(body, NOW)


def test_a_node_is_found_by_its_short_name_where_that_is_one_node() -> None:
    memory = NodeFaults()
    memory.note("n1.a.example", [NodeEvent("n1.a.example", 79, NOW)], [NodeEvent("n1.a.example", "word", NOW)], NOW)
    assert [event.node for event in memory.xids(["n1"])] == ["n1"]
    assert [event.what for event in memory.signals(["n1", "n2"])] == ["word"]
    assert memory.watched(["n1"], NOW)
    assert not memory.watched(["n1.b.example"], NOW)
    assert not memory.watched([], NOW)
    memory.note("n1.b.example", (), (), NOW)
    assert memory.xids(["n1"]) == []
    assert not memory.watched(["n1"], NOW)


def test_what_is_old_is_forgotten() -> None:
    memory = NodeFaults()
    memory.note("n1", [NodeEvent("n1", 79, NOW)], (), NOW)
    memory.note("n2", [NodeEvent("n2", 48, NOW + KEEP_S)], (), NOW)
    memory.ended_round(NOW + KEEP_S + 1)
    assert memory.nodes() == ("n2",)
