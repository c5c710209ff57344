"""What processes and job files add to kubelet's answer."""

import logging
import time
from pathlib import Path

import pytest

from gpuscope.attribution.attributor import AttributionOptions, Attributor
from gpuscope.nvml.processes import Process, ProcessList

UID = "0a1b2c3d-1111-2222-3333-444444444444"


def proc(tmp_path: Path, **cgroups: str) -> Path:
    """A proc file system with processes ``p<pid>``."""
    for name, cgroup in cgroups.items():
        folder = tmp_path / "proc" / name[1:]
        folder.mkdir(parents=True)
        (folder / "cgroup").write_text(f"0::{cgroup}\n")
        (folder / "stat").write_text(f"{name[1:]} (python) S " + " ".join(["1"] * 18 + ["100"] + ["0"] * 20))
        (folder / "status").write_text("Uid:\t1000\t1000\t1000\t1000\n")
    return tmp_path / "proc"


def test_processes_add_memory_and_who_never_asked(
    kubelet, attribute, tmp_path: Path, looks, gpus, series, pods
) -> None:
    pod = f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/cri-containerd-{'a' * 64}.scope"
    procfs = proc(tmp_path, p10=pod, p11="/user.slice", p12="/system.slice/slurmstepd.scope/job_77/step_0/user/task_0")
    (tmp_path / f"pods/ml_train-0_{UID}/main").mkdir(parents=True)
    listed = ProcessList(
        time.clock_gettime(time.CLOCK_BOOTTIME),
        (Process(10, 2 << 30, None, None), Process(11, 1 << 30, None, None), Process(12, 3 << 30, None, None)),
        {gpu.uuid: 10 << 30 for gpu in gpus},
    )
    kubelet.answer(pods(("train-0", gpus[0].uuid)))
    attributor = Attributor(
        AttributionOptions(kubelet_socket=kubelet.socket, procfs=procfs, pod_logs=tmp_path / "pods", visible=True),
        lambda: looks(listed=listed)[:2],
    )
    attributor.refresh()
    attributor._kubelet.close()
    found = series(attributor)
    first, second = [("0", gpus[0].uuid, ""), ("1", gpus[1].uuid, "")]
    assert found["gpuscope_pod_memory_used_bytes"] == {
        (*first, "ml", "train-0", "main"): 2 << 30,
        (*second, "ml", "train-0", "main"): 2 << 30,
    }
    assert found["gpuscope_job_memory_used_bytes"] == {(*first, "77"): 3 << 30, (*second, "77"): 3 << 30}
    assert found["gpuscope_unowned_memory_used_bytes"] == {first: 1 << 30, second: 1 << 30}
    # On the first GPU the container asked kubelet for it, on the second it did not.
    assert list(found["gpuscope_pod_allocation_info"]) == [
        (*first, "ml", "train-0", "main", UID, "nvidia.com/gpu", ""),
        (*second, "ml", "train-0", "main", UID, "", ""),
    ]
    assert found["gpuscope_allocations"] == {first: 2, second: 2}
    total = 0.0
    for name in ("pod", "job", "unowned"):
        total += sum(v for k, v in found[f"gpuscope_{name}_memory_used_bytes"].items() if k[:3] == first)
    assert total <= 10 << 30


@pytest.mark.parametrize("order", [(10, 11), (11, 10)])
def test_a_process_without_a_container_of_its_own_is_no_further_holder(
    attribute, tmp_path: Path, looks, gpus, order: tuple[int, int]
) -> None:
    pod = f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice"
    procfs = proc(tmp_path, p10=pod, p11=f"{pod}/cri-containerd-{'a' * 64}.scope")
    for container in ("main", "sidecar"):
        (tmp_path / f"pods/ml_train-0_{UID}/{container}").mkdir(parents=True)
    (tmp_path / "containers").mkdir()
    (tmp_path / f"containers/train-0_ml_main-{'a' * 64}.log").touch()
    at = time.clock_gettime(time.CLOCK_BOOTTIME)
    listed = ProcessList(at, tuple(Process(pid, 1 << 30, None, None) for pid in order), {})
    attributor = Attributor(
        AttributionOptions(
            procfs=procfs, pod_logs=tmp_path / "pods", container_logs=tmp_path / "containers", visible=True
        ),
        lambda: looks(listed=listed)[:1],
    )
    attributor.refresh()
    assert attributor.allocation.containers(gpus[0].uuid) == (("ml", "train-0", "main"),)


def test_a_gpu_that_only_a_program_of_the_host_uses_is_neither_free_nor_held(
    kubelet, attribute, tmp_path: Path, looks, gpus, series
) -> None:
    listed = ProcessList(time.clock_gettime(time.CLOCK_BOOTTIME), (Process(11, 1 << 30, None, None),), {})
    nobody = ProcessList(listed.at, (), {})
    attributor = Attributor(
        AttributionOptions(
            kubelet_socket=kubelet.socket, procfs=proc(tmp_path, p11="/user.slice"), pod_logs=tmp_path, visible=True
        ),
        lambda: [*looks(listed=listed)[:1], *looks(listed=nobody)[1:2]],
    )
    attributor.refresh()
    attributor._kubelet.close()
    assert [attributor.allocation.known(gpu.uuid) for gpu in gpus[:2]] == ["allocated", "unallocated"]
    assert series(attributor)["gpuscope_allocations"] == {("1", gpus[1].uuid, ""): 0}


