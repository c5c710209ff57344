"""Readings in base units against what the simulated board knows of itself."""

import pytest

from gpuscope.collectors.integral import Integral


def test_power_energy_and_clocks_come_in_base_units(machine) -> None:
    node = machine("h100x8")
    node.cycle()
    node.cycle(30)
    gpu = node.driver.node.gpus[0]
    assert node.value("gpuscope_gpu_power_watts", gpu="0") == pytest.approx(gpu.power, abs=0.001)
    assert node.value("gpuscope_gpu_energy_joules_total", gpu="0") == pytest.approx(gpu.energy_j, abs=0.01)
    assert node.value("gpuscope_gpu_clock_hertz", gpu="0", clock="sm") == pytest.approx(gpu.clock * 1e6, abs=1e6)
    assert node.value("gpuscope_gpu_power_limit_watts", gpu="0", limit="enforced") == 700


def test_energy_is_the_integral_of_power(machine) -> None:
    node = machine("h100x8", collectors=frozenset({"power"}))
    node.cycle()
    start = node.value("gpuscope_gpu_energy_joules_total", gpu="0")
    watts = []
    for _ in range(60):
        node.cycle(1, gpus=[0])
        watts.append(node.value("gpuscope_gpu_power_watts", gpu="0"))
    used = node.value("gpuscope_gpu_energy_joules_total", gpu="0") - start
    assert used == pytest.approx(sum(watts), rel=0.03)


def test_memory_leaves_out_what_the_driver_reserves(machine) -> None:
    node = machine("h100x8")
    node.cycle()
    used, free, reserved, total = (
        node.value(f"gpuscope_gpu_memory_{part}_bytes", gpu="0") for part in ("used", "free", "reserved", "total")
    )
    assert used + free + reserved == total
    assert reserved == 625 << 20


def test_pcie_bytes_go_on_over_the_wrap_at_32_bits(machine) -> None:
    node = machine("h100x8", collectors=frozenset({"pcie"}))
    node.cycle()
    values = []
    for _ in range(30):
        node.cycle(1, gpus=[0])
        values.append(node.value("gpuscope_gpu_pcie_bytes_total", gpu="0", direction="rx"))
    assert values == sorted(values)
    assert values[-1] > 1 << 33
    truth = node.driver.node.gpus[0].pcie["rx"]
    assert values[-1] == pytest.approx(truth, rel=0.01)


def test_a_pcie_counter_that_never_moves_is_absent(machine) -> None:
    node = machine("l40s")
    node.cycle()
    node.cycle(10)
    assert node.series("gpuscope_gpu_pcie_bytes_total", gpu="0") == {}


def test_scrambled_process_lists_are_dropped_and_counted(machine) -> None:
    node = machine("driver-535-early")
    node.cycle()
    assert node.series("gpuscope_gpu_processes", type="compute", gpu="0") == {}
    assert node.ledger.errors["nvmlDeviceGetComputeRunningProcesses_v3", "implausible"] > 0


def test_an_empty_process_list_is_believed_only_where_processes_can_be_seen(machine) -> None:
    node = machine("h100-mig")
    for sampler in node.samplers:
        sampler.gpu.processes_visible = False
    node.cycle()
    assert node.value("gpuscope_gpu_processes", gpu="3", type="compute") is None
    assert node.value("gpuscope_gpu_processes", gpu="0", type="compute") == 2
    for sampler in node.samplers:
        sampler.gpu.processes_visible = True
    node.cycle(1)
    assert node.value("gpuscope_gpu_processes", gpu="3", type="compute") == 0


def test_a_board_without_a_sensor_has_no_temperature_of_it(machine) -> None:
    node = machine("l40s")
    node.cycle()
    assert node.value("gpuscope_gpu_temperature_celsius", gpu="0", sensor="memory") is None
    assert node.value("gpuscope_gpu_temperature_celsius", gpu="0", sensor="gpu") > 0
    assert node.series("gpuscope_gpu_remapped_rows", gpu="0") == {}
    assert node.series("gpuscope_gpu_nvlink_links") != {}, "the V100 beside them has links"
    assert node.series("gpuscope_gpu_nvlink_links", gpu="0") == {}


def test_fabric_health_keeps_its_polarity(machine) -> None:
    node = machine("gb200")
    node.cycle()
    health = {labels[-1]: value for labels, value in node.series("gpuscope_gpu_fabric_health", gpu="0").items()}
    assert health["partition_assigned"] == 1
    assert {value for name, value in health.items() if name != "partition_assigned"} == {0}
    assert node.value("gpuscope_gpu_fabric_misconfiguration", gpu="0", reason="none") == 1
    assert node.value("gpuscope_gpu_fabric_state", gpu="0", state="completed") == 1


def test_a_state_set_has_exactly_one_state(machine) -> None:
    node = machine("row-remap")
    node.cycle()
    node.cycle(30)
    for gpu in range(8):
        states = node.series("gpuscope_gpu_recovery_action", gpu=str(gpu))
        assert sorted(states.values()) == [0, 0, 0, 0, 0, 0, 0, 1]
    assert node.value("gpuscope_gpu_recovery_action", gpu="2", action="gpu_reset") == 1
    assert node.value("gpuscope_gpu_recovery_action", gpu="4", action="drain_and_reset") == 1
    assert node.value("gpuscope_gpu_remapped_rows_pending", gpu="2") == 1
    assert node.value("gpuscope_gpu_remapping_failed", gpu="4") == 1


def test_an_integral_stands_still_without_a_value_and_starts_absent() -> None:
    integral = Integral()
    assert integral.add(None, 10) is None
    assert integral.add(0.5, 10) == 5
    assert integral.add(None, 10) == 5
    assert integral.add(float("nan"), 10) == 5


def test_busy_seconds_stay_while_the_driver_has_no_newer_sample(machine) -> None:
    node = machine("h100x8")
    node.cycle(5)
    before = node.series("gpuscope_gpu_busy_seconds_total")
    assert len(before) == 8
    node.cycle(0)
    node.cycle(0)
    assert node.series("gpuscope_gpu_busy_seconds_total") == before
    node.cycle(5)
    after = node.series("gpuscope_gpu_busy_seconds_total")
    assert after.keys() == before.keys()
    assert sum(after.values()) > sum(before.values())
