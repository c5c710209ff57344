"""Counters are exact integrals of the gauges, monotone, and the same whoever looks when."""

from itertools import pairwise

import pynvml as nvml  # noqa: TID251
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope import simulate
from gpuscope.simulate.activity import KINDS, load_at
from gpuscope.simulate.device import SimGpu

STEPS = st.lists(st.floats(0.001, 40), min_size=1, max_size=12)


def _state(gpu: SimGpu) -> list[float]:
    stores = (gpu.integrals, gpu.totals, gpu.pcie, gpu.nvlink, gpu.event_ns, gpu.ecc)
    values = [value for store in stores for value in store.values()]
    return [*values, *(value for one in gpu.mig for value in one.integrals.values())]


def _node(scenario: str) -> tuple[simulate.ManualClock, simulate.SimulatedDriver]:
    clock = simulate.ManualClock()
    return clock, simulate.SimulatedDriver(simulate.load(scenario), clock=clock)


@settings(max_examples=30, deadline=None)
@given(STEPS)
def test_counters_do_not_depend_on_who_looks_when(steps: list[float]) -> None:
    for scenario, index in (("h100-mig+thermal", 0), ("h100-mig", 4)):
        _, watched = _node(scenario)
        _, unwatched = _node(scenario)
        now = watched.node.start
        for step in steps:
            now += step
            watched.node.gpus[index].advance(now)
        # A gap of up to four minutes is walked in the same steps of one second.
        for part in range(1, 5):
            unwatched.node.gpus[index].advance(watched.node.start + (now - watched.node.start) * part / 4)
        assert _state(watched.node.gpus[index]) == pytest.approx(_state(unwatched.node.gpus[index]), rel=1e-6)
        assert watched.node.gpus[index].temperature == pytest.approx(unwatched.node.gpus[index].temperature)


@settings(max_examples=30, deadline=None)
@given(STEPS, st.sampled_from(["h100x8+thermal", "h100-mig+ecc-storm", "gb200", "l40s"]))
def test_counters_never_fall(steps: list[float], scenario: str) -> None:
    _, driver = _node(scenario)
    now = driver.node.start
    before = [_state(gpu) for gpu in driver.node.gpus]
    for step in steps:
        now += step
        for gpu in driver.node.gpus:
            gpu.advance(now)
        after = [_state(gpu) for gpu in driver.node.gpus]
        assert all(b <= a for old, new in zip(before, after, strict=True) for b, a in zip(old, new, strict=True))
        before = after


