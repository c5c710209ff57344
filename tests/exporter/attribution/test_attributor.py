"""Attribution against a look-alike of kubelet that speaks the real gRPC on a Unix socket."""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuscope.attribution.attributor import AttributionOptions, Attributor
from gpuscope.attribution.kubelet import Kubelet, KubeletError
from gpuscope.nvml.identity import GpuIdentity
from gpuscope.nvml.processes import Process, ProcessList
from gpuscope.podresources import ListPodResourcesResponse
from gpuscope.simulate.kubelet import SimulatedKubelet

Series = dict[str, dict[tuple[str, ...], float]]


def series(attributor: Attributor) -> Series:
    """Metric name -> labels -> value."""
    found: Series = {}
    for metric, labels, value in attributor.samples():
        assert labels not in found.setdefault(metric.name, {}), f"{metric.name}{labels} twice"
        found[metric.name][labels] = value
    return found


def pods(*held: tuple[str, str]) -> ListPodResourcesResponse:
    """(pod, device id) -> kubelet's answer."""
    answer = ListPodResourcesResponse()
    for pod, device in held:
        container = answer.pod_resources.add(namespace="ml", name=pod).containers.add(name="main")
        container.devices.add(resource_name="nvidia.com/gpu", device_ids=[device])
    return answer


@pytest.fixture
def kubelet(tmp_path: Path) -> Iterator[SimulatedKubelet]:
    with SimulatedKubelet(tmp_path / "k.sock") as one:
        yield one


@pytest.fixture
def attribute(tmp_path: Path, looks) -> Iterator[Callable[..., Attributor]]:
    made: list[Attributor] = []

    def make(**options) -> Attributor:
        fields = {"kubelet_socket": tmp_path / "k.sock", "pod_logs": tmp_path / "pods", **options}
        one = Attributor(AttributionOptions(**fields), looks)
        made.append(one)
        return one

    yield make
    for one in made:
        if one._kubelet is not None:
            one._kubelet.close()


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("whole-gpu", [1, 1, 0, 0, 0, 0]),
        ("mig", [0, 0, 0, 1, 1, 0]),
        ("time-sliced", [2, 0, 0, 0, 0, 0]),
        ("mps", [0, 2, 0, 0, 0, 1]),
        ("dra", [0, 1, 0, 1]),  # a name leaves the choice between the other two
        ("gke", [0, 1, 2, 1, 0, 1]),
        ("two-containers", [1, 1, 0, 0, 0, 0]),
    ],
)
def test_sharing_is_visible_and_nothing_is_counted_twice(
    name: str, counts: list[int], kubelet, attribute, recorded
) -> None:
    answer, case = recorded(name)
    kubelet.answer(answer)
    attributor = attribute()
    attributor.refresh()
    found = series(attributor)
    # GPUs 0 to 2 and the three MIG devices of GPU 3, which has no count of its own.
    assert list(found["gpuscope_allocations"].values()) == counts
    told = found["gpuscope_pod_allocation_info"]
    assert len(told) == sum(len(held) for held in case["holds"].values())
    assert {(labels[2] or labels[1]) for labels in told} == set(case["holds"])
    owned = {uuid for uuid in case["holds"] if attributor.allocation.owner(uuid) is not None}
    exclusive = {uuid for uuid, held in case["holds"].items() if len({tuple(one[:3]) for one in held}) == 1}
    assert owned == exclusive


def test_a_device_that_changes_hands_has_its_new_holder_only(kubelet, attribute, gpus: list[GpuIdentity]) -> None:
    attributor = attribute()
    kubelet.answer(pods(("old", gpus[0].uuid)))
    attributor.refresh()
    kubelet.answer(pods(("new", gpus[0].uuid)))
    attributor.refresh()
    assert [labels[4] for labels in series(attributor)["gpuscope_pod_allocation_info"]] == ["new"]
    kubelet.answer(pods())
    attributor.refresh()
    found = series(attributor)
    assert "gpuscope_pod_allocation_info" not in found
    assert found["gpuscope_allocations"]["0", gpus[0].uuid, ""] == 0


