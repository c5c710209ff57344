"""What GPUs answer in MIG mode, what their MIG devices answer, and what happens when they are cut anew."""

import pynvml as nvml  # noqa: TID251
import pytest


def _identity(handle) -> tuple[str, int, int]:
    return (
        nvml.nvmlDeviceGetName(handle).rsplit(" ", 1)[1],
        nvml.nvmlDeviceGetGpuInstanceId(handle),
        nvml.nvmlDeviceGetComputeInstanceId(handle),
    )


def test_profiles_have_the_drivers_instance_ids_with_gaps(rig) -> None:
    one = rig("h100-mig")
    assert [_identity(handle) for handle in one.mig(4)] == [("1g.10gb", gi, 0) for gi in range(7, 14)]
    assert [_identity(handle) for handle in one.mig(5)] == [("3g.40gb", 1, 0), ("4g.40gb", 2, 0)]
    assert [_identity(handle) for handle in one.mig(6)] == [("2g.20gb", 3, 0), ("1g.20gb", 4, 0), ("3g.40gb", 1, 0)]
    assert [_identity(handle) for handle in one.mig(7)] == [
        ("1c.3g.40gb", 1, 0),
        ("2c.3g.40gb", 1, 1),
        ("2g.20gb", 3, 0),
    ]
    assert [nvml.nvmlDeviceGetIndex(handle) for handle in one.mig(6)] == [0, 1, 3]
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetMigDeviceHandleByIndex(one.gpu(6), 2)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetMigDeviceHandleByIndex(one.gpu(6), 7)


def test_a_parent_refuses_what_drivers_refuse_and_answers_the_rest(rig) -> None:
    one = rig("h100-mig")
    parent = one.gpu(5)
    refused = [
        nvml.nvmlDeviceGetUtilizationRates,
        nvml.nvmlDeviceGetEncoderUtilization,
        nvml.nvmlDeviceGetDecoderUtilization,
        nvml.nvmlDeviceGetJpgUtilization,
        nvml.nvmlDeviceGetOfaUtilization,
        nvml.nvmlDeviceGetRemappedRows,
        nvml.nvmlDeviceGetAccountingMode,
        lambda handle: nvml.nvmlDeviceGetNvLinkState(handle, 0),
        lambda handle: nvml.nvmlDeviceGetProcessUtilization(handle, 0),
        lambda handle: nvml.nvmlDeviceGetSamples(handle, nvml.NVML_GPU_UTILIZATION_SAMPLES, 0),
    ]
    for call in refused:
        with pytest.raises(nvml.NVMLError_NotSupported):
            call(parent)
    for field in one.fields(5, 138, 142, 145, 165):
        assert field.nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
    answered = [
        nvml.nvmlDeviceGetMemoryInfo,
        nvml.nvmlDeviceGetBAR1MemoryInfo,
        nvml.nvmlDeviceGetPowerUsage,
        nvml.nvmlDeviceGetTotalEnergyConsumption,
        nvml.nvmlDeviceGetPerformanceState,
        nvml.nvmlDeviceGetCurrentClocksEventReasons,
        nvml.nvmlDeviceGetRowRemapperHistogram,
        nvml.nvmlDeviceGetRepairStatus,
        lambda handle: nvml.nvmlDeviceGetSramEccErrorStatus(handle, nvml.byref(nvml.c_nvmlEccSramErrorStatus_v1_t())),
        nvml.nvmlDeviceGetPcieReplayCounter,
        lambda handle: nvml.nvmlDeviceGetTemperature(handle, 0),
        lambda handle: nvml.nvmlDeviceGetTotalEccErrors(handle, 0, 0),
        nvml.nvmlDeviceGetEncoderSessions,
    ]
    for call in answered:
        call(parent)
    whole = one.gpu(0)
    for call in (*refused, *answered):
        call(whole)


def test_a_mig_device_answers_memory_processes_and_little_else(rig) -> None:
    one = rig("h100-mig")
    device = one.mig(5)[0]
    assert nvml.nvmlDeviceIsMigDeviceHandle(device)
    assert not nvml.nvmlDeviceIsMigDeviceHandle(one.gpu(5))
    assert nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device)) == nvml.nvmlDeviceGetUUID(
        one.gpu(5)
    )
    attributes = nvml.nvmlDeviceGetAttributes_v2(device)
    assert (attributes.gpuInstanceSliceCount, attributes.computeInstanceSliceCount) == (3, 3)
    assert attributes.multiprocessorCount == 132 * 3 // 8
    assert attributes.memorySizeMB == nvml.nvmlDeviceGetMemoryInfo(device).total >> 20
    assert nvml.nvmlDeviceGetBAR1MemoryInfo(device).bar1Total < nvml.nvmlDeviceGetBAR1MemoryInfo(one.gpu(5)).bar1Total
    assert nvml.nvmlDeviceGetComputeMode(device) == nvml.NVML_COMPUTEMODE_DEFAULT
    for call in (
        nvml.nvmlDeviceGetPowerUsage,
        nvml.nvmlDeviceGetUtilizationRates,
        nvml.nvmlDeviceGetTotalEnergyConsumption,
        nvml.nvmlDeviceGetNumGpuCores,
        nvml.nvmlDeviceGetMigMode,
        nvml.nvmlDeviceGetPciInfo,
        lambda handle: nvml.nvmlDeviceGetPcieThroughput(handle, 0),
        lambda handle: nvml.nvmlDeviceGetTemperature(handle, 0),
    ):
        with pytest.raises(nvml.NVMLError_NotSupported):
            call(device)
    for call in (nvml.nvmlDeviceGetAttributes_v2, nvml.nvmlDeviceGetGpuInstanceId):
        with pytest.raises(nvml.NVMLError_NotSupported):
            call(one.gpu(0))
    with pytest.raises(nvml.NVMLError_NoPermission):
        nvml.nvmlDeviceGetGpuInstanceById(one.gpu(5), 1)


