"""What happens while programs run: lost GPUs, calls that hang, drivers that come and go, memory errors."""

import threading

import pynvml as nvml  # noqa: TID251
import pytest

PATIENCE_S = 30.0


def test_a_lost_gpu_is_lost_alone_and_can_come_back(rig) -> None:
    one = rig("h100x8+gpu-lost")
    lost, other = one.gpu(3), one.gpu(4)
    one.clock.advance(21)
    for call in (nvml.nvmlDeviceGetPowerUsage, nvml.nvmlDeviceGetName, nvml.nvmlDeviceGetMemoryInfo):
        with pytest.raises(nvml.NVMLError_GpuIsLost):
            call(lost)
        call(other)
    with pytest.raises(nvml.NVMLError_GpuIsLost):
        one.gpu(3)
    assert nvml.nvmlDeviceGetCount() == 8
    one.clock.advance(100)
    assert nvml.nvmlDeviceGetPowerUsage(lost) > 60_000


def test_a_gpu_that_needs_a_reset_says_so(rig) -> None:
    one = rig("h100x8")
    handle = one.gpu(0)
    one.driver.inject("reset_required", gpu=0)
    with pytest.raises(nvml.NVMLError_ResetRequired):
        nvml.nvmlDeviceGetPowerUsage(handle)


def _in_thread(call, *args) -> tuple[threading.Thread, list[object]]:
    answers: list[object] = []

    def run() -> None:
        try:
            answers.append(call(*args))
        except nvml.NVMLError as error:
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, answers


def test_a_wedged_call_blocks_callers_of_its_gpu_only(rig) -> None:
    one = rig("h100x8")
    stuck, free = one.gpu(1), one.gpu(2)
    one.driver.inject("wedge", gpu=1)
    threads = [_in_thread(nvml.nvmlDeviceGetPowerUsage, stuck) for _ in range(2)]
    for _ in range(20):
        one.clock.advance(1)
        assert nvml.nvmlDeviceGetPowerUsage(free) > 60_000
        assert nvml.nvmlDeviceGetCount() == 8
    threads[0][0].join(0.3)
    assert all(thread.is_alive() and not answers for thread, answers in threads)
    one.driver.inject("unwedge", gpu=1)
    for thread, answers in threads:
        thread.join(PATIENCE_S)
        assert answers
        assert answers[0] > 60_000


def test_only_some_calls_hang_when_the_scenario_names_them(rig) -> None:
    one = rig("h100x8")
    handle = one.gpu(1)
    one.driver.inject("wedge", gpu=1, calls=["nvmlDeviceGetTemperature"])
    assert nvml.nvmlDeviceGetPowerUsage(handle) > 60_000
    thread, answers = _in_thread(nvml.nvmlDeviceGetTemperature, handle, 0)
    thread.join(0.3)
    assert thread.is_alive()
    one.driver.inject("unwedge", gpu=1)
    thread.join(PATIENCE_S)
    assert answers[0] > 30


def test_a_call_that_hangs_goes_on_when_the_story_says_so(rig) -> None:
    one = rig("h100x8+call-wedged")
    handle = one.gpu(1)
    one.clock.advance(30)
    thread, answers = _in_thread(nvml.nvmlDeviceGetPowerUsage, handle)
    thread.join(0.3)
    assert thread.is_alive()
    # Nobody else calls: the waiting call itself finds that its time has come.
    one.clock.advance(61)
    thread.join(PATIENCE_S)
    assert answers[0] > 60_000


def test_closing_the_driver_lets_hanging_calls_go(rig) -> None:
    one = rig("h100x8")
    handle = one.gpu(1)
    one.driver.inject("wedge", gpu=1)
    thread, answers = _in_thread(nvml.nvmlDeviceGetPowerUsage, handle)
    one.driver.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert answers


