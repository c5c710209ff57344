"""Candidates for a Lease, each with a clock of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.exporter.workloads.kubernetes.api_server import ApiServer
from tests.exporter.workloads.kubernetes.conftest import KUBECONFIG

from gpuscope.errors import ConfigError
from gpuscope.workloads.kubernetes import Session
from gpuscope.workloads.kubernetes.lease import Lease

PATH = "/apis/coordination.k8s.io/v1/namespaces/monitoring/leases/gpuscope"


class Candidate:
    """One candidate; its clock stands still unless the test moves it."""

    def __init__(self, session: Session, name: str, now: float, state: str = "") -> None:
        self.now = now
        self.told: list[str | None] = []
        self.state: str | Exception = state or name
        self.lease = Lease(session, "monitoring", "gpuscope", name, monotonic=lambda: self.now, claim=self.claim)

    def claim(self, before: str | None) -> str:
        self.told.append(before)
        if isinstance(self.state, Exception):
            raise self.state
        return self.state

    def hold(self, after: float = 0.0) -> str:
        self.now += after
        return self.lease.hold()


@pytest.fixture
def candidate(server: ApiServer, tmp_path: Path) -> Iterator[Callable[..., Candidate]]:
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG % server.url)
    session = Session(str(file))
    yield lambda name, now=0.0, state="": Candidate(session, name, now, state)
    session.close()


def test_first_one_leads_and_others_wait(server: ApiServer, candidate: Callable[..., Candidate]) -> None:
    one, two = candidate("one"), candidate("two", 1e6)
    assert one.hold() == ""
    assert "one leads" in two.hold()
    for _ in range(20):
        assert one.hold(2) == ""
        assert "one leads" in two.hold(2)
    assert server.leases[PATH]["spec"]["holderIdentity"] == "one"


def test_silent_leader_is_followed_after_its_time(server: ApiServer, candidate: Callable[..., Candidate]) -> None:
    one, two = candidate("one"), candidate("two", 1e6)
    one.hold()
    assert two.hold() != ""
    assert two.hold(14) != ""
    assert two.hold(2) == ""
    assert "two leads" in one.hold(20)
    assert server.leases[PATH]["spec"]["leaseTransitions"] == 1


def test_leader_gives_up_before_another_may_take_over(server: ApiServer, candidate: Callable[..., Candidate]) -> None:
    one = candidate("one")
    one.hold()
    server.forbidden.add("leases")
    assert one.hold(9) == ""
    assert "403" in one.hold(2)


def test_lease_that_was_given_back_is_free_at_once(server: ApiServer, candidate: Callable[..., Candidate]) -> None:
    one, two = candidate("one"), candidate("two")
    one.hold()
    two.hold()
    one.lease.release()
    one.lease.release()
    assert two.hold() == ""
    assert "two leads" in one.hold()


def test_lease_that_another_writes_to_in_between_is_read_again(
    server: ApiServer, candidate: Callable[..., Candidate]
) -> None:
    one = candidate("one")
    one.hold()
    lease = server.leases[PATH]
    server.leases[PATH] = {**lease, "metadata": {**lease["metadata"], "resourceVersion": "999"}}
    assert one.hold(2) == ""
    lease = server.leases[PATH]
    server.leases[PATH] = {"metadata": {"resourceVersion": "1000"}, "spec": {**lease["spec"], "holderIdentity": "x"}}
    assert "x leads" in one.hold(2)


def test_release_that_fails_is_no_error(server: ApiServer, candidate: Callable[..., Candidate]) -> None:
    one = candidate("one")
    one.hold()
    server.forbidden.add("leases")
    one.lease.release()


@pytest.mark.parametrize("nonsense", [{"metadata": {"resourceVersion": "7"}, "spec": "none"}, {"spec": {}}, []])
def test_lease_that_makes_no_sense_is_nobodys(
    server: ApiServer, candidate: Callable[..., Candidate], nonsense: object
) -> None:
    server.leases[PATH] = nonsense  # type: ignore[assignment]
    assert "not understood" in candidate("one").hold()


def test_leader_learns_which_memory_the_last_one_counted_with(server: ApiServer, candidate) -> None:
    one, two, three = candidate("one"), candidate("two"), candidate("three", state="two")
    assert one.hold() == ""
    assert one.hold(2) == ""
    assert one.told == [None]
    one.lease.release()
    assert two.hold() == ""
    two.lease.release()
    assert three.hold() == ""
    three.lease.release()
    assert one.hold() == ""
    assert (two.told, three.told, one.told) == (["one"], ["two"], [None, "two"])
    # A lease of another program, or of an earlier release, says nothing of a memory.
    one.lease.release()
    del server.leases[PATH]["metadata"]["annotations"]
    assert three.hold() == ""
    assert three.told[-1] == ""


def test_lead_is_not_taken_with_a_memory_that_cannot_be_used(server: ApiServer, candidate) -> None:
    one, two = candidate("one"), candidate("two")
    one.state = ConfigError("--state-file /data/state: disk I/O error")
    assert one.hold() == "lease monitoring/gpuscope is not taken: --state-file /data/state: disk I/O error"
    assert server.leases == {}
    assert two.hold() == ""
