"""GPM: ratios are means of the window, samples belong to GPUs and instances, windows have a minimum."""

import math

import pynvml as nvml  # noqa: TID251
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuscope import simulate


class Window:
    """Two samples of a GPU, a MIG device or a GPU instance."""

    def __init__(self, handle, gi: int | None = None) -> None:
        self.handle, self.gi = handle, gi
        self.samples = [nvml.nvmlGpmSampleAlloc(), nvml.nvmlGpmSampleAlloc()]

    def take(self, place: int) -> None:
        if self.gi is None:
            nvml.nvmlGpmSampleGet(self.handle, self.samples[place])
        else:
            nvml.nvmlGpmMigSampleGet(self.handle, self.gi, self.samples[place])

    def metrics(self, *wanted: int) -> dict[int, tuple[int, float]]:
        ask = nvml.c_nvmlGpmMetricsGet_t()
        ask.version, ask.numMetrics = nvml.NVML_GPM_METRICS_GET_VERSION, len(wanted)
        ask.sample1, ask.sample2 = self.samples
        for place, number in enumerate(wanted):
            ask.metrics[place].metricId = number
        nvml.nvmlGpmMetricsGet(ask)
        return {one.metricId: (one.nvmlReturn, one.value) for one in ask.metrics[: len(wanted)]}


def _window(one, handle, seconds: float, gi: int | None = None) -> Window:
    window = Window(handle, gi)
    window.take(0)
    one.clock.advance(seconds)
    window.take(1)
    return window


def test_a_ratio_is_the_integral_of_the_window(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(0.3)
    gpu = one.driver.node.gpus[6]
    gpu.advance(one.clock.now())
    before = dict(gpu.integrals)
    window = _window(one, one.gpu(6), 37.7)
    found = window.metrics(1, 2, 3, 5, 10)
    for number, name in ((1, "graphics"), (2, "sm"), (3, "occupancy"), (5, "tensor"), (10, "dram")):
        mean = (gpu.integrals[name] - before[name]) / 37.7
        assert found[number] == (0, pytest.approx(100 * mean))
    assert 0 < found[3][1] < found[2][1] < found[1][1] <= 100


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 30), st.integers(0, 7))
def test_every_ratio_is_a_percentage(seconds: float, index: int) -> None:
    clock = simulate.ManualClock()
    driver = simulate.SimulatedDriver(simulate.load("h100-mig"), clock=clock)
    gpu = driver.node.gpus[index]
    before = dict(gpu.integrals)
    gpu.advance(clock.now() + seconds)
    assert all(0 <= gpu.integrals[name] - before[name] <= seconds * 1.000001 for name in before)


def test_traffic_is_mebibytes_a_second(rig) -> None:
    one = rig("h100x8")
    gpu = one.driver.node.gpus[0]
    sent = dict(gpu.nvlink), dict(gpu.pcie)
    found = _window(one, one.gpu(0), 20).metrics(20, 21, 60, 61, 62, 63, 97)
    for number, store, past, name in ((20, gpu.pcie, sent[1], "tx"), (21, gpu.pcie, sent[1], "rx")):
        assert found[number][1] == pytest.approx((store[name] - past[name]) / 20 / 2**20)
    assert found[61][1] == pytest.approx((gpu.nvlink["tx"] - sent[0]["tx"]) / 20 / 2**20)
    assert found[62][1] * 18 == pytest.approx(found[60][1])
    assert found[97][0] == 0


def test_samples_of_instances_and_of_compute_instances(rig) -> None:
    one = rig("h100-mig")
    first, second, other = one.mig(7)
    windows = [Window(first), Window(second), Window(one.gpu(7), gi=1), Window(other)]
    for place in range(2):
        for window in windows:
            window.take(place)
        one.clock.advance(20 if place == 0 else 0)
    small, large, both, idle = (window.metrics(2)[2][1] for window in windows)
    assert both == pytest.approx((small * 1 + large * 2) / 3)
    assert both > 0
    assert idle == 0
    assert windows[2].metrics(60)[60][0] == nvml.NVML_ERROR_NOT_SUPPORTED
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        Window(one.gpu(7), gi=5).take(0)


def test_a_window_under_a_tenth_of_a_second_is_refused(rig) -> None:
    one = rig("h100x8")
    window = _window(one, one.gpu(0), 0.09)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        window.metrics(2)
    window.samples.reverse()
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        window.metrics(2)


def test_unknown_metrics_are_refused_one_by_one(rig) -> None:
    one = rig("h100x8")
    found = _window(one, one.gpu(0), 5).metrics(2, 100, 248, 333)
    assert [code for code, _ in found.values()] == [0, 3, 3, 3]
    assert math.isnan(found[100][1])


def test_cycles_are_counted_from_driver_595_on(rig) -> None:
    one = rig("h100-mig")
    window = _window(one, one.gpu(0), 10)
    first = window.metrics(248, 249, 250, 260)
    assert all(code == 0 for code, _ in first.values())
    assert first[249][1] < first[248][1]
    one.clock.advance(10)
    window.samples.reverse()
    window.take(1)
    assert window.metrics(248)[248][1] > first[248][1]


def test_chip_to_chip_traffic_where_there_are_such_links(rig) -> None:
    one = rig("gb200")
    found = _window(one, one.gpu(0), 10).metrics(100, 101, 102, 103)
    assert all(code == 0 and value > 0 for code, value in found.values())


@pytest.mark.parametrize("scenario", ["a100-mig", "l40s"])
def test_gpus_before_hopper_have_no_gpm(rig, scenario: str) -> None:
    one = rig(scenario)
    assert nvml.nvmlGpmQueryDeviceSupport(one.gpu(0)).isSupportedDevice == 0
    with pytest.raises(nvml.NVMLError_NotSupported):
        Window(one.gpu(0)).take(0)


def test_samples_are_freed_once(rig) -> None:
    one = rig("h100x8")
    assert nvml.nvmlGpmQueryDeviceSupport(one.gpu(0)).isSupportedDevice == 1
    window = _window(one, one.gpu(0), 1)
    for sample in window.samples:
        nvml.nvmlGpmSampleFree(sample)
    assert one.driver.node.gpm_samples == {}
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlGpmSampleFree(window.samples[0])
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        window.take(0)