def test_energy_is_the_integral_of_the_power(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(0.5)
    handle = one.gpu(6)
    before = nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    joules = 0.0
    for _ in range(600):
        joules += nvml.nvmlDeviceGetPowerUsage(handle) / 1000 * 0.5
        one.clock.advance(0.5)
        joules += nvml.nvmlDeviceGetPowerUsage(handle) / 1000 * 0.5
        one.clock.advance(0.5)
    used = (nvml.nvmlDeviceGetTotalEnergyConsumption(handle) - before) / 1000
    assert used == pytest.approx(joules, rel=1e-3)
    assert one.fields(6, 83, 191)[1].value.ullVal == nvml.nvmlDeviceGetTotalEnergyConsumption(handle)


def test_a_long_gap_costs_no_more_than_a_short_one_and_stays_plausible(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(30 * 86_400)
    joules = nvml.nvmlDeviceGetTotalEnergyConsumption(one.gpu(0)) / 1000
    assert 68 * 30 * 86_400 < joules < 700 * 30 * 86_400
    assert len(one.driver.node.gpus[0].history) <= 20


def test_pcie_bytes_wrap_at_32_bits(rig) -> None:
    one = rig("h100x8")
    seen = []
    for _ in range(30):
        one.clock.advance(1)
        seen.append(one.fields(0, 198)[0].value.uiVal)
    assert all(0 <= value < 1 << 32 for value in seen)
    assert any(after < before for before, after in pairwise(seen))


def test_nvlink_bytes_of_the_links_add_up(rig) -> None:
    one = rig("gb200")
    one.clock.advance(60)
    total, *links = [field.value.ullVal for field in one.fields(0, (202, 0xFFFFFFFF), *((202, n) for n in range(18)))]
    assert total == pytest.approx(sum(links), rel=1e-6)
    assert total > 1e11
    kib = one.fields(0, (138, 0xFFFFFFFF))[0].value.ullVal
    assert kib == pytest.approx(total / 1024, rel=1e-6)


def test_the_utilization_buffer_holds_what_the_gauge_showed(rig) -> None:
    one = rig("h100x8")
    shown = {}
    for _ in range(16):
        one.clock.advance(1)
        # Just behind the sample of this instant: the gauge is that of the second that begins.
        shown[round(one.clock.now() - one.driver.node.start)] = nvml.nvmlDeviceGetUtilizationRates(one.gpu(6)).gpu
    kind, samples = nvml.nvmlDeviceGetSamples(one.gpu(6), nvml.NVML_GPU_UTILIZATION_SAMPLES, 0)
    assert kind == nvml.NVML_VALUE_TYPE_UNSIGNED_INT
    assert 90 <= len(samples) <= 99
    start = one.driver.node.start
    for sample in samples:
        second = sample.timeStamp / 1e6 - start
        if 1 < second < 15 and abs(second - round(second)) > 0.1:
            assert sample.sampleValue.uiVal == shown[int(second) + 1]
    last = samples[-1].timeStamp
    with pytest.raises(nvml.NVMLError_NotFound):
        nvml.nvmlDeviceGetSamples(one.gpu(6), nvml.NVML_GPU_UTILIZATION_SAMPLES, last)
    one.clock.advance(1)
    _, fresh = nvml.nvmlDeviceGetSamples(one.gpu(6), nvml.NVML_GPU_UTILIZATION_SAMPLES, last)
    assert 5 <= len(fresh) <= 7


def test_heat_slows_the_gpu_down_and_counts_the_time(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(5)
    handle = one.gpu(0)
    full = nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)
    one.driver.inject("heat", gpu=0, celsius=45)
    one.driver.inject("power_brake", gpu=1, active=True)
    seconds, clocks = 0, []
    for _ in range(120):
        one.clock.advance(1)
        reasons = nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)
        seconds += bool(reasons & nvml.nvmlClocksEventReasonHwThermalSlowdown)
        clocks.append(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))
    assert seconds > 10
    assert min(clocks) <= full / 2
    hot, brake = one.fields(0, 270)[0].value.ullVal, one.fields(1, 271)[0].value.ullVal
    assert hot == pytest.approx(seconds * 1e9, rel=0.1)
    assert brake == 120 * 10**9
    assert nvml.nvmlDeviceGetViolationStatus(handle, nvml.NVML_PERF_POLICY_THERMAL).violationTime >= hot
    assert nvml.nvmlDeviceGetTemperature(handle, 0) >= 80


def test_every_kind_of_job_stays_within_its_bounds() -> None:
    for kind in KINDS:
        for second in range(0, 1000, 7):
            load = load_at(kind, float(second), "gpu", "job")
            ratios = (load.graphics, load.sm, load.occupancy, load.tensor, load.dram, load.memory)
            assert all(0 <= ratio <= 1 for ratio in (*ratios, load.encoder, load.decoder)), (kind, second, load)
            assert load.sm <= load.graphics + 1e-9 or kind == "idle"


def test_a_live_node_is_alive_and_not_uniform(rig) -> None:
    one = rig("h100x8")
    rows = []
    for _ in range(5):
        one.clock.advance(7)
        rows.append(tuple(nvml.nvmlDeviceGetPowerUsage(one.gpu(index)) for index in range(8)))
    assert len(set(rows)) == 5
    assert all(len(set(row)) == 8 for row in rows)


@pytest.mark.parametrize("scenario", [info.name for info in simulate.scenarios() if info.kind == "node"])
def test_a_healthy_machine_under_load_does_not_overheat(rig, scenario: str) -> None:
    one = rig(scenario)
    for _ in range(60):
        one.clock.advance(5)
        for gpu in one.driver.node.gpus:
            gpu.advance(one.clock.now())
            assert 30 < gpu.temperature < gpu.model.slowdown - 3
            assert not gpu.reasons & nvml.nvmlClocksEventReasonHwThermalSlowdown