def test_a_restarted_kubelet_is_found_at_once(kubelet, attribute, gpus: list[GpuIdentity]) -> None:
    attributor = attribute()
    kubelet.answer(pods(("a", gpus[0].uuid)))
    attributor.refresh()
    kubelet.stop()
    kubelet.answer(pods(("b", gpus[0].uuid)))
    kubelet.start()
    attributor.refresh()
    found = series(attributor)
    assert [labels[4] for labels in found["gpuscope_pod_allocation_info"]] == ["b"]
    assert found["gpuscope_attribution_source_up"] == {("kubelet",): 1}
    assert "gpuscope_podresources_errors_total" not in found


def test_a_connection_that_was_dropped_is_made_anew(kubelet, attribute, gpus: list[GpuIdentity]) -> None:
    attributor = attribute()
    attributor.refresh()
    kubelet.drop_connections()
    kubelet.answer(pods(("b", gpus[0].uuid)))
    attributor.refresh()
    assert [labels[4] for labels in series(attributor)["gpuscope_pod_allocation_info"]] == ["b"]


def test_one_connection_serves_every_look(kubelet, attribute) -> None:
    attributor = attribute()
    for _ in range(5):
        attributor.refresh()
    assert (kubelet.connections, kubelet.calls) == (1, 5)


def test_when_kubelet_is_exhausted_its_last_answer_holds(kubelet, attribute, gpus: list[GpuIdentity]) -> None:
    attributor = attribute()
    kubelet.answer(pods(("a", gpus[0].uuid)))
    attributor.refresh()
    kubelet.exhaust(2)
    for _ in range(2):
        attributor.refresh()
        found = series(attributor)
        assert [labels[4] for labels in found["gpuscope_pod_allocation_info"]] == ["a"]
        assert found["gpuscope_attribution_source_failure_info"] == {("kubelet", "resource_exhausted"): 1}
        assert found["gpuscope_allocations"]["1", gpus[1].uuid, ""] == 0
    assert found["gpuscope_podresources_errors_total"] == {("resource_exhausted",): 2}
    attributor.refresh()
    assert series(attributor)["gpuscope_attribution_source_up"] == {("kubelet",): 1}


def test_an_old_answer_does_not_hold_for_ever(kubelet, attribute, gpus: list[GpuIdentity]) -> None:
    attributor = attribute(keep_s=0.0)
    kubelet.answer(pods(("a", gpus[0].uuid)))
    attributor.refresh()
    kubelet.fail("UNAVAILABLE", "too busy")
    attributor.refresh()
    found = series(attributor)
    assert "gpuscope_pod_allocation_info" not in found
    assert "gpuscope_allocations" not in found, "what is not known must not be 0"
    assert attributor.allocation.known(gpus[0].uuid) == "unknown"


def test_a_missing_socket_is_a_reason_and_not_a_crash(attribute, caplog) -> None:
    attributor = attribute()
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            attributor.refresh()
    found = series(attributor)
    assert found["gpuscope_attribution_source_up"] == {("kubelet",): 0}
    assert found["gpuscope_attribution_source_failure_info"] == {("kubelet", "missing"): 1}
    assert found["gpuscope_podresources_errors_total"] == {("missing",): 3}
    assert "gpuscope_allocations" not in found
    (line,) = [record for record in caplog.records if "does not tell" in record.message]
    assert line.levelno == logging.INFO, "a machine without kubelet is no fault"


def test_a_missing_socket_that_was_asked_for_is_a_warning(attribute, caplog) -> None:
    attribute(kubelet_wanted=True).refresh()
    (line,) = [record for record in caplog.records if "does not tell" in record.message]
    assert line.levelno == logging.WARNING


def test_a_file_in_the_socket_s_place_is_named(attribute, tmp_path: Path) -> None:
    (tmp_path / "k.sock").write_text("no socket")
    attributor = attribute()
    attributor.refresh()
    assert series(attributor)["gpuscope_attribution_source_failure_info"] == {("kubelet", "not_a_socket"): 1}


