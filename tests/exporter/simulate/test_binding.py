"""The real binding finds in every scenario what a driver gives: layouts, sizes, codes."""

import inspect
import time

import pynvml as nvml  # noqa: TID251
import pytest

from gpuscope import simulate

ALL = [info.name for info in simulate.scenarios()]
NODES = [info.name for info in simulate.scenarios() if info.kind == "node"]
SAFE = ("nvmlDeviceGet", "nvmlDeviceIs", "nvmlSystemGet")


@pytest.mark.parametrize("scenario", ALL)
def test_every_scenario_enumerates(rig, scenario: str) -> None:
    one = rig(scenario, init=False)
    one.clock.advance(61 if scenario == "no-driver" else 0)
    nvml.nvmlInit()
    count = nvml.nvmlDeviceGetCount()
    uuids = {nvml.nvmlDeviceGetUUID(one.gpu(index)) for index in range(count)}
    assert len(uuids) == count == len(one.driver.scenario.gpus)
    for index in range(count):
        memory = nvml.nvmlDeviceGetMemoryInfo(one.gpu(index), version=nvml.nvmlMemory_v2)
        assert memory.total == one.driver.node.gpus[index].model.memory
        for handle in one.mig(index):
            assert nvml.nvmlDeviceGetUUID(handle).startswith("MIG-")


@pytest.mark.parametrize("scenario", [*NODES, "blank-sentinels", "driver-535-early"])
def test_every_getter_of_the_binding_answers_or_refuses(rig, scenario: str) -> None:
    one = rig(scenario)
    one.clock.advance(30)
    handles = [one.gpu(index) for index in range(nvml.nvmlDeviceGetCount())]
    handles += [handle for index in range(len(handles)) for handle in one.mig(index)[:2]]
    answered = set()
    for name, function in inspect.getmembers(nvml, inspect.isfunction):
        if not name.startswith(SAFE) or name.startswith("nvmlDeviceGetVgpu"):
            continue
        needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
        takes_handle = bool(needed) and needed[0].name in {"handle", "device"}
        if len(needed) > 2 or (needed and not takes_handle):
            continue
        for handle in handles if takes_handle else [None]:
            arguments = [0] * len(needed) if handle is None else [handle, *[0] * (len(needed) - 1)]
            try:
                function(*arguments)
                answered.add(name)
            except (nvml.NVMLError, TypeError, ValueError):
                continue
    assert len(answered) > 70
    assert one.driver.callback_errors == []


def test_an_unknown_symbol_is_a_function_that_was_not_found(rig) -> None:
    one = rig("h100x8")
    with pytest.raises(nvml.NVMLError_FunctionNotFound):
        nvml.nvmlDeviceGetVgpuHeterogeneousMode(one.gpu(0))
    with pytest.raises(AttributeError, match="undefined symbol: nvmlNoSuchThing"):
        _ = one.driver.nvmlNoSuchThing


def test_an_old_driver_lacks_young_functions(rig) -> None:
    one = rig("driver-535-early")
    with pytest.raises(nvml.NVMLError_FunctionNotFound):
        nvml.nvmlDeviceGetMarginTemperature(one.gpu(0))
    assert nvml.nvmlDeviceGetTemperature(one.gpu(0), 0) > 30


def test_identity_is_that_of_the_model_and_follows_the_seed(rig) -> None:
    one = rig("h100x8", seed="rack-1")
    handle = one.gpu(2)
    assert nvml.nvmlDeviceGetName(handle) == "NVIDIA H100 80GB HBM3"
    assert nvml.nvmlDeviceGetCudaComputeCapability(handle) == (9, 0)
    assert nvml.nvmlDeviceGetMinorNumber(handle) == 3 != nvml.nvmlDeviceGetIndex(handle)
    pci = nvml.nvmlDeviceGetPciInfo(handle)
    assert (pci.busId, pci.busIdLegacy, pci.bus) == ("00000000:52:00.0", "0000:52:00.0", 0x52)
    assert pci.pciDeviceId == 0x233010DE
    uuid, serial = nvml.nvmlDeviceGetUUID(handle), nvml.nvmlDeviceGetSerial(handle)
    again = simulate.SimulatedDriver(simulate.load("h100x8"), seed="rack-1")
    other = simulate.SimulatedDriver(simulate.load("h100x8"), seed="rack-2")
    assert again.node.gpus[2].uuid == uuid
    assert again.node.gpus[2].serial == serial
    assert other.node.gpus[2].uuid != uuid


