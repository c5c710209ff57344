"""Rates between two readings of a counter."""

from gpuscope.compat.rates import Rates
from gpuscope.sampling.sampler import Readings


def _at(seconds: float) -> Readings:
    return Readings((), {}, seconds)


def test_a_counter_that_began_anew_has_no_rate_until_its_second_reading() -> None:
    rates = Rates()
    taken = [
        rates.rate("u", "bytes", value, _at(time), "fast") for time, value in ((0, 50), (5, 100), (10, 3), (15, 8))
    ]
    assert taken == [None, 10.0, None, 1.0]


def test_readings_of_different_sources_are_not_compared() -> None:
    rates = Rates()
    rates.rate("u", "bytes", 0, _at(0), "fast")
    assert rates.rate("u", "bytes", 100, _at(9), "activity") is None
    assert rates.rate("u", "bytes", 120, _at(19), "activity") == 2.0


def test_a_reading_that_is_asked_for_again_gives_the_same() -> None:
    rates = Rates()
    rates.rate("u", "bytes", 0, _at(0), "fast")
    second = _at(4)
    assert [rates.rate("u", "bytes", 8, second, "fast") for _ in range(3)] == [2.0, 2.0, 2.0]


def test_a_clock_that_stands_still_gives_no_rate() -> None:
    rates = Rates()
    rates.rate("u", "bytes", 0, _at(4), "fast")
    assert rates.rate("u", "bytes", 8, _at(4), "fast") is None


def test_gpus_and_counters_are_apart_and_those_that_left_are_forgotten() -> None:
    rates = Rates()
    for uuid in ("u", "v"):
        rates.rate(uuid, "bytes", 0, _at(0), "fast")
    rates.keep({"v"})
    assert rates.rate("u", "bytes", 10, _at(1), "fast") is None
    assert rates.rate("v", "packets", 10, _at(1), "fast") is None
    assert rates.rate("v", "bytes", 10, _at(1), "fast") == 10.0
