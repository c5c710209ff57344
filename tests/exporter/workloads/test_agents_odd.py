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


@pytest.mark.parametrize(
    "body",
    [
        odd(code="1e999"),
        odd(code=[]),
        odd(code=json.loads("NaN")),
        odd(gpu_uuid=7),
        document(node="n1").replace(b'"n1"', b"1e999"),
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"node": "n1", "generated_at": "' + b"9" * 5000 + b'", "driver": {"ok": true}, "faults": []}',
        document(fault(code=0)).replace(b'"code": 0', b'"code": ' + b"9" * 5000),
    ],
)
def test_an_impossible_answer_costs_its_agent_only(agent: Agent, odd_agent: Agent, reader: Reader, body: bytes) -> None:
    agent.answers["/api/v1/faults"] = 200, document(fault(), node="good")
    odd_agent.answers["/api/v1/faults"] = 200, body
    one = reader(url(agent), url(odd_agent))
    for _ in range(2):
        one.round([])
    assert (one.answering, one.failed) == (1, 1)
    assert dict(one.failures) == {"malformed": 2}
    assert [event.what for event in one.memory.xids(["good"])] == [79]


@pytest.mark.parametrize("name", ["[", "a..b", "x" * 300, "n\ud800", "n\x00", "a b", ":::", ""])
def test_a_node_whose_name_is_none_of_a_host_costs_itself_only(agent: Agent, reader: Reader, name: str) -> None:
    agent.answers["/api/v1/faults"] = 200, document(fault(), node="127.0.0.1")
    one = reader(f"http://{{node}}:{agent.server_port}", timeout_s=0.5)
    one.round([name, "127.0.0.1"])
    assert (one.answering, one.failed) == (1, 1)
    assert sum(one.failures.values()) == 1
    assert [event.what for event in one.memory.xids(["127.0.0.1"])] == [79]
