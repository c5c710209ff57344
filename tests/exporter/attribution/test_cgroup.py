"""Owners from texts of /proc/<pid>/cgroup."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.attribution.cgroup import CgroupOwner, parse_cgroup

_IDS = {"{A}": "4f797c53" * 8, "{B}": "0ecc7949" * 8}


def _fill(text: str) -> str:
    for short, full in _IDS.items():
        text = text.replace(short, full)
    return text


def _cases() -> list[Any]:
    cases = yaml.safe_load(Path(__file__).with_name("cgroups.yaml").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", _cases())
def test_says_who_owns_the_process(case: dict[str, Any]) -> None:
    expected = {key: _fill(value) if isinstance(value, str) else value for key, value in case.items()}
    text = expected.pop("text")
    del expected["name"]
    assert parse_cgroup(text) == CgroupOwner(**expected)


def test_known_is_a_pod_or_a_job() -> None:
    assert not CgroupOwner(container_id="a").known
    assert CgroupOwner(pod_uid="a").known
    assert CgroupOwner(job_id="1").known
    assert CgroupOwner(sluid="s").known


def test_a_text_without_end_is_cut() -> None:
    pod = "0::/kubepods/pod1b3e1a0c-9d4f-4c1e-8a77-0f4e2f9c1d23\n"
    assert parse_cgroup("1:a:/\n" * 20_000 + pod) == CgroupOwner()
    assert parse_cgroup(pod + "1:a:/\n" * 20_000).pod_uid == "1b3e1a0c-9d4f-4c1e-8a77-0f4e2f9c1d23"


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\r", "\x1c", "\x85", "\u2028"])
def test_a_folder_of_a_users_own_cannot_add_a_line(end: str) -> None:
    fake = f"{end}0::/system.slice/slurmstepd.scope/job_42/step_0"
    assert parse_cgroup(f"0::/user.slice/user-1000.slice/x{fake}\n") == CgroupOwner()


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    assert isinstance(parse_cgroup(text), CgroupOwner)


_SEGMENT = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "..",
            "kubepods.slice",
            "kubepods-pod1b3e1a0c_9d4f_4c1e_8a77_0f4e2f9c1d23.slice",
            "pod3bb3e7a8f1e0a7c0c1f0a0a1b2c3d4e5",
            "docker",
            "user.slice",
            "slurm",
            "uid_1000",
            "slurmstepd.scope",
            "job_42",
            "sEKNKTV3WPV500",
            "step_0",
            "crio-" + _IDS["{A}"],
            "x.slice:cri-containerd:" + _IDS["{B}"],
            _IDS["{A}"],
        ]
    ),
)
_LINE = st.builds(lambda number, parts: f"{number}::/{'/'.join(parts)}", st.integers(0, 12), st.lists(_SEGMENT))


@given(st.lists(_LINE, max_size=4))
def test_paths_of_real_parts_in_any_order_say_nothing_odd(lines: list[str]) -> None:
    owner = parse_cgroup("\n".join(lines))
    assert owner.pod_uid in {None, "1b3e1a0c-9d4f-4c1e-8a77-0f4e2f9c1d23", "3bb3e7a8f1e0a7c0c1f0a0a1b2c3d4e5"}
    assert owner.container_id in {None, *_IDS.values()}
    assert owner.job_id in {None, "42"}
    assert owner.known or dataclasses.replace(owner, container_id=None, runtime=None) == CgroupOwner()


@given(st.uuids(), st.sampled_from(["", "-burstable", "-besteffort"]), st.sampled_from(["", "kubelet-", "site-"]))
def test_every_uid_comes_back_with_dashes(uid: object, qos: str, prefix: str) -> None:
    systemd = f"0::/{prefix}kubepods{qos}-pod{str(uid).replace('-', '_')}.slice"
    cgroupfs = f"0::/{prefix}kubepods/{qos[1:]}/pod{uid}"
    assert parse_cgroup(systemd).pod_uid == parse_cgroup(cgroupfs).pod_uid == str(uid)
