"""A pod's own way to its API server: token, authority and address as kubelet gives them, over TLS."""

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.exporter.workloads.kubernetes.conftest import FAST, START, workload
from tests.exporter.workloads.kubernetes.test_session import Secured

from gpuscope.collector.follower import Follower
from gpuscope.errors import ConfigError
from gpuscope.workloads.kubernetes import KubernetesSource, Session
from gpuscope.workloads.observation import Observation


class Pod(Secured):
    """A pod with a service account in a folder, whose files are swapped at once as kubelet does."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder / "serviceaccount"
        self.folder.mkdir()
        (self.folder / "..data").symlink_to("none")
        for name in ("token", "ca.crt", "namespace"):
            (self.folder / name).symlink_to(f"..data/{name}")
        self.rotate("first")

    def rotate(self, token: str, authority: bytes | None = None) -> None:
        version = self.folder / f"..{token}"
        version.mkdir()
        (version / "token").write_text(token)
        (version / "ca.crt").write_bytes(authority or self.authority)
        (version / "namespace").write_text("monitoring")
        new = self.folder / "..data_tmp"
        new.symlink_to(version.name)
        new.replace(self.folder / "..data")

    def open(self) -> KubernetesSource:
        session = Session(service_account=self.folder)
        self.source = KubernetesSource(session, pace=FAST, clock=lambda: START, settle_s=0.0)
        self._sources.append(self.source)
        return self.source


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pod]:
    made = Pod(tmp_path)
    host, _, port = made.server.url.removeprefix("https://").partition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    yield made
    made.stop()
    made.server.away()


def follow(pod: Pod, until: Callable[[Follower], object], follower: Follower | None = None) -> Follower:
    """Looks until something is so."""
    if follower is None:
        follower = Follower(pod.open(), 1.0, lambda _: None, lambda: None)
        pod.source.start()
    end = time.monotonic() + 20
    while not until(follower):
        assert time.monotonic() < end, follower.status
        follower.look()
        time.sleep(0.02)
    return follower


def test_token_that_kubelet_renewed_is_taken_from_the_next_request_on(inside: Pod) -> None:
    inside.server.put(workload("Job"))
    inside.open().start()
    inside.job()
    inside.rotate("second")
    inside.server.token = "second"
    inside.server.cut()
    inside.server.put(workload("Job", metadata={"name": "new", "uid": "new"}))
    inside.see(lambda seen: len(seen.jobs) == 2 and seen.complete)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


def test_server_of_another_authority_is_told_in_one_line(inside: Pod, caplog, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Secured(tmp_path / "other")
    other.server.away()
    inside.rotate("stranger", other.authority)
    one = follow(inside, lambda one: one.problems.get("unreachable:discovery", 0) > 3)
    assert "CERTIFICATE_VERIFY_FAILED" in one.status.reason
    assert lines(caplog) == [f"kubernetes does not answer: {one.status.reason}"]


def test_token_that_is_not_accepted_is_told_in_one_line_and_tried_again(inside: Pod, caplog) -> None:
    inside.server.token = "other"
    one = follow(inside, lambda one: one.problems.get("unauthorized:discovery", 0) > 3)
    assert lines(caplog) == ["kubernetes does not answer: unauthorized: 401 Unauthorized"]
    inside.rotate("other")
    follow(inside, lambda one: not one.status.reason, one)


def test_token_that_ends_later_is_told_in_one_line_too(inside: Pod, caplog) -> None:
    one = follow(inside, lambda one: one.status.answered)
    inside.server.token = "second"
    inside.server.cut()
    follow(inside, lambda one: one.problems.get("unauthorized:pods", 0) > 3, one)
    assert lines(caplog) == ["kubernetes does not answer: unauthorized: 401 Unauthorized"]
    inside.rotate("second")
    with caplog.at_level(logging.INFO):
        follow(inside, lambda one: not one.status.reason, one)
    assert [one.getMessage() for one in caplog.records if "again" in one.getMessage()] == ["kubernetes answers again"]


def test_token_file_that_is_away_is_told_and_costs_nothing_that_is_known(inside: Pod) -> None:
    inside.server.put(workload("Job"))
    inside.open().start()
    inside.job()
    (inside.folder / "token").unlink()
    inside.server.token = "second"
    inside.server.cut()

    def told(seen: Observation) -> bool:
        return "token not found" in seen.reason

    assert len(inside.see(told).jobs) == 1
    inside.rotate("second")
    (inside.folder / "token").symlink_to("..data/token")
    inside.see(lambda seen: seen.complete)


@pytest.mark.parametrize("missing", ["ca.crt", "namespace"])
def test_half_a_service_account_is_a_mistake_that_is_named(inside: Pod, missing: str) -> None:
    (inside.folder / missing).unlink()
    with pytest.raises(ConfigError, match=f"has a token and no {missing}"):
        Session(service_account=inside.folder)


@pytest.mark.parametrize("missing", ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])
def test_address_that_kubelet_did_not_give_is_named(inside: Pod, missing: str, monkeypatch) -> None:
    monkeypatch.delenv(missing)
    with pytest.raises(ConfigError, match=missing):
        Session(service_account=inside.folder)
