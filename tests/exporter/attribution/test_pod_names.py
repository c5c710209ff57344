"""Names of pods and containers from trees like kubelet's log folders."""

import logging
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.attribution.pod_names import PodContainer, PodNames

_UID = "1b3e1a0c-9d4f-4c1e-8a77-0f4e2f9c1d23"
_OTHER = "fecd2321-17b5-49b9-9f75-8c5be777fbfb"
_STATIC = "3bb3e7a8f1e0a7c0c1f0a0a1b2c3d4e5"
_ID, _ID2 = "4f797c53" * 8, "0ecc7949" * 8


class _Node:
    """The log folders of a node, and a clock that the test moves."""

    def __init__(self, root: Path) -> None:
        self.pods, self.containers, self.now = root / "pods", root / "containers", 100.0
        self.pods.mkdir()
        self.containers.mkdir()
        self.names = PodNames(self.pods, self.containers, clock=lambda: self.now)

    def pod(self, folder: str, *containers: str) -> None:
        (self.pods / folder).mkdir()
        for name in containers:
            (self.pods / folder / name).mkdir()

    def link(self, name: str) -> None:
        # The target is rotated away now and then; the name is what counts.
        (self.containers / name).symlink_to("/nowhere/0.log")


@pytest.fixture
def node(tmp_path: Path) -> _Node:
    return _Node(tmp_path)


def test_a_link_names_the_container(node: _Node) -> None:
    node.pod(f"team-a_trainer-0.worker_{_UID}", "main", "log-shipper")
    node.link(f"trainer-0.worker_team-a_log-shipper-{_ID2}.log")
    node.link(f"trainer-0.worker_team-a_main-{_ID}.log")
    assert node.names.find(_UID, _ID) == PodContainer("team-a", "trainer-0.worker", "main")
    assert node.names.find(_UID, _ID2) == PodContainer("team-a", "trainer-0.worker", "log-shipper")


def test_without_links_the_only_container_has_its_name(node: _Node) -> None:
    node.containers.rmdir()
    node.pod(f"team-a_trainer_{_UID}", "main")
    assert node.names.find(_UID, _ID) == PodContainer("team-a", "trainer", "main")
    assert not node.names.problems.counts


def test_without_links_one_of_several_containers_has_no_name(node: _Node) -> None:
    node.pod(f"team-a_trainer_{_UID}", "init", "main")
    assert node.names.find(_UID, _ID) == PodContainer("team-a", "trainer", "")


def test_a_process_of_the_pod_but_of_no_container_has_no_container_name(node: _Node) -> None:
    node.pod(f"team-a_trainer_{_UID}", "main")
    assert node.names.find(_UID) == PodContainer("team-a", "trainer", "")


def test_a_second_container_that_starts_later_is_not_mistaken_for_the_first(node: _Node) -> None:
    node.pod(f"team-a_trainer_{_UID}", "init")
    assert node.names.find(_UID, _ID) == PodContainer("team-a", "trainer", "init")
    (node.pods / f"team-a_trainer_{_UID}" / "main").mkdir()
    assert node.names.find(_UID, _ID2) == PodContainer("team-a", "trainer", "")


def test_a_static_pod_has_a_hash_for_a_uid(node: _Node) -> None:
    node.pod(f"kube-system_etcd-node-1_{_STATIC}", "etcd")
    assert node.names.find(_STATIC, _ID) == PodContainer("kube-system", "etcd-node-1", "etcd")


def test_a_link_names_the_pod_too_where_pod_folders_are_not_granted(node: _Node) -> None:
    node.pods.rmdir()
    node.link(f"trainer_team-a_main-{_ID}.log")
    assert node.names.find(_UID, _ID) == PodContainer("team-a", "trainer", "main")
    assert node.names.problems.counts == {"missing": 1}


def test_a_link_of_another_pod_is_not_believed(node: _Node) -> None:
    node.pod(f"team-a_trainer_{_UID}", "main", "side")
    node.link(f"other_team-b_main-{_ID}.log")
    assert node.names.find(_UID, _ID) == PodContainer("team-a", "trainer", "")