def test_a_gpu_is_found_by_each_of_its_names(rig) -> None:
    one = rig("h100-mig")
    handle = one.gpu(6)
    wanted = nvml.nvmlDeviceGetUUID(handle)
    for found in (
        nvml.nvmlDeviceGetHandleByUUID(wanted),
        nvml.nvmlDeviceGetHandleBySerial(nvml.nvmlDeviceGetSerial(handle)),
        nvml.nvmlDeviceGetHandleByPciBusId(nvml.nvmlDeviceGetPciInfo(handle).busId),
        nvml.nvmlDeviceGetHandleByPciBusId("0000:d1:00.0"),
    ):
        assert nvml.nvmlDeviceGetUUID(found) == wanted
    instance = nvml.nvmlDeviceGetUUID(one.mig(6)[1])
    assert nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByUUID(instance)) == instance
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetHandleByUUID("GPU-none")
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        one.gpu(8)


def test_reserved_memory_is_apart_in_version_2_and_used_in_version_1(rig) -> None:
    one = rig("h100x8")
    first = nvml.nvmlDeviceGetMemoryInfo(one.gpu(0))
    second = nvml.nvmlDeviceGetMemoryInfo(one.gpu(0), version=nvml.nvmlMemory_v2)
    assert first.used == second.used + second.reserved
    assert first.free == second.free
    assert second.total == second.used + second.reserved + second.free
    with pytest.raises(nvml.NVMLError) as error:
        nvml.nvmlDeviceGetMemoryInfo(one.gpu(0), version=0x0300_0028)
    assert error.value.value == nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH


def test_sessions_are_counted(rig) -> None:
    one = rig("h100x8")
    nvml.nvmlInit()
    nvml.nvmlShutdown()
    assert nvml.nvmlDeviceGetCount() == 8
    nvml.nvmlShutdown()
    for call in (nvml.nvmlDeviceGetCount, nvml.nvmlShutdown, nvml.nvmlEventSetCreate, nvml.nvmlGpmSampleAlloc):
        with pytest.raises(nvml.NVMLError_Uninitialized):
            call()
    assert not one.driver.node.initialized


def test_a_buffer_too_small_is_told(rig) -> None:
    one = rig("h100x8")
    buffer = nvml.create_string_buffer(4)
    code = one.driver.nvmlDeviceGetName(one.gpu(0), buffer, 4)
    assert code == nvml.NVML_ERROR_INSUFFICIENT_SIZE
    assert one.driver.nvmlDeviceGetMinorNumber(one.gpu(0), None) == nvml.NVML_ERROR_INVALID_ARGUMENT
    assert nvml.nvmlErrorString(15) == "GPU is lost"


def test_a_mistake_of_the_simulator_is_an_error_and_is_remembered() -> None:
    driver = simulate.SimulatedDriver(simulate.load("h100x8"), clock=simulate.ManualClock())
    driver.node.gpus.append(None)  # type: ignore[arg-type] - what no scenario can make
    assert driver.nvmlInitWithFlags(0) == 0
    assert driver.nvmlDeviceGetHandleByUUID(b"GPU-none", None) == nvml.NVML_ERROR_UNKNOWN
    assert len(driver.callback_errors) == 1
    assert driver.callback_errors[0].startswith("nvmlDeviceGetHandleByUUID: AttributeError")


def test_the_drivers_own_cost_is_counted(rig) -> None:
    one = rig("h100-mig")
    before = one.driver.cost_seconds
    for _ in range(200):
        nvml.nvmlDeviceGetPowerUsage(one.gpu(4))
    assert one.driver.cost_seconds > before


def test_what_a_model_lacks_is_not_supported(rig) -> None:
    one = rig("l40s")
    l40s, geforce, v100 = one.gpu(0), one.gpu(4), one.gpu(5)
    for call in (
        lambda: nvml.nvmlDeviceGetRemappedRows(l40s),
        lambda: nvml.nvmlDeviceGetRowRemapperHistogram(l40s),
        lambda: nvml.nvmlDeviceGetNvLinkState(l40s, 0),
        lambda: nvml.nvmlDeviceGetMigMode(l40s),
        lambda: nvml.nvmlDeviceGetFanSpeed(l40s),
        lambda: nvml.nvmlDeviceGetRetiredPages(l40s, 0),
        lambda: nvml.nvmlDeviceGetEccMode(geforce),
        lambda: nvml.nvmlDeviceGetTotalEccErrors(geforce, 0, 0),
        lambda: nvml.nvmlDeviceGetMarginTemperature(v100),
    ):
        with pytest.raises(nvml.NVMLError_NotSupported):
            call()
    assert one.fields(0, 82)[0].nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
    assert nvml.nvmlDeviceGetFanSpeed(geforce) > 30
    assert len(nvml.nvmlDeviceGetRetiredPages(v100, 0)) == 3
    # The binding's own wrapper of version 2 leaves an argument out.
    count, pages, times = nvml.c_uint(8), (nvml.c_ulonglong * 8)(), (nvml.c_ulonglong * 8)()
    assert one.driver.nvmlDeviceGetRetiredPages_v2(v100, 0, nvml.byref(count), pages, times) == 0
    assert (count.value, times[2] > 0, times[3]) == (3, True, 0)
    assert nvml.nvmlDeviceGetRetiredPages(v100, 1) == []


