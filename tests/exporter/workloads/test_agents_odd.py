"""Answers and names that nobody expects cost the agent that gave them, and no other."""

import json
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.exporter.workloads.test_agents import Agent, agent, document, fault, reader, url

from gpuscope.workloads.agents import AgentFaults

__all__ = ["agent", "reader"]

Reader = Callable[..., AgentFaults]


@pytest.fixture
def odd_agent() -> Iterator[Agent]:
    server = Agent()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join(10)
    server.server_close()


def odd(**fields: object) -> bytes:
    return document(fault(**fields)).replace(b'"1e999"', b"1e999")


def dated(when: str) -> bytes:
    return json.dumps({"node": "n1", "generated_at": when, "driver": {"ok": True}, "faults": []}).encode()


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: odd(code="1e999"), id="code_that_is_a_text"),
        pytest.param(lambda: odd(code=[]), id="code_that_is_a_list"),
        pytest.param(lambda: odd(code=json.loads("NaN")), id="code_that_is_no_number"),
        pytest.param(lambda: odd(gpu_uuid=7), id="uuid_that_is_a_number"),
        pytest.param(lambda: document(node="n1").replace(b'"n1"', b"1e999"), id="node_that_is_infinite"),
        pytest.param(lambda: b"[" * 100_000, id="nested"),
        pytest.param(lambda: b"\xff\xfe", id="no_text"),
        pytest.param(lambda: dated("9" * 5000), id="endless_time"),
        pytest.param(
            lambda: document(fault(code=0)).replace(b'"code": 0', b'"code": ' + b"9" * 5000), id="endless_code"
        ),
    ],
)
def test_an_impossible_answer_costs_its_agent_only(
    agent: Agent, odd_agent: Agent, reader: Reader, made: Callable[[], bytes]
) -> None:
    agent.answers["/api/v1/faults"] = 200, document(fault(), node="good")
    odd_agent.answers["/api/v1/faults"] = 200, made()
    one = reader(url(agent), url(odd_agent))
    for _ in range(2):
        one.round([])
    assert (one.answering, one.failed) == (1, 1)
    assert dict(one.failures) == {"malformed": 2}
    assert [event.what for event in one.memory.xids(["good"])] == [79]


@pytest.mark.parametrize("name", ["[", "a..b", "x" * 300, "n\ud800", "n\x00", "a b", ":::", ""])
def test_a_node_whose_name_is_none_of_a_host_costs_itself_only(
    agent: Agent, reader: Reader, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    agent.answers["/api/v1/faults"] = 200, document(fault(), node="127.0.0.1")
    one = reader(f"http://{{node}}:{agent.server_port}", timeout_s=0.5)
    one.round([name, "127.0.0.1"])
    assert (one.answering, one.failed) == (1, 1)
    assert sum(one.failures.values()) == 1
    assert [event.what for event in one.memory.xids(["127.0.0.1"])] == [79]
    # What is logged can be written: a lone surrogate cannot.
    assert caplog.text.encode().count(b"cannot be used") == 1
