from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpuscope.config.duration import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("0s", 0.0),
        ("500ms", 0.5),
        ("5s", 5.0),
        ("1m30s", 90.0),
        ("1h", 3600.0),
        ("2d", 172_800.0),
        ("1d2h3m4s5ms", 93_784.005),
    ],
)
def test_prometheus_durations_are_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "s", "5 s", "5S", "1.5s", "-5s", "5s1m", "5s5s", "5s\n", "٥s", "1e3s", "9999999999s", "5sec"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration like"):
        parse_duration(text)


def test_a_bare_number_is_told_that_a_unit_is_missing() -> None:
    with pytest.raises(ValueError, match="it needs a unit"):
        parse_duration("30")


@given(st.integers(min_value=0, max_value=10**12))
def test_what_is_written_reads_back_to_the_millisecond(milliseconds: int) -> None:
    assert round(parse_duration(format_duration(milliseconds / 1000)) * 1000) == milliseconds


@given(st.text())
@example("9" * 5000 + "d")
def test_no_text_gives_another_error(text: str) -> None:
    with suppress(ValueError):
        assert parse_duration(text) >= 0