def test_a_rack_has_a_fabric_a_server_has_none(rig) -> None:
    one = rig("gb200")
    info = nvml.c_nvmlGpuFabricInfo_v3_t()
    nvml.nvmlDeviceGetGpuFabricInfoV(one.gpu(0), nvml.byref(info))
    assert (info.state, info.status, info.cliqueId, info.healthSummary) == (3, 0, 7, 1)
    assert any(info.clusterUuid)
    assert info.healthMask >> 12 & 3 == 1
    assert nvml.nvmlDeviceGetC2cModeInfoV(one.gpu(0)).isC2cEnabled == 1
    other = rig("h100x8")
    nvml.nvmlDeviceGetGpuFabricInfoV(other.gpu(0), nvml.byref(info))
    assert (info.state, info.cliqueId, info.healthMask, any(info.clusterUuid)) == (3, 0, 0, False)
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetGpuFabricInfo(rig("a100-mig").gpu(0), nvml.byref(nvml.c_nvmlGpuFabricInfo_t()))


def test_topology_is_that_of_two_sockets(rig) -> None:
    one = rig("h100x8")
    first, second, far = one.gpu(0), one.gpu(1), one.gpu(7)
    assert nvml.nvmlDeviceGetTopologyCommonAncestor(first, second) == nvml.NVML_TOPOLOGY_NODE
    assert nvml.nvmlDeviceGetTopologyCommonAncestor(first, far) == nvml.NVML_TOPOLOGY_SYSTEM
    assert len(nvml.nvmlDeviceGetTopologyNearestGpus(first, nvml.NVML_TOPOLOGY_NODE)) == 3
    assert nvml.nvmlDeviceGetP2PStatus(first, far, 0) == nvml.NVML_P2P_STATUS_OK


def test_links_and_virtual_machines(rig) -> None:
    one = rig("h100x8")
    assert nvml.nvmlDeviceGetNvLinkVersion(one.gpu(0), 17) == 4
    assert nvml.nvmlDeviceGetNvLinkRemoteDeviceType(one.gpu(0), 0) == nvml.NVML_NVLINK_DEVICE_TYPE_SWITCH
    assert nvml.nvmlDeviceGetNvLinkRemotePciInfo(one.gpu(0), 0).busId == "00000000:85:00.0"
    assert nvml.nvmlDeviceGetNvLinkCapability(one.gpu(0), 0, nvml.NVML_NVLINK_CAP_VALID) == 1
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlDeviceGetNvLinkState(one.gpu(0), 18)
    one.driver.inject("nvlink", gpu=0, link=3, error="replay", count=5)
    assert nvml.nvmlDeviceGetNvLinkErrorCounter(one.gpu(0), 3, nvml.NVML_NVLINK_ERROR_DL_REPLAY) == 5
    host = rig("l40s")
    assert nvml.nvmlDeviceGetVirtualizationMode(host.gpu(3)) == nvml.NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceGetActiveVgpus(host.gpu(0))


def test_confidential_computing_is_told_where_it_is_on(rig) -> None:
    rig("gb200")
    settings = nvml.c_nvmlSystemConfComputeSettings_v1_t()
    assert nvml.nvmlSystemGetConfComputeSettings(nvml.byref(settings)) == 0
    assert settings.ccFeature == 1
    assert nvml.nvmlSystemGetConfComputeGpusReadyState() == 1
    rig("h100x8")
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlSystemGetConfComputeState()


class InterruptingClock(simulate.ManualClock):
    """Stands for a signal handler that raises in the middle of a call."""

    raising: type[BaseException] | None = None

    def now(self) -> float:
        raising, self.raising = self.raising, None
        if raising is not None:
            raise raising
        return super().now()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_call_ends_well_and_the_interrupt_comes_behind_it(rig, kind: type[BaseException]) -> None:
    one = rig("h100x8", clock=InterruptingClock())
    handle = one.gpu(0)
    milliwatts = []

    def work() -> None:
        one.clock.raising = kind
        milliwatts.append(nvml.nvmlDeviceGetPowerUsage(handle))
        end = time.monotonic() + 30
        while time.monotonic() < end:
            time.sleep(0.01)

    with pytest.raises(kind):
        work()
    assert milliwatts[0] > 60_000
