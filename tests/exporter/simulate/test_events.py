"""Event sets: what was registered is delivered, from other threads and by the story; nothing else is."""

import threading
import time

import pynvml as nvml  # noqa: TID251
import pytest

from gpuscope import simulate

XID = nvml.nvmlEventTypeXidCriticalError
NO_INSTANCE = 0xFFFFFFFF
PATIENCE_S = 30.0


def _registered(one, *gpus: int, mask: int = XID):
    events = nvml.nvmlEventSetCreate()
    for index in gpus:
        nvml.nvmlDeviceRegisterEvents(one.gpu(index), mask, events)
    return events


def _handle(device) -> int | None:
    return nvml.cast(device, nvml.c_void_p).value


def test_an_event_from_another_thread_ends_the_wait(rig) -> None:
    one = rig("h100-mig")
    events = _registered(one, 0, 5)
    later = threading.Timer(0.2, lambda: one.driver.inject("xid", gpu=5, code=94, gi=1, ci=0, message="Contained"))
    later.start()
    data = nvml.nvmlEventSetWait_v2(events, 20_000)
    later.join()
    assert (data.eventType, data.eventData, data.gpuInstanceId, data.computeInstanceId) == (XID, 94, 1, 0)
    assert _handle(data.device) == _handle(one.gpu(5))
    one.driver.inject("xid", gpu=0, code=31)
    data = nvml.nvmlEventSetWait_v2(events, 1000)
    assert (data.eventData, data.gpuInstanceId, data.computeInstanceId) == (31, NO_INSTANCE, NO_INSTANCE)


def test_without_an_event_the_wait_times_out(rig) -> None:
    one = rig("h100x8")
    events = _registered(one, 0)
    one.driver.inject("xid", gpu=1, code=79)
    one.driver.inject("recovery_action", gpu=0, action=1)
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlEventSetWait_v2(events, 20)


def test_types_that_a_gpu_lacks_cannot_be_registered(rig) -> None:
    one = rig("l40s")
    l40s, geforce = (nvml.nvmlDeviceGetSupportedEventTypes(one.gpu(index)) for index in (0, 4))
    assert l40s & nvml.nvmlEventTypeDoubleBitEccError
    assert not geforce & nvml.nvmlEventTypeDoubleBitEccError
    assert not l40s & 0x100
    events = nvml.nvmlEventSetCreate()
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceRegisterEvents(one.gpu(4), nvml.nvmlEventTypeDoubleBitEccError, events)
    old = rig("driver-535-early")
    assert not nvml.nvmlDeviceGetSupportedEventTypes(old.gpu(0)) & nvml.nvmlEventTypeGpuRecoveryAction


def test_mig_devices_have_no_events(rig) -> None:
    one = rig("h100-mig")
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceRegisterEvents(one.mig(5)[0], XID, nvml.nvmlEventSetCreate())


def test_reconfiguration_recovery_and_memory_faults_are_events(rig) -> None:
    one = rig("h100-mig")
    types = nvml.nvmlDeviceGetSupportedEventTypes(one.gpu(0))
    events = _registered(one, *range(8), mask=types)
    one.driver.inject("mig", gpu=5, instances=[])
    one.driver.inject("recovery_action", gpu=2, action=4)
    one.driver.inject("nvml_event", gpu=1, type=0x400)
    found = [nvml.nvmlEventSetWait_v2(events, 1000) for _ in range(3)]
    assert [(event.eventType, event.eventData) for event in found] == [(0x100, 0), (0x8000, 4), (0x400, 0)]


def test_a_burst_is_one_event_and_every_line_of_the_log(rig, tmp_path) -> None:
    one = rig("h100x8", kernel_log=tmp_path / "kmsg")
    events = _registered(one, 2)
    one.driver.inject("xid", gpu=2, code=13, times=1000, message="Graphics SM Warp Exception")
    assert nvml.nvmlEventSetWait_v2(events, 1000).eventData == 13
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlEventSetWait_v2(events, 10)
    assert len((tmp_path / "kmsg").read_text().splitlines()) == 1000


def test_the_story_wakes_a_waiting_program(rig) -> None:
    one = rig("h100x8+gpu-lost", clock=simulate.RealClock(speed=40))
    events = _registered(one, 3)
    started = time.monotonic()
    assert nvml.nvmlEventSetWait_v2(events, 20_000).eventData == 79
    assert time.monotonic() - started < 19


def test_a_driver_that_goes_ends_the_wait(rig) -> None:
    one = rig("h100x8")
    events = _registered(one, 0)
    threading.Timer(0.1, lambda: one.driver.inject("driver_unloaded")).start()
    with pytest.raises(nvml.NVMLError) as error:
        nvml.nvmlEventSetWait_v2(events, 20_000)
    assert error.value.value in {nvml.NVML_ERROR_DRIVER_NOT_LOADED, nvml.NVML_ERROR_UNINITIALIZED}


def test_shutdown_ends_the_wait_of_other_threads(rig) -> None:
    one = rig("h100x8")
    events = _registered(one, 0)
    codes: list[int] = []

    def wait() -> None:
        try:
            nvml.nvmlEventSetWait_v2(events, 60_000)
        except nvml.NVMLError as error:
            codes.append(error.value)

    thread = threading.Thread(target=wait)
    thread.start()
    nvml.nvmlShutdown()
    thread.join(PATIENCE_S)
    assert codes in ([nvml.NVML_ERROR_UNINITIALIZED], [nvml.NVML_ERROR_INVALID_ARGUMENT])


def test_a_set_that_was_freed_is_refused(rig) -> None:
    one = rig("h100x8")
    events = _registered(one, 0)
    nvml.nvmlEventSetFree(events)
    for call in (
        lambda: nvml.nvmlEventSetFree(events),
        lambda: nvml.nvmlEventSetWait_v2(events, 10),
        lambda: nvml.nvmlDeviceRegisterEvents(one.gpu(0), XID, events),
    ):
        with pytest.raises(nvml.NVMLError_InvalidArgument):
            call()