def test_a_job_that_runs_in_a_pod_is_told_with_the_pod(attribute, tmp_path: Path, looks, gpus, series) -> None:
    """Slinky and soperator run slurmd in pods."""
    pod = f"/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/cri-containerd-{'a' * 64}.scope"
    procfs = proc(tmp_path, p10=f"{pod}/system.slice/slurmstepd.scope/job_77/step_0/user/task_0")
    (tmp_path / f"pods/slurm_worker-0_{UID}/slurmd").mkdir(parents=True)
    listed = ProcessList(time.clock_gettime(time.CLOCK_BOOTTIME), (Process(10, 2 << 30, None, None),), {})
    attributor = Attributor(
        AttributionOptions(procfs=procfs, pod_logs=tmp_path / "pods", visible=True),
        lambda: looks(listed=listed)[:1],
    )
    attributor.refresh()
    found = series(attributor)
    assert [labels[3:6] for labels in found["gpuscope_pod_allocation_info"]] == [("slurm", "worker-0", "slurmd")]
    assert [labels[4] for labels in found["gpuscope_job_allocation_info"]] == ["77"]


def test_a_pod_s_uid_comes_from_its_logs_where_it_is_the_only_one(
    kubelet, attribute, tmp_path: Path, gpus, series, pods
) -> None:
    kubelet.answer(pods(("once", gpus[0].uuid), ("twice", gpus[1].uuid), ("never", gpus[2].uuid)))
    for name in (f"ml_once_{UID}", f"ml_twice_{UID[:-1]}5", f"ml_twice_{UID[:-1]}6"):
        (tmp_path / "pods" / name).mkdir(parents=True)
    attributor = attribute()
    attributor.refresh()
    uids = {labels[4]: labels[6] for labels in series(attributor)["gpuscope_pod_allocation_info"]}
    assert uids == {"once": UID, "twice": "", "never": ""}


def test_without_sight_of_processes_there_is_no_memory_by_pod(kubelet, attribute, tmp_path: Path, series) -> None:
    attributor = attribute(visible=False)
    attributor.refresh()
    found = series(attributor)
    assert not [name for name in found if "memory" in name]
    assert found["gpuscope_attribution_source_up"] == {("kubelet",): 1}


def test_odd_job_files_are_counted_and_the_good_one_is_kept(attribute, tmp_path: Path, caplog, series) -> None:
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    (jobs / "0").write_text("42\n")
    (jobs / "99").write_text("43\n")
    (jobs / "gpu zero").write_text("44\n")
    (jobs / "1").write_bytes(b"\x00\xff" * 10)
    (jobs / "3.2").write_text("45\n46\n")
    attributor = attribute(kubelet_socket=None, job_files=jobs)
    with caplog.at_level(logging.INFO):
        attributor.refresh()
        attributor.refresh()
    found = series(attributor)
    assert [labels[3:5] for labels in found["gpuscope_job_allocation_info"]] == [("", "42"), ("2", "45"), ("2", "46")]
    counted = {labels[1]: value for labels, value in found["gpuscope_attribution_problems_total"].items()}
    assert sum(counted.values()) == 6, counted
    assert counted["no_such_device"] == 2
    assert len([record for record in caplog.records if "99" in record.message]) == 1


@pytest.mark.parametrize("content", [b"\x00\xff", b"1 2 3\n", b"1\n" * 300, b"x" * 70_000])
def test_a_gpu_with_an_unusable_job_file_is_unknown_and_not_free(
    attribute, tmp_path: Path, gpus, content, series
) -> None:
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    (jobs / "0").write_bytes(content)
    (jobs / "1").write_bytes(b"\n")
    attributor = attribute(kubelet_socket=None, job_files=jobs)
    attributor.refresh()
    assert [attributor.allocation.known(gpu.uuid) for gpu in gpus[:2]] == ["unknown", "unallocated"]
    told = [labels[0] for labels in series(attributor)["gpuscope_allocations"]]
    assert "0" not in told
    assert "1" in told


def test_a_job_folder_that_was_not_read_to_its_end_makes_nothing_free(attribute, tmp_path: Path, gpus, series) -> None:
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    for number in range(4097):
        (jobs / f"{number}-odd").touch()
    attributor = attribute(kubelet_socket=None, job_files=jobs)
    attributor.refresh()
    found = series(attributor)
    assert found["gpuscope_attribution_source_failure_info"] == {("job_files", "too_many_files"): 1}
    assert attributor.allocation.known(gpus[0].uuid) == "unknown"


def test_an_unreadable_job_folder_is_unknown_and_not_free(attribute, tmp_path: Path, gpus, series) -> None:
    attributor = attribute(kubelet_socket=None, job_files=tmp_path / "nowhere", visible=True)
    attributor.refresh()
    assert series(attributor)["gpuscope_attribution_source_failure_info"] == {("job_files", "missing"): 1}
    assert attributor.allocation.known(gpus[0].uuid) == "unknown"
