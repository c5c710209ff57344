"""Attribution against a look-alike of kubelet that speaks the real gRPC on a Unix socket."""

import logging
import os
import socket
import threading
from pathlib import Path

import pytest

from gpuscope.attribution.allocation import Allocation
from gpuscope.attribution.attributor import AttributionOptions, Attributor
from gpuscope.attribution.devices import Devices
from gpuscope.attribution.kubelet import Kubelet, KubeletError
from gpuscope.nvml.identity import GpuIdentity
from gpuscope.simulate.kubelet import SimulatedKubelet


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
    name: str, counts: list[int], kubelet, attribute, recorded, series
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


def test_a_device_that_changes_hands_has_its_new_holder_only(
    kubelet, attribute, gpus: list[GpuIdentity], series, pods
) -> None:
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


def test_a_restarted_kubelet_is_found_at_once(kubelet, attribute, gpus: list[GpuIdentity], series, pods) -> None:
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


def test_a_connection_that_was_dropped_is_made_anew(kubelet, attribute, gpus: list[GpuIdentity], series, pods) -> None:
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


def test_when_kubelet_is_exhausted_its_last_answer_holds(
    kubelet, attribute, gpus: list[GpuIdentity], series, pods
) -> None:
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


def test_an_old_answer_does_not_hold_for_ever(kubelet, attribute, gpus: list[GpuIdentity], series, pods) -> None:
    attributor = attribute(keep_s=0.0)
    kubelet.answer(pods(("a", gpus[0].uuid)))
    attributor.refresh()
    kubelet.fail("UNAVAILABLE", "too busy")
    attributor.refresh()
    found = series(attributor)
    assert "gpuscope_pod_allocation_info" not in found
    assert "gpuscope_allocations" not in found, "what is not known must not be 0"
    assert attributor.allocation.known(gpus[0].uuid) == "unknown"


def test_a_missing_socket_is_a_reason_and_not_a_crash(attribute, caplog, series) -> None:
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


def test_a_file_in_the_socket_s_place_is_named(attribute, tmp_path: Path, series) -> None:
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


def test_a_socket_that_speaks_something_else_costs_its_answer_only(kubelet, attribute, tmp_path: Path, series) -> None:
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


def test_a_kubelet_without_this_service_is_named(kubelet, attribute, series) -> None:
    kubelet.fail("UNIMPLEMENTED", "unknown service v1.PodResourcesLister")
    attributor = attribute()
    attributor.refresh()
    assert series(attributor)["gpuscope_podresources_errors_total"] == {("unimplemented",): 1}


def test_an_answer_beyond_all_measure_is_not_taken(kubelet, attribute, caplog, series, pods) -> None:
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


def test_a_device_id_without_end_does_not_fill_the_log(kubelet, attribute, caplog, pods) -> None:
    kubelet.answer(pods(("p", "x" * 100_000)))
    attribute().refresh()
    (line,) = [record.getMessage() for record in caplog.records if "odd_device_id" in record.getMessage()]
    assert len(line) < 400


def test_a_device_that_a_name_may_mean_is_not_told_free(kubelet, attribute, recorded, mig) -> None:
    kubelet.answer(recorded("dra")[0])
    attributor = attribute()
    attributor.refresh()
    assert [attributor.allocation.known(one.uuid) for one in mig] == ["allocated", "unknown", "unknown"]


def test_a_look_that_fails_leaves_nothing_stale_behind(kubelet, looks, gpus: list[GpuIdentity], pods) -> None:
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


def test_mig_devices_that_appear_are_known_at_once(kubelet, tmp_path: Path, looks, mig, pods) -> None:
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


def test_a_gpu_in_mig_mode_is_free_when_all_its_instances_are(kubelet, pods, looks, mig, gpus) -> None:
    seen = looks()
    attributor = Attributor(AttributionOptions(kubelet_socket=kubelet.socket), lambda: seen)
    attributor.refresh()
    assert attributor.allocation.known(gpus[3].uuid) == "unallocated"
    kubelet.answer(pods(("a", mig[1].uuid)))
    attributor.refresh()
    assert attributor.allocation.known(gpus[3].uuid) == "allocated"
    assert [attributor.allocation.known(one.uuid) for one in mig] == ["unallocated", "allocated", "unallocated"]
    seen = looks(up=False)
    attributor.refresh()
    assert attributor.allocation.known(gpus[3].uuid) == "allocated", "also while the GPU is lost"
    kubelet.answer(pods())
    kubelet.fail("UNAVAILABLE", "")
    attributor._answer = None  # as after a minute
    attributor.refresh()
    assert attributor.allocation.known(gpus[3].uuid) == "unknown"
    attributor._kubelet.close()


def test_who_holds_a_gpu_in_mig_mode_whole_holds_its_instances(kubelet, pods, looks, mig, gpus, series) -> None:
    attributor = Attributor(AttributionOptions(kubelet_socket=kubelet.socket), looks)
    kubelet.answer(pods(("all", gpus[3].uuid)))
    attributor.refresh()
    assert {attributor.allocation.known(one.uuid) for one in mig} == {"allocated"}
    counts = {labels[1:]: value for labels, value in series(attributor)["gpuscope_allocations"].items()}
    assert counts == {**{(gpu.uuid, ""): 0 for gpu in gpus[:3]}, (gpus[3].uuid, ""): 1}
    attributor._kubelet.close()


def test_a_gpu_that_was_never_reached_is_not_told_free(devices: Devices, gpus) -> None:
    allocation = Allocation(devices=devices, complete=True)
    assert allocation.known(gpus[0].uuid) == "unallocated"
    assert allocation.known("") == "unknown", "it has no UUID yet by which a holder could be found"


def test_a_process_that_tells_no_instance_makes_none_of_them_free(devices: Devices, mig, gpus) -> None:
    allocation = Allocation(devices=devices, in_use=frozenset({gpus[3].uuid, mig[0].uuid}), complete=True)
    assert [allocation.known(one.uuid) for one in mig] == ["allocated", "unknown", "unknown"]
    assert allocation.known(gpus[2].uuid) == "unallocated"


def test_a_lost_gpu_keeps_its_holders(
    kubelet, tmp_path: Path, looks, mig, gpus: list[GpuIdentity], series, pods
) -> None:
    """Whose job a lost GPU takes along is what the pager asks."""
    seen = looks()
    attributor = Attributor(AttributionOptions(kubelet_socket=kubelet.socket), lambda: seen)
    kubelet.answer(pods(("a", mig[0].uuid), ("b", gpus[1].uuid)))
    attributor.refresh()
    seen = looks(up=False)
    attributor.refresh()
    attributor._kubelet.close()
    assert {labels[4] for labels in series(attributor)["gpuscope_pod_allocation_info"]} == {"a", "b"}


def test_a_socket_path_that_the_kernel_does_not_take_is_reached_all_the_same(tmp_path: Path, gpus, pods) -> None:
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
