"""A real gRPC client against the look-alike of kubelet's pod-resources service, well-behaved and not."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from grpclib.client import Channel, UnaryUnaryMethod
from grpclib.const import Status
from grpclib.exceptions import GRPCError, StreamTerminatedError

from gpuscope.podresources import (
    LIST_METHOD,
    ListPodResourcesRequest,
    ListPodResourcesResponse,
    PodResources,
)
from gpuscope.simulate.kubelet import GARBAGE, SimulatedKubelet

PATIENCE_S = 60.0


@pytest.fixture
def kubelet(tmp_path: Path) -> Iterator[SimulatedKubelet]:
    with SimulatedKubelet(tmp_path / "new" / "kubelet.sock", _pods("first")) as running:
        yield running


def _pods(*names: str) -> ListPodResourcesResponse:
    return ListPodResourcesResponse(pod_resources=[PodResources(name=name, namespace="team-a") for name in names])


def _list(socket: Path, *, timeout_s: float = PATIENCE_S, path: str = LIST_METHOD, calls: int = 1) -> list[str]:
    """Names of the pods in the last of several answers on one connection."""

    async def ask() -> list[str]:
        async with Channel(path=str(socket)) as channel:
            method = UnaryUnaryMethod(channel, path, ListPodResourcesRequest, ListPodResourcesResponse)
            for _ in range(calls):
                answer = await method(ListPodResourcesRequest(), timeout=timeout_s)
            return [pod.name for pod in answer.pod_resources]

    return asyncio.run(ask())


def _list_when_open(socket: Path) -> list[str]:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return _list(socket)
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_list_answers_what_was_set_last(kubelet: SimulatedKubelet) -> None:
    assert _list(kubelet.socket) == ["first"]
    kubelet.answer(_pods("second", "third"))
    assert _list(kubelet.socket, calls=3) == ["second", "third"]
    kubelet.answer(ListPodResourcesResponse)
    assert _list(kubelet.socket) == []
    assert (kubelet.calls, kubelet.connections) == (5, 3)


def test_an_answer_can_be_made_at_each_call(kubelet: SimulatedKubelet) -> None:
    kubelet.answer(lambda: _pods(f"call-{kubelet.calls}"))
    assert _list(kubelet.socket) == ["call-1"]
    assert _list(kubelet.socket) == ["call-2"]


def test_a_restart_serves_the_same_path_again(kubelet: SimulatedKubelet) -> None:
    assert _list(kubelet.socket) == ["first"]
    kubelet.stop()
    assert not kubelet.socket.exists()
    with pytest.raises(OSError, match=r"."):
        _list(kubelet.socket)
    kubelet.start()
    assert _list(kubelet.socket) == ["first"]


def test_a_restart_ends_the_connections_that_are_open(kubelet: SimulatedKubelet) -> None:
    async def ask() -> list[str]:
        async with Channel(path=str(kubelet.socket)) as channel:
            method = UnaryUnaryMethod(channel, LIST_METHOD, ListPodResourcesRequest, ListPodResourcesResponse)
            await method(ListPodResourcesRequest(), timeout=PATIENCE_S)
            await asyncio.to_thread(kubelet.stop)
            with pytest.raises((OSError, StreamTerminatedError)):
                await method(ListPodResourcesRequest(), timeout=PATIENCE_S)
            await asyncio.to_thread(kubelet.start)
            answer = await method(ListPodResourcesRequest(), timeout=PATIENCE_S)
            return [pod.name for pod in answer.pod_resources]

    assert asyncio.run(ask()) == ["first"]


def test_the_rate_limit_refuses_so_many_calls(kubelet: SimulatedKubelet) -> None:
    kubelet.exhaust(2)
    for _ in range(2):
        with pytest.raises(GRPCError) as refused:
            _list(kubelet.socket)
        assert (refused.value.status, refused.value.message) == (
            Status.RESOURCE_EXHAUSTED,
            "rejected by rate limit",
        )
    assert _list(kubelet.socket) == ["first"]


def test_a_late_answer_runs_into_the_callers_deadline_and_is_not_late_for_ever(kubelet: SimulatedKubelet) -> None:
    kubelet.delay(3600)
    with pytest.raises((GRPCError, asyncio.TimeoutError)):
        _list(kubelet.socket, timeout_s=0.2)
    kubelet.delay(0.01)
    assert _list(kubelet.socket) == ["first"]


def test_stopping_does_not_wait_for_answers_that_are_late(kubelet: SimulatedKubelet) -> None:
    kubelet.delay(3600)
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            _list(kubelet.socket)
        except (OSError, GRPCError, StreamTerminatedError) as error:
            errors.append(error)

    caller = threading.Thread(target=ask, daemon=True)
    caller.start()
    deadline = time.monotonic() + PATIENCE_S
    while not kubelet.calls and time.monotonic() < deadline:
        time.sleep(0.01)
    kubelet.stop()
    caller.join(PATIENCE_S)
    assert not caller.is_alive()
    assert errors


def test_any_grpc_status_can_be_answered(kubelet: SimulatedKubelet) -> None:
    kubelet.fail("UNAVAILABLE", "kubelet is starting")
    with pytest.raises(GRPCError) as refused:
        _list(kubelet.socket)
    assert (refused.value.status, refused.value.message) == (Status.UNAVAILABLE, "kubelet is starting")
    kubelet.fail(None)
    assert _list(kubelet.socket) == ["first"]
    with pytest.raises(KeyError):
        kubelet.fail("NO_SUCH_STATUS")


def test_garbage_is_sent_instead_of_http2_until_it_ends(kubelet: SimulatedKubelet) -> None:
    async def read() -> bytes:
        reader, writer = await asyncio.open_unix_connection(str(kubelet.socket))
        try:
            return await asyncio.wait_for(reader.read(), PATIENCE_S)
        finally:
            writer.close()
            await writer.wait_closed()

    kubelet.speak_garbage(True)
    assert asyncio.run(read()) == GARBAGE
    kubelet.speak_garbage(False)
    assert _list(kubelet.socket) == ["first"]


def test_garbage_ends_connections_that_were_good(kubelet: SimulatedKubelet) -> None:
    async def ask() -> None:
        async with Channel(path=str(kubelet.socket)) as channel:
            method = UnaryUnaryMethod(channel, LIST_METHOD, ListPodResourcesRequest, ListPodResourcesResponse)
            await method(ListPodResourcesRequest(), timeout=PATIENCE_S)
            kubelet.speak_garbage(True)
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline:
                try:
                    await method(ListPodResourcesRequest(), timeout=1)
                except (OSError, GRPCError, StreamTerminatedError, TimeoutError):
                    return
            raise AssertionError("the connection is still good")

    asyncio.run(ask())


def test_going_away_and_back_does_as_a_restart_and_waits_for_nothing(kubelet: SimulatedKubelet) -> None:
    deadline = time.monotonic() + PATIENCE_S
    for _ in range(2):
        kubelet.go_away(True)
        kubelet.go_away(True)
        while kubelet.socket.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(OSError, match=r"."):
            _list(kubelet.socket)
        kubelet.go_away(False)
        assert _list_when_open(kubelet.socket) == ["first"]
    kubelet.go_away(True)
    kubelet.stop()
    assert not kubelet.socket.exists()


def test_other_methods_are_refused(kubelet: SimulatedKubelet) -> None:
    with pytest.raises(GRPCError):
        _list(kubelet.socket, path="/v1.PodResourcesLister/Get")
    assert kubelet.calls == 0


def test_stop_leaves_no_thread_and_no_socket_and_may_come_twice(tmp_path: Path) -> None:
    one = SimulatedKubelet(tmp_path / "kubelet.sock")
    one.stop()
    one.start()
    one.start()
    assert _list(one.socket) == []
    assert [thread.name for thread in threading.enumerate()].count("simulated kubelet") == 1
    one.stop()
    one.stop()
    one.drop_connections()
    assert [thread.name for thread in threading.enumerate()].count("simulated kubelet") == 0
    assert list(tmp_path.iterdir()) == []


def test_a_socket_that_a_crash_left_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "kubelet.sock"
    with SimulatedKubelet(path), SimulatedKubelet(path, _pods("heir")) as heir:
        assert _list(heir.socket) == ["heir"]


def test_a_path_that_cannot_be_a_socket_is_told_at_the_start(tmp_path: Path) -> None:
    one = SimulatedKubelet(tmp_path / ("x" * 200))  # a name alone may be longer than a socket's whole path
    with pytest.raises(OSError, match="too long"):
        one.start()
    one.stop()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"."):
        SimulatedKubelet(tmp_path / "file" / "kubelet.sock").start()