def test_a_socket_that_may_not_be_opened_is_named(kubelet, tmp_path: Path) -> None:
    """Root may open everything, so that the question is asked by another user, in a process of its own."""
    os.chmod(tmp_path / "k.sock", 0)
    if os.geteuid() != 0:
        with pytest.raises(KubeletError) as found:
            Kubelet(tmp_path / "k.sock").list()
        assert found.value.code == "no_permission"
        return
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o755)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgid(65534)
        os.setuid(65534)
        try:
            Kubelet(tmp_path / "k.sock").list()
        except KubeletError as error:
            os.write(writer, error.code.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"no_permission"
    os.close(reader)


def test_a_socket_that_speaks_something_else_costs_its_answer_only(kubelet, attribute, tmp_path: Path) -> None:
    kubelet.speak_garbage(True)
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    (jobs / "0").write_text("42\n")
    attributor = attribute(job_files=jobs)
    attributor.refresh()
    found = series(attributor)
    assert found["gpuscope_attribution_source_up"] == {("kubelet",): 0, ("job_files",): 1}
    assert [labels[4] for labels in found["gpuscope_job_allocation_info"]] == ["42"]
    kubelet.speak_garbage(False)
    attributor.refresh()
    assert series(attributor)["gpuscope_attribution_source_up"]["kubelet",] == 1


def test_a_kubelet_without_this_service_is_named(kubelet, attribute) -> None:
    kubelet.fail("UNIMPLEMENTED", "unknown service v1.PodResourcesLister")
    attributor = attribute()
    attributor.refresh()
    assert series(attributor)["gpuscope_podresources_errors_total"] == {("unimplemented",): 1}


def test_an_answer_beyond_all_measure_is_not_taken(kubelet, attribute, caplog) -> None:
    kubelet.answer(pods(("x" * (17 << 20), "GPU-00000000-1111-2222-3333-444444444444")))
    attributor = attribute()
    attributor.refresh()
    found = series(attributor)
    assert found["gpuscope_podresources_errors_total"] == {("bad_answer",): 1}
    assert "gpuscope_pod_allocation_info" not in found
    assert "at most 16777216" in caplog.text
    kubelet.answer(pods())
    attributor.refresh()
    assert series(attributor)["gpuscope_attribution_source_up"]["kubelet",] == 1


def test_advice_is_given_where_it_helps(kubelet, attribute, caplog) -> None:
    attributor = attribute(kubelet_wanted=True)
    kubelet.fail("UNAVAILABLE", "starting")
    attributor.refresh()
    assert "starting" in caplog.text
    assert "mounted" not in caplog.text
    kubelet.stop()
    attributor.refresh()
    assert "mounted" in caplog.text


def test_a_device_id_without_end_does_not_fill_the_log(kubelet, attribute, caplog) -> None:
    kubelet.answer(pods(("p", "x" * 100_000)))
    attribute().refresh()
    (line,) = [record.getMessage() for record in caplog.records if "odd_device_id" in record.getMessage()]
    assert len(line) < 400


def test_a_device_that_a_name_may_mean_is_not_told_free(kubelet, attribute, recorded, mig) -> None:
    kubelet.answer(recorded("dra")[0])
    attributor = attribute()
    attributor.refresh()
    assert [attributor.allocation.known(one.uuid) for one in mig] == ["allocated", "unknown", "unknown"]


def test_a_look_that_fails_leaves_nothing_stale_behind(kubelet, looks, gpus: list[GpuIdentity]) -> None:
    kubelet.answer(pods(("a", gpus[0].uuid)))
    broken, told = threading.Event(), threading.Event()

    def look() -> list[object]:
        return [None] if broken.is_set() else looks()

    options = AttributionOptions(kubelet_socket=kubelet.socket, interval_s=0.05)
    attributor = Attributor(options, look, told.set)  # type: ignore[arg-type]
    attributor.start()
    assert told.wait(60)
    assert attributor.allocation.known(gpus[0].uuid) == "allocated"
    broken.set()
    for _ in range(3):
        told.clear()
        assert told.wait(60)
    assert attributor.samples() == ()
    assert attributor.allocation.known(gpus[0].uuid) == "unknown"
    broken.clear()
    for _ in range(3):
        told.clear()
        assert told.wait(60)
    assert attributor.allocation.known(gpus[0].uuid) == "allocated"
    attributor.stop()


def test_a_socket_that_never_answers_ends_in_time(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "k.sock"))
        silent.listen()
        client = Kubelet(tmp_path / "k.sock", timeout_s=0.2)
        with pytest.raises(KubeletError) as found:
            client.list()
        client.close()
    assert found.value.code == "timeout"


