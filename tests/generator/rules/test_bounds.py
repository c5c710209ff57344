"""Regular expressions of numbers up to a limit."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope_generator.rules.levels.bounds import bounds_up_to

AMOUNTS = st.decimals(min_value="0.0001", max_value="99999", places=4).map(float)


@given(limit=AMOUNTS, bound=AMOUNTS)
def test_a_bound_matches_exactly_when_it_is_not_above_the_limit(limit: float, bound: float) -> None:
    matched = re.fullmatch(bounds_up_to(limit), repr(bound)) is not None
    assert matched == (bound <= limit)


@pytest.mark.parametrize("text", ["2.5", "2.50", "2", "2.0", "1", "0.001", "0", "1e-05", "2.49999"])
def test_forms_of_bounds_that_are_not_above(text: str) -> None:
    assert re.fullmatch(bounds_up_to(2.5), text)


@pytest.mark.parametrize("text", ["2.51", "3", "10", "25", "+Inf", "2.5001", "1e+06"])
def test_forms_of_bounds_that_are_above(text: str) -> None:
    assert not re.fullmatch(bounds_up_to(2.5), text)


def test_limits_that_are_too_small_are_refused() -> None:
    with pytest.raises(ValueError, match="exponents"):
        bounds_up_to(0.00001)
