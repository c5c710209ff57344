"""Sentinels never pass; real numbers do."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.nvml.values import plain

SENTINELS = [0x7FFFFFF0, 0x7FFFFFF2, 0x7FFFFFFFFFFFFFF2, 9223372036854775794, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF]


@pytest.mark.parametrize("raw", [*SENTINELS, 140737488355328.0, 140737488355330.0, math.inf, math.nan])
def test_a_sentinel_becomes_blank(raw: float) -> None:
    assert math.isnan(plain(raw))


@given(st.integers(min_value=-(1 << 40), max_value=1 << 30))
def test_a_plausible_integer_stays_itself(raw: int) -> None:
    assert plain(raw) == raw


def test_a_blank_reading_is_dropped_and_counted_and_the_others_stay(machine) -> None:
    node = machine("blank-sentinels")
    node.cycle()
    node.cycle(10)
    assert node.value("gpuscope_gpu_temperature_celsius", gpu="1", sensor="gpu") is None
    assert node.value("gpuscope_gpu_temperature_celsius", gpu="0", sensor="gpu") is not None
    assert node.series("gpuscope_gpu_temperature_celsius", sensor="memory") == {}
    assert node.value("gpuscope_gpu_memory_used_bytes", gpu="2") is None
    assert node.value("gpuscope_gpu_memory_total_bytes", gpu="2") == 81559 << 20
    assert node.ledger.dropped["gpuscope_gpu_temperature_celsius", "sentinel"] > 0
    assert node.ledger.dropped["gpuscope_gpu_memory_used_bytes", "sentinel"] == 2
