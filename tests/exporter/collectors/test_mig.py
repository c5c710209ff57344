"""MIG: what a parent does not answer is absent, instances are named right, ids are reused without mixing."""

PARENT_ABSENT = (
    "gpuscope_gpu_utilization_ratio",
    "gpuscope_gpu_memory_controller_utilization_ratio",
    "gpuscope_gpu_engine_utilization_ratio",
    "gpuscope_gpu_busy_seconds_total",
    "gpuscope_gpu_remapped_rows",
    "gpuscope_gpu_nvlink_links",
    "gpuscope_gpu_nvlink_bytes_total",
)
PARENT_PRESENT = (
    "gpuscope_gpu_memory_used_bytes",
    "gpuscope_gpu_power_watts",
    "gpuscope_gpu_temperature_celsius",
    "gpuscope_gpu_energy_joules_total",
    "gpuscope_gpu_clock_event_active",
    "gpuscope_gpu_row_remapper_banks",
)


def test_a_parent_in_mig_mode_lacks_what_the_driver_refuses_and_keeps_the_rest(machine) -> None:
    node = machine("h100-mig")
    node.cycle()
    node.cycle(10)
    for name in PARENT_ABSENT:
        assert node.series(name, gpu="4") == {}, name
        assert node.series(name, gpu="0") != {}, name
    for name in PARENT_PRESENT:
        assert node.series(name, gpu="4") != {}, name


def test_instances_carry_profile_and_ids(machine) -> None:
    node = machine("h100-mig")
    node.cycle()
    truth = {
        (str(gpu.index), device.uuid, str(device.gi), device.profile, str(device.ci), str(device.index))
        for gpu in node.driver.node.gpus
        for device in gpu.mig
    }
    found = {(gpu, *rest) for gpu, _, *rest in node.series("gpuscope_mig_info")}
    assert found == truth
    assert any(profile == "1c.3g.40gb" for *_, profile, _, _ in found)


def test_memory_stands_once_per_gpu_instance_and_sums_to_the_parent(machine) -> None:
    node = machine("h100-mig")
    node.cycle(60)
    for gpu in range(4, 8):
        parts = node.series("gpuscope_mig_memory_used_bytes", gpu=str(gpu))
        instances = {device.gi for device in node.driver.node.gpus[gpu].mig}
        assert len(parts) == len(instances)
        assert sum(parts.values()) == node.value("gpuscope_gpu_memory_used_bytes", gpu=str(gpu))


def test_a_reconfigured_gpu_starts_new_counters_under_new_names(machine) -> None:
    node = machine("h100-mig")
    node.cycle()
    node.cycle(10)
    before = node.series("gpuscope_mig_sm_active_seconds_total", gpu="5")
    node.driver.inject("mig", gpu=5, instances=[{"profile": "3g.40gb", "job": "training"}])
    node.cycle(10)
    assert node.series("gpuscope_mig_sm_active_seconds_total", gpu="5") == {}
    node.cycle(10)
    after = node.series("gpuscope_mig_sm_active_seconds_total", gpu="5")
    assert len(after) == 1
    assert not {labels[2] for labels in before} & {labels[2] for labels in after}
    assert next(iter(after.values())) <= 10


def test_a_gpu_made_whole_again_answers_as_before(machine) -> None:
    node = machine("h100-mig")
    node.cycle()
    node.driver.inject("mig", gpu=4, instances=[])
    node.cycle(10)
    assert node.value("gpuscope_gpu_utilization_ratio", gpu="4") is not None
    assert node.value("gpuscope_gpu_mig_mode_enabled", gpu="4") == 0
    assert node.series("gpuscope_mig_info", gpu="4") == {}


def test_no_sum_over_gpu_metrics_holds_a_mig_instance(machine) -> None:
    node = machine("h100-mig")
    node.cycle()
    assert len(node.series("gpuscope_gpu_memory_used_bytes")) == 8