def test_a_driver_goes_mismatches_and_comes_back_newer(rig) -> None:
    one = rig("h100x8+driver-reloaded")
    handle = one.gpu(0)
    one.clock.advance(15)
    before = nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    assert nvml.nvmlSystemGetDriverVersion() == "580.65.06"
    one.clock.advance(6)
    with pytest.raises(nvml.NVMLError_Uninitialized):
        nvml.nvmlDeviceGetPowerUsage(handle)
    with pytest.raises(nvml.NVMLError_DriverNotLoaded):
        nvml.nvmlInit()
    one.clock.advance(10)
    with pytest.raises(nvml.NVMLError_LibRmVersionMismatch):
        nvml.nvmlInit()
    one.clock.advance(10)
    nvml.nvmlInit()
    assert nvml.nvmlSystemGetDriverVersion() == "590.48.01"
    assert nvml.nvmlDeviceGetTotalEnergyConsumption(one.gpu(0)) < before


def test_gpm_samples_of_the_old_driver_are_worthless(rig) -> None:
    one = rig("h100x8")
    sample = nvml.nvmlGpmSampleAlloc()
    one.clock.advance(20)
    nvml.nvmlGpmSampleGet(one.gpu(0), sample)
    one.driver.inject("driver_unloaded")
    one.driver.inject("driver_loaded", version="595.45.04")
    nvml.nvmlInit()
    one.clock.advance(1)
    second = nvml.nvmlGpmSampleAlloc()
    nvml.nvmlGpmSampleGet(one.gpu(0), second)
    ask = nvml.c_nvmlGpmMetricsGet_t()
    ask.version, ask.numMetrics, ask.sample1, ask.sample2 = 1, 1, sample, second
    ask.metrics[0].metricId = 2
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlGpmMetricsGet(ask)


def test_no_library_until_the_driver_is_installed(rig) -> None:
    one = rig("h100x8+no-driver", init=False)
    with pytest.raises(nvml.NVMLError_LibraryNotFound):
        nvml.nvmlInit()
    with pytest.raises(OSError, match=r"libnvidia-ml\.so\.1: cannot open shared object file"):
        one.driver.open()
    one.clock.advance(61)
    nvml.nvmlInit()
    assert nvml.nvmlDeviceGetCount() == 8
    # A driver that is unloaded later leaves its library behind.
    one.driver.inject("driver_unloaded")
    assert one.driver.open() is one.driver


def test_memory_errors_are_counted_by_place_and_severity(rig) -> None:
    one = rig("h100x8+ecc-storm")
    one.clock.advance(40)
    corrected = nvml.nvmlDeviceGetTotalEccErrors(one.gpu(6), nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED, 0)
    assert corrected == pytest.approx(50 * 30, abs=1)
    hit, uncorrected = one.gpu(7), nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    assert nvml.nvmlDeviceGetTotalEccErrors(hit, uncorrected, 0) == 3
    by_place = [
        nvml.nvmlDeviceGetMemoryErrorCounter(hit, uncorrected, 0, place)
        for place in (nvml.NVML_MEMORY_LOCATION_DRAM, nvml.NVML_MEMORY_LOCATION_SRAM)
    ]
    assert by_place == [1, 2]
    counts = nvml.nvmlDeviceGetDetailedEccErrors(hit, uncorrected, 0)
    assert (counts.l2Cache, counts.deviceMemory) == (2, 1)
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    nvml.nvmlDeviceGetSramEccErrorStatus(hit, nvml.byref(status))
    assert (status.volatileUncParity, status.aggregateUncBucketL2, status.bThresholdExceeded) == (2, 2, 1)
    lifetime = nvml.nvmlDeviceGetTotalEccErrors(one.gpu(6), 0, nvml.NVML_AGGREGATE_ECC)
    assert lifetime > corrected
    one.driver.inject("driver_unloaded")
    one.driver.inject("driver_loaded", version="590.48.01")
    nvml.nvmlInit()
    assert nvml.nvmlDeviceGetTotalEccErrors(one.gpu(7), uncorrected, 0) == 0
    assert nvml.nvmlDeviceGetTotalEccErrors(one.gpu(7), uncorrected, nvml.NVML_AGGREGATE_ECC) == 3


