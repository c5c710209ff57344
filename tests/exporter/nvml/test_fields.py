"""Field ids by driver version, and batched reading."""

import pynvml  # noqa: TID251 the binding's constants
import pytest

from gpuscope.nvml import fields
from gpuscope.nvml.fields import driver_tuple


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("570.172.08", None),
        ("575.51.03", 251),
        ("580.65.06", 251),
        ("580.70.01", None),
        ("580.82.07", 269),
        ("590.48.01", 269),
        ("not a version", None),
    ],
)
def test_moved_field_has_the_id_of_its_driver_and_none_where_unknown(version: str, expected: int | None) -> None:
    assert fields.SW_THERMAL_NS.id_for(driver_tuple(version)) == expected


@pytest.mark.parametrize("scenario", ["driver-580-65", "driver-580-82"])
def test_throttle_time_is_right_in_seconds_on_both_sides_of_the_renumbering(machine, scenario: str) -> None:
    node = machine(scenario)
    node.cycle()
    for _ in range(40):
        node.cycle(5)
    truth = node.driver.node.gpus[0].event_ns
    for reason, key in (("hw_thermal", "hw_thermal"), ("sw_thermal", "sw_thermal"), ("sw_power_cap", "power_cap")):
        value = node.value("gpuscope_gpu_clock_event_seconds_total", gpu="0", reason=reason)
        assert value == pytest.approx(truth[key] / 1e9, abs=1e-6)
    assert 20 < node.value("gpuscope_gpu_clock_event_seconds_total", gpu="0", reason="hw_thermal") < 200
    assert node.value("gpuscope_gpu_clock_event_seconds_total", gpu="3", reason="hw_thermal") == 0


def test_an_older_driver_gives_throttle_time_by_the_older_call(machine) -> None:
    node = machine("a100-mig")
    for _ in range(3):
        node.cycle(5)
    found = node.series("gpuscope_gpu_clock_event_seconds_total", gpu="0")
    assert {labels[-1] for labels in found} == {"sw_power_cap", "sync_boost", "sw_thermal"}


def test_a_batch_is_one_call_once_it_is_known_what_is_wanted(machine) -> None:
    node = machine("h100x8", collectors=frozenset({"power", "clocks"}))
    node.cycle()
    node.cycle(5)
    before = node.ledger.calls["nvmlDeviceGetFieldValues"]
    node.cycle(5, gpus=[0])
    assert node.ledger.calls["nvmlDeviceGetFieldValues"] - before == 2  # the fast tier and the slow one


def test_every_id_is_the_one_of_its_name_in_the_newest_binding() -> None:
    """The ids are ours, by driver; a newest driver must agree with the newest binding in all of them."""
    declared = [field for field in vars(fields).values() if isinstance(field, fields.Field)]
    wrong = {
        field.name: field.id_for((615, 71))
        for field in declared
        if getattr(pynvml, f"NVML_FI_DEV_{field.name}") != field.id_for((615, 71))
    }
    assert wrong == {}


def test_an_nvlink_error_shows_under_its_own_name(machine) -> None:
    node = machine("gb200")
    node.cycle()
    before = node.series("gpuscope_gpu_nvlink_errors_total", gpu="0")
    node.driver.inject("nvlink", gpu=0, link=3, error="malformed")
    node.cycle(10)
    after = node.series("gpuscope_gpu_nvlink_errors_total", gpu="0")
    assert {labels[-1] for labels in after if after[labels] != before[labels]} == {"malformed"}