def test_mig_devices_that_appear_are_known_at_once(kubelet, tmp_path: Path, looks, mig) -> None:
    kubelet.answer(pods(("a", mig[0].uuid)))
    seen = looks(up=False)
    told = threading.Event()
    attributor = Attributor(AttributionOptions(kubelet_socket=kubelet.socket, interval_s=3600), lambda: seen, told.set)
    attributor.start()
    assert told.wait(60)
    told.clear()
    seen = looks()
    assert told.wait(60)
    assert attributor.allocation.owner(mig[0].uuid) == ("ml", "a", "main")
    attributor.stop()


def test_a_lost_gpu_keeps_its_holders(kubelet, tmp_path: Path, looks, mig, gpus: list[GpuIdentity]) -> None:
    """Whose job a lost GPU takes along is what the pager asks."""
    seen = looks()
    attributor = Attributor(AttributionOptions(kubelet_socket=kubelet.socket), lambda: seen)
    kubelet.answer(pods(("a", mig[0].uuid), ("b", gpus[1].uuid)))
    attributor.refresh()
    seen = looks(up=False)
    attributor.refresh()
    attributor._kubelet.close()
    assert {labels[4] for labels in series(attributor)["gpuscope_pod_allocation_info"]} == {"a", "b"}


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


def test_processes_add_memory_and_who_never_asked(kubelet, attribute, tmp_path: Path, looks, gpus) -> None:
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


def test_a_job_that_runs_in_a_pod_is_told_with_the_pod(attribute, tmp_path: Path, looks, gpus) -> None:
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


def test_a_pod_s_uid_comes_from_its_logs_where_it_is_the_only_one(kubelet, attribute, tmp_path: Path, gpus) -> None:
    kubelet.answer(pods(("once", gpus[0].uuid), ("twice", gpus[1].uuid), ("never", gpus[2].uuid)))
    for name in (f"ml_once_{UID}", f"ml_twice_{UID[:-1]}5", f"ml_twice_{UID[:-1]}6"):
        (tmp_path / "pods" / name).mkdir(parents=True)
    attributor = attribute()
    attributor.refresh()
    uids = {labels[4]: labels[6] for labels in series(attributor)["gpuscope_pod_allocation_info"]}
    assert uids == {"once": UID, "twice": "", "never": ""}


def test_without_sight_of_processes_there_is_no_memory_by_pod(kubelet, attribute, tmp_path: Path) -> None:
    attributor = attribute(visible=False)
    attributor.refresh()
    found = series(attributor)
    assert not [name for name in found if "memory" in name]
    assert found["gpuscope_attribution_source_up"] == {("kubelet",): 1}


def test_odd_job_files_are_counted_and_the_good_one_is_kept(attribute, tmp_path: Path, caplog) -> None:
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
def test_a_gpu_with_an_unusable_job_file_is_unknown_and_not_free(attribute, tmp_path: Path, gpus, content) -> None:
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


def test_a_job_folder_that_was_not_read_to_its_end_makes_nothing_free(attribute, tmp_path: Path, gpus) -> None:
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    for number in range(4097):
        (jobs / f"{number}-odd").touch()
    attributor = attribute(kubelet_socket=None, job_files=jobs)
    attributor.refresh()
    found = series(attributor)
    assert found["gpuscope_attribution_source_failure_info"] == {("job_files", "too_many_files"): 1}
    assert attributor.allocation.known(gpus[0].uuid) == "unknown"


def test_an_unreadable_job_folder_is_unknown_and_not_free(attribute, tmp_path: Path, gpus) -> None:
    attributor = attribute(kubelet_socket=None, job_files=tmp_path / "nowhere", visible=True)
    attributor.refresh()
    assert series(attributor)["gpuscope_attribution_source_failure_info"] == {("job_files", "missing"): 1}
    assert attributor.allocation.known(gpus[0].uuid) == "unknown"


def test_a_socket_path_that_the_kernel_does_not_take_is_reached_all_the_same(tmp_path: Path, gpus) -> None:
    socket_path = tmp_path / ("a" * 60) / ("b" * 60) / "kubelet.sock"
    open_files = len(os.listdir("/proc/self/fd"))
    with SimulatedKubelet(socket_path, pods(("far", gpus[0].uuid))) as kubelet:
        client = Kubelet(socket_path)
        assert client.list().pod_resources[0].name == "far"
        kubelet.drop_connections()
        assert client.list().pod_resources[0].name == "far"
        client.close()
    assert not socket_path.exists()
    assert len(os.listdir("/proc/self/fd")) <= open_files + 1