def test_compute_instances_of_one_gpu_instance_share_its_memory(rig) -> None:
    one = rig("h100-mig")
    first, second, other = one.mig(7)
    one.clock.advance(10)
    shared = [nvml.nvmlDeviceGetMemoryInfo(handle).used for handle in (first, second)]
    assert shared[0] == shared[1] > 0
    held = sum(
        process.usedGpuMemory
        for handle in (first, second)
        for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)
    )
    assert held <= shared[0]
    parent = nvml.nvmlDeviceGetMemoryInfo(one.gpu(7), version=nvml.nvmlMemory_v2).used
    assert parent == shared[0] + nvml.nvmlDeviceGetMemoryInfo(other).used


def test_uncorrected_sram_errors_reach_the_mig_device_they_hit(rig) -> None:
    one = rig("h100-mig")
    hit, spared = one.mig(5)
    one.driver.inject("ecc", gpu=5, sram=3, gi=1)

    def errors(handle, severity: int, period: int, location: int) -> int:
        return nvml.nvmlDeviceGetMemoryErrorCounter(handle, severity, period, location)

    sram, dram = nvml.NVML_MEMORY_LOCATION_SRAM, nvml.NVML_MEMORY_LOCATION_DRAM
    assert (errors(hit, 1, 0, sram), errors(spared, 1, 0, sram)) == (3, 0)
    assert errors(one.gpu(5), 1, 0, sram) == 3
    for question in ((1, 0, dram), (0, 0, sram), (1, 1, sram)):
        with pytest.raises(nvml.NVMLError_NotSupported):
            errors(hit, *question)


def test_a_new_layout_reuses_instance_ids_for_other_devices(rig) -> None:
    one = rig("h100-mig")
    before = one.mig(5)
    old = [nvml.nvmlDeviceGetUUID(handle) for handle in before]
    layout = [{"profile": "3g.40gb", "job": "batch"}, {"profile": "2g.20gb"}]
    one.driver.inject("mig", gpu=5, instances=layout)
    after = one.mig(5)
    assert [_identity(handle) for handle in after] == [("3g.40gb", 1, 0), ("2g.20gb", 3, 0)]
    assert not {nvml.nvmlDeviceGetUUID(handle) for handle in after} & set(old)
    # The same layout again is not the same devices.
    one.driver.inject("mig", gpu=5, instances=layout)
    assert not {nvml.nvmlDeviceGetUUID(handle) for handle in one.mig(5)} & set(old)


def test_the_handle_of_a_mig_device_that_is_gone_is_refused(rig) -> None:
    one = rig("h100-mig")
    gone = one.mig(5)[1]
    one.driver.inject("mig", gpu=5, instances=[{"profile": "7g.80gb"}])
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetMemoryInfo(gone)


def test_a_gpu_becomes_whole_and_is_cut_while_it_runs(rig) -> None:
    one = rig("h100-mig+mig-reconfigured")
    assert nvml.nvmlDeviceGetMigMode(one.gpu(3)) == [0, 0]
    one.clock.advance(41)
    assert nvml.nvmlDeviceGetMigMode(one.gpu(3)) == [1, 1]
    assert [_identity(handle) for handle in one.mig(3)] == [("7g.80gb", 0, 0)]
    assert nvml.nvmlDeviceGetMigMode(one.gpu(6)) == [0, 0]
    assert one.mig(6) == []
    assert nvml.nvmlDeviceGetUtilizationRates(one.gpu(6)).gpu >= 0


def test_mig_mode_can_be_on_without_any_instance(rig) -> None:
    one = rig("h100-mig")
    one.driver.inject("mig", gpu=0, instances=[], mode=True)
    assert nvml.nvmlDeviceGetMigMode(one.gpu(0)) == [1, 1]
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetUtilizationRates(one.gpu(0))
    assert sum(nvml.nvmlDeviceGetRemappedRows(one.gpu(0))) == 0
