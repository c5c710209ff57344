"""One value in the forms of all releases."""

from datetime import timedelta, timezone

import pytest

from gpuscope.workloads.slurm.value import exit_of, moment, number, text, words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, 7),
        ("7", 7),
        (7.0, 7),
        ({"set": True, "infinite": False, "number": 7}, 7),
        ({"set": False, "infinite": False, "number": 0}, None),
        ({"set": False, "infinite": True, "number": 0}, None),
        (None, None),
        (True, None),
        (-2, None),
        (7.5, None),
        (4294967294, None),
        (4294967295, None),
        ("N/A", None),
        ([7], None),
    ],
)
def test_number(value: object, expected: int | None) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1796035110, 1796035110.0),
        ("1796035110", 1796035110.0),
        ({"set": True, "number": 1796035110}, 1796035110.0),
        ("2026-11-30T10:38:30", 1796035110.0),
        ("2026-11-30T11:38:30+01:00", 1796035110.0),
        (0, None),
        ("Unknown", None),
        ("None", None),
        (None, None),
    ],
)
def test_moment(value: object, expected: float | None) -> None:
    assert moment(value) == expected


def test_a_date_is_meant_in_its_zone() -> None:
    assert moment("2026-11-30T12:38:30", timezone(timedelta(hours=2))) == 1796035110.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("3:0", (3, 0)),
        ("0:11", (0, 11)),
        (768, (3, 0)),
        (11, (0, 11)),
        (36608, (143, 0)),
        (0, (0, 0)),
        ({"set": True, "infinite": False, "number": 768}, (3, 0)),
        ({"status": "ERROR", "return_code": 3}, (3, 0)),
        ({"status": ["ERROR"], "return_code": {"set": True, "number": 3}, "signal": {"id": {"set": False}}}, (3, 0)),
        ({"status": ["SIGNALED"], "return_code": {"set": False}, "signal": {"id": {"set": True, "number": 9}}}, (0, 9)),
        ({"status": "SIGNALED", "signal": {"signal_id": 9, "name": "KILL"}}, (0, 9)),
        ("", None),
        (None, None),
    ],
)
def test_exit(value: object, expected: tuple[int, int] | None) -> None:
    assert exit_of(value) == expected


def test_words_and_text() -> None:
    assert words("ALLOCATED+DRAIN") == ("ALLOCATED", "DRAIN")
    assert words(["idle", "", 3, "DRAIN"]) == ("IDLE", "DRAIN")
    assert words(None) == ()
    assert text(" alpha ") == "alpha"
    assert text("(null)") == text(None) == text(7) == ""