def test_repairs_and_replays_wait_and_count(rig) -> None:
    one = rig("h100x8")
    one.driver.inject("repair", gpu=0, channel=True)
    one.driver.inject("pcie_replay", gpu=0, count=7)
    assert nvml.nvmlDeviceGetRepairStatus(one.gpu(0)) == [1, 0]
    assert nvml.nvmlDeviceGetPcieReplayCounter(one.gpu(0)) == 7
    assert one.fields(0, 94)[0].value.uiVal == 7


def test_another_job_changes_the_load_at_once(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(2)
    assert nvml.nvmlDeviceGetUtilizationRates(one.gpu(0)).gpu > 80
    one.driver.inject("job", gpu=0, kind="idle")
    assert nvml.nvmlDeviceGetUtilizationRates(one.gpu(0)).gpu == 0
    assert nvml.nvmlDeviceGetPerformanceState(one.gpu(0)) == 8
    assert nvml.nvmlDeviceGetCurrPcieLinkGeneration(one.gpu(0)) == 1


def test_an_event_takes_effect_at_its_time_not_when_somebody_looks(rig) -> None:
    one, other = rig("h100x8+thermal"), rig("h100x8+thermal")
    for _ in range(120):
        one.clock.advance(1)
        one.driver.node.tick()
    other.clock.advance(120)
    other.driver.node.tick()
    times = []
    for driver in (one.driver, other.driver):
        gpu = driver.node.gpus[2]
        gpu.advance(driver.clock.now())
        times.append(gpu.event_ns["brake"])
    assert times == [pytest.approx(30e9), pytest.approx(30e9)]


@pytest.mark.parametrize(
    ("kind", "arguments", "reason"),
    [
        ("explode", {}, "'explode' is not one of"),
        ("xid", {"gpu": 0}, "code: xid needs it"),
        ("xid", {"gpu": 8, "code": 79}, "gpu: 8 is not a whole number from 0 to 7; the machine has 8 GPUs"),
        ("xid", {"gpu": 0, "code": "79"}, "code: '79' is not a whole number"),
        ("xid", {"gpu": 0, "code": 79, "mesage": "x"}, "mesage: unknown key; did you mean message?"),
        ("xid", {"gpu": 0, "code": 79, "message": "a\nb"}, "message: 'a\\nb' is not one line of text"),
        ("lost", {}, "gpu: lost needs it"),
        ("heat", {"gpu": 0, "celsius": float("nan")}, "celsius: nan is not a number from -30 to 100"),
        ("power_brake", {"gpu": 0, "active": 1}, "active: 1 is neither true nor false"),
        ("job", {"gpu": 0, "kind": "mining"}, "kind: 'mining' is not one of training"),
        ("driver_loaded", {"version": "new"}, "version: 'new' is no driver version"),
        ("wedge", {"gpu": 0, "calls": "all"}, "calls: 'all' is not a list of NVML functions"),
        ("mig", {"gpu": 0, "instances": [{"profile": "9g.90gb"}]}, "instances.0.profile: '9g.90gb' is not one of"),
        ("nvlink", {"gpu": 0, "error": "gremlins"}, "error: 'gremlins' is not one of replay"),
    ],
)
def test_what_cannot_happen_is_refused_and_changes_nothing(rig, kind: str, arguments: dict, reason: str) -> None:
    one = rig("h100x8")
    with pytest.raises(ValueError, match=r".") as error:
        one.driver.inject(kind, **arguments)
    assert reason in str(error.value)
    assert nvml.nvmlDeviceGetPowerUsage(one.gpu(0)) > 60_000


def test_a_model_without_mig_cannot_be_cut(rig) -> None:
    one = rig("l40s")
    with pytest.raises(ValueError, match="NVIDIA L40S has no MIG"):
        one.driver.inject("mig", gpu=0, instances=[])
