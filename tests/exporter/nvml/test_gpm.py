"""GPM windows: contiguous, integrated, right for GPUs, GPU instances and compute instances."""

import pytest


def test_active_seconds_are_the_integral_of_the_activity(machine) -> None:
    node = machine("h100x8")
    node.cycle()
    gpu = node.driver.node.gpus[0]
    start = dict(gpu.integrals)
    for seconds in (10, 3, 0.5, 27, 10):
        node.cycle(seconds)
    for name in ("graphics", "sm", "tensor", "dram"):
        value = node.value(f"gpuscope_gpu_{name}_active_seconds_total", gpu="0")
        assert value == pytest.approx(gpu.integrals[name] - start[name], rel=1e-9)
    assert node.value("gpuscope_gpu_gpm_window_seconds_total", gpu="0") == pytest.approx(50.5)


def test_ratio_is_the_mean_of_the_last_window(machine) -> None:
    node = machine("h100x8")
    node.cycle()
    node.cycle(10)
    before = node.driver.node.gpus[0].integrals["sm"]
    node.cycle(20)
    mean = (node.driver.node.gpus[0].integrals["sm"] - before) / 20
    assert node.value("gpuscope_gpu_sm_active_ratio", gpu="0") == pytest.approx(mean)


def test_every_mig_instance_has_its_own_activity(machine) -> None:
    node = machine("h100-mig")
    node.cycle()
    node.cycle(10)
    for gpu in node.driver.node.gpus[4:]:
        for instance in gpu.mig:
            value = node.value("gpuscope_mig_sm_active_ratio", mig_uuid=instance.uuid)
            assert value == pytest.approx(instance.integrals["sm"] / 10, abs=0.02)


def test_dram_activity_stands_once_per_gpu_instance(machine) -> None:
    node = machine("h100-mig")
    node.cycle()
    node.cycle(10)
    shared = [
        instance for instance in node.driver.node.gpus[7].mig if instance.gi == node.driver.node.gpus[7].mig[0].gi
    ]
    assert len(shared) == 2
    assert node.value("gpuscope_mig_dram_active_ratio", mig_uuid=shared[0].uuid) is not None
    assert node.value("gpuscope_mig_dram_active_ratio", mig_uuid=shared[1].uuid) is None
    assert node.value("gpuscope_mig_sm_active_ratio", mig_uuid=shared[1].uuid) is not None


def test_a100_has_no_mig_activity_and_says_so(machine) -> None:
    node = machine("a100-mig")
    node.cycle()
    node.cycle(10)
    assert node.series("gpuscope_mig_sm_active_ratio") == {}
    assert node.value("gpuscope_gpu_mig_utilization_supported", gpu="2") == 0
    assert node.value("gpuscope_gpu_mig_utilization_supported", gpu="0") is None
    assert len(node.series("gpuscope_mig_memory_used_bytes")) == 4


def test_windows_shorter_than_the_driver_allows_are_not_taken(machine) -> None:
    node = machine("h100x8", collectors=frozenset({"activity"}))
    node.cycle()
    node.cycle(10)
    node.cycle(0.05)
    assert node.ledger.errors == {}
    assert node.value("gpuscope_gpu_sm_active_ratio", gpu="0") is None
    node.cycle(9.95)
    assert node.value("gpuscope_gpu_gpm_window_seconds_total", gpu="0") == pytest.approx(20)
