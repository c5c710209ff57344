"""Field values: one code each, ids as the driver's version has them, sentinels where the scenario wants them."""

import pynvml as nvml  # noqa: TID251
import pytest

ALL_LINKS = 0xFFFFFFFF


def test_each_field_has_its_own_code_type_and_time(rig) -> None:
    one = rig("h100x8")
    one.clock.advance(12)
    energy, power, links, unknown = one.fields(0, 83, 186, (165, 3), 298)
    assert (energy.nvmlReturn, energy.valueType) == (0, nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG)
    assert power.value.uiVal == nvml.nvmlDeviceGetPowerUsage(one.gpu(0))
    assert links.value.ullVal == 1
    assert unknown.nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
    assert energy.timestamp == int(one.clock.now() * 1e6)
    assert energy.latencyUsec > 0
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        one.fields(0)


@pytest.mark.parametrize(
    ("scenario", "first"), [("driver-580-65", 251), ("driver-580-82", 269), ("h100x8", 269), ("driver-535-early", None)]
)
def test_throttle_counters_have_the_ids_of_their_driver(rig, scenario: str, first: int | None) -> None:
    one = rig(scenario)
    one.driver.inject("power_brake", gpu=0, active=True)
    one.clock.advance(10)
    found = {field.fieldId: field for field in one.fields(0, 253, 271)}
    if first is None:
        assert {field.nvmlReturn for field in found.values()} == {nvml.NVML_ERROR_NOT_SUPPORTED}
        assert one.fields(0, 74)[0].nvmlReturn == 0
        return
    right, wrong = found[first + 2], found[524 - first - 2]
    assert right.value.ullVal == 10 * 10**9
    # Another meaning, and no error.
    assert (wrong.nvmlReturn, wrong.valueType, wrong.value.uiVal) == (0, nvml.NVML_VALUE_TYPE_UNSIGNED_INT, 37)


def test_link_errors_have_one_id_each(rig) -> None:
    one = rig("gb200")
    names = {
        "vl15_dropped": nvml.NVML_FI_DEV_NVLINK_COUNT_VL15_DROPPED,
        "malformed": nvml.NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS,
        "buffer_overrun": nvml.NVML_FI_DEV_NVLINK_COUNT_BUFFER_OVERRUN_ERRORS,
        "rcv": nvml.NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS,
        "rcv_remote": nvml.NVML_FI_DEV_NVLINK_COUNT_RCV_REMOTE_ERRORS,
        "rcv_general": nvml.NVML_FI_DEV_NVLINK_COUNT_RCV_GENERAL_ERRORS,
        "local_integrity": nvml.NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS,
        "xmit_discard": nvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS,
        "recovery_ok": nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS,
        "recovery_failed": nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS,
        "recovery_events": nvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS,
        "effective": nvml.NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS,
        "symbol": nvml.NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS,
    }
    for count, name in enumerate(names, 1):
        one.driver.inject("nvlink", gpu=1, link=5, error=name, count=count)
    found = one.fields(1, *((number, 5) for number in names.values()))
    assert [field.value.ullVal for field in found] == list(range(1, 14))
    assert {field.value.ullVal for field in one.fields(1, *((number, 4) for number in names.values()))} == {0}
    assert one.fields(1, (names["symbol"], ALL_LINKS))[0].value.ullVal == 13
    assert one.fields(1, (161, 0))[0].nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED


def test_links_before_version_5_have_the_older_ids(rig) -> None:
    one = rig("h100x8")
    one.driver.inject("nvlink", gpu=0, link=2, error="recovery", count=4)
    replay, recovery, crc, new, beyond = one.fields(0, (161, 2), (162, 2), (163, 2), (202, 2), (162, 18))
    assert [field.value.ullVal for field in (replay, recovery, crc)] == [0, 4, 0]
    assert new.nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
    assert beyond.nvmlReturn == nvml.NVML_ERROR_INVALID_ARGUMENT


def test_power_has_scopes_on_a_module(rig) -> None:
    one = rig("gb200")
    gpu, module, memory, none = one.fields(0, (186, 0), (186, 1), (186, 2), (186, 3))
    assert module.value.uiVal == gpu.value.uiVal + 260_000
    assert 0 < memory.value.uiVal < gpu.value.uiVal
    assert none.nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED
    other = rig("h100x8")
    assert other.fields(0, (186, 1))[0].nvmlReturn == nvml.NVML_ERROR_NOT_SUPPORTED


def test_blank_values_come_with_success(rig) -> None:
    one = rig("blank-sentinels")
    assert nvml.nvmlDeviceGetTemperature(one.gpu(1), 0) == 0x7FFFFFF0
    assert nvml.nvmlDeviceGetTemperatureV(one.gpu(1), 0) == 0x7FFFFFF0
    assert nvml.nvmlDeviceGetMemoryInfo(one.gpu(2), version=nvml.nvmlMemory_v2).used == 0x7FFFFFFFFFFFFFF2
    assert nvml.nvmlDeviceGetPowerUsage(one.gpu(3)) == 0xFFFFFFFF
    odd, even = one.fields(1, 82)[0], one.fields(2, 82)[0]
    assert (odd.nvmlReturn, odd.value.ullVal) == (0, 9223372036854775794)
    assert (even.nvmlReturn, even.valueType, even.value.dVal) == (0, nvml.NVML_VALUE_TYPE_DOUBLE, 140737488355328.0)
    assert nvml.nvmlDeviceGetTemperature(one.gpu(0), 0) < 100


def test_remapped_rows_by_fields_and_by_call_agree(rig) -> None:
    one = rig("h100x8")
    one.driver.inject("row_remap", gpu=0, rows=2, pending=True)
    assert [field.value.uiVal for field in one.fields(0, 142, 143, 144, 145)] == [0, 2, 1, 0]
    assert nvml.nvmlDeviceGetRemappedRows(one.gpu(0)) == (0, 2, 1, 0)
    assert nvml.nvmlDeviceGetRowRemapperHistogram(one.gpu(0)).high == 2
    one.driver.inject("lost", gpu=0)
    one.driver.inject("recovered", gpu=0)
    assert nvml.nvmlDeviceGetRemappedRows(one.gpu(0)) == (0, 2, 0, 0)
