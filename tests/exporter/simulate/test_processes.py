"""Process lists: the size protocol, instance ids, versions of the structure, names."""

import pynvml as nvml  # noqa: TID251
import pytest

NO_INSTANCE = 0xFFFFFFFF


def test_lists_name_processes_memory_and_instances(rig) -> None:
    one = rig("h100-mig")
    one.clock.advance(1)
    whole = nvml.nvmlDeviceGetComputeRunningProcesses(one.gpu(0))
    assert len(whole) == 2
    assert {process.gpuInstanceId for process in whole} == {NO_INSTANCE}
    used = nvml.nvmlDeviceGetMemoryInfo(one.gpu(0), version=nvml.nvmlMemory_v2).used
    assert 0.9 * used < sum(process.usedGpuMemory for process in whole) <= used
    parent = nvml.nvmlDeviceGetComputeRunningProcesses(one.gpu(7))
    assert [(process.gpuInstanceId, process.computeInstanceId) for process in parent] == [(1, 0), (1, 1)]
    child = nvml.nvmlDeviceGetComputeRunningProcesses(one.mig(7)[1])
    assert [process.pid for process in child] == [parent[1].pid]
    assert nvml.nvmlDeviceGetGraphicsRunningProcesses(one.gpu(0)) == []
    assert nvml.nvmlDeviceGetMPSComputeRunningProcesses(one.gpu(0)) == []
    assert nvml.nvmlDeviceGetComputeRunningProcesses(one.gpu(3)) == []
    assert "finetune" in nvml.nvmlSystemGetProcessName(whole[0].pid)
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlSystemGetProcessName(1)


def test_a_list_that_does_not_fit_tells_its_size(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(1)
    count, buffer = nvml.c_uint(1), (nvml.c_nvmlProcessInfo_v2_t * 1)()
    code = one.driver.nvmlDeviceGetComputeRunningProcesses_v3(one.gpu(0), nvml.byref(count), buffer)
    assert (code, count.value, buffer[0].pid) == (nvml.NVML_ERROR_INSUFFICIENT_SIZE, 2, 0)


def test_all_versions_of_the_list_name_the_same_processes(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(1)
    wanted = [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses_v3(one.gpu(0))]
    assert [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses_v2(one.gpu(0))] == wanted

    class First(nvml.Structure):
        _fields_ = (("pid", nvml.c_uint), ("used", nvml.c_ulonglong))

    count, buffer = nvml.c_uint(8), (First * 8)()
    assert one.driver.nvmlDeviceGetComputeRunningProcesses(one.gpu(0), nvml.byref(count), buffer) == 0
    assert [entry.pid for entry in buffer[: count.value]] == wanted


def test_an_early_r535_driver_scrambles_version_3_only(rig) -> None:
    one = rig("driver-535-early")
    one.clock.advance(1)
    right = [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses_v2(one.gpu(0))]
    scrambled = nvml.nvmlDeviceGetComputeRunningProcesses_v3(one.gpu(0))
    assert right == [20000, 20003]
    assert scrambled[0].pid == 20000
    assert scrambled[1].pid != 20003


def test_utilization_of_processes(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(3)
    samples = nvml.nvmlDeviceGetProcessUtilization(one.gpu(0), 0)
    assert [sample.pid for sample in samples] == [20000, 20003]
    assert all(0 < sample.smUtil <= 100 for sample in samples)
    newer = nvml.nvmlDeviceGetProcessesUtilizationInfo(one.gpu(0), 0)
    assert [(sample.pid, sample.smUtil) for sample in newer] == [(sample.pid, sample.smUtil) for sample in samples]
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetProcessUtilization(one.gpu(0), samples[0].timeStamp)