def test_an_unknown_pod_is_looked_for_again_after_the_interval_and_not_before(node: _Node) -> None:
    assert node.names.find(_UID, _ID) is None
    node.pod(f"team-a_trainer_{_UID}", "main")
    node.now += 4.9
    assert node.names.find(_UID, _ID) is None
    node.now += 0.1
    assert node.names.find(_UID, _ID) == PodContainer("team-a", "trainer", "main")


def test_known_names_are_not_listed_again(node: _Node) -> None:
    node.pod(f"team-a_trainer_{_UID}", "main")
    node.link(f"trainer_team-a_main-{_ID}.log")
    first = node.names.find(_UID, _ID)
    node.pods.rename(node.pods.with_name("gone"))
    node.now += 1000
    assert node.names.find(_UID, _ID) == first
    assert not node.names.problems.counts


def test_what_was_known_outlives_a_folder_that_cannot_be_read(node: _Node) -> None:
    node.pod(f"team-a_trainer_{_UID}", "main")
    node.link(f"trainer_team-a_main-{_ID}.log")
    first = node.names.find(_UID, _ID)
    node.pods.rename(node.pods.with_name("gone"))
    node.now += 1000
    assert node.names.find(_OTHER, _ID2) is None
    assert node.names.find(_UID, _ID) == first
    assert node.names.problems.counts == {"missing": 1}


def test_a_pod_that_is_gone_is_forgotten_at_the_next_listing(node: _Node) -> None:
    node.pod(f"team-a_trainer_{_UID}")
    assert node.names.find(_UID)
    (node.pods / f"team-a_trainer_{_UID}").rmdir()
    node.now += 10
    assert node.names.find(_OTHER) is None
    node.now += 10
    assert node.names.find(_UID) is None


def test_odd_names_are_counted_at_each_look_logged_once_and_cost_nothing_else(
    node: _Node, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("lost+found", "a_b", "Team_x_" + _UID, f"a_b_{_UID}.bak", "\udcff\n_x_" + _OTHER):
        node.pod(name)
    node.pod(".hidden")
    node.pod(f"team-a_trainer_{_UID}", "main")
    node.link(f"trainer_team-a_main-{_ID[:40]}.log")
    node.link("README")
    assert node.names.find(_UID) == PodContainer("team-a", "trainer", "")
    node.now += 10
    node.names.find(_OTHER)
    assert node.names.problems.counts == {"odd_name": 12}
    warnings = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert len(warnings) == 6
    assert all(line.isprintable() and line.isascii() for line in warnings)


def test_a_folder_that_is_none_has_a_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    names = PodNames(tmp_path / "file", tmp_path / "file")
    assert names.find(_UID) is None
    assert names.problems.counts == {"not_a_folder": 2}


@pytest.mark.parametrize("folder", ["pods", "containers"])
def test_a_folder_that_may_not_be_read_has_a_reason(folder: str, node: _Node, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root reads every folder: the refusal is made here.
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == folder:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert node.names.find(_UID) is None
    assert node.names.problems.counts == {"no_permission": 1}


def test_a_folder_without_end_is_cut(node: _Node) -> None:
    for number in range(30):
        node.pod(f"a_b{number}_{_UID[:-2]}{number:02}")
    names = PodNames(node.pods, node.containers, max_names=10)
    names.find(_OTHER)
    assert names.problems.counts == {"too_many": 1}


def test_a_problem_that_is_over_is_said(node: _Node, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    node.pods.rmdir()
    node.names.find(_UID)
    node.pods.mkdir()
    node.now += 10
    node.names.find(_UID)
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", f"{node.pods}: missing"),
        ("INFO", f"{node.pods}: no longer missing"),
    ]


def test_a_hundred_odd_names_are_a_few_lines(node: _Node, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(100):
        node.pod(f"odd{number}")
    node.names.find(_UID)
    assert node.names.problems.counts == {"odd_name": 100}
    assert len(caplog.records) == 11
    assert caplog.records[-1].getMessage() == "90 more cannot be used"


@given(st.text(st.characters(blacklist_characters="/\0"), min_size=1, max_size=60), st.text(max_size=80))
def test_any_folder_name_and_any_uid_have_an_answer(name: str, uid: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        try:
            (Path(root) / name).mkdir()
        except (OSError, ValueError):  # "..", or a name that this file system refuses
            return
        names = PodNames(Path(root), Path(root))
        assert names.find(uid, uid) is None
        assert set(names.problems.counts) <= {"odd_name"}
