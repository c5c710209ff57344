"""Durations in words, and alerts that tell the one that the settings ask for."""

import dataclasses
import re

import pytest

from gpuscope_generator.rules.alerts import all_alerts
from gpuscope_generator.rules.annotations import annotations_of
from gpuscope_generator.rules.spoken import HELD, held_and, spoken, with_duration
from gpuscope_generator.settings import AlertChange, Settings

USUAL = all_alerts(Settings())


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a moment"), (1, "a second"), (45, "45 seconds"), (60, "a minute"), (90, "90 seconds"),
        (120, "two minutes"), (600, "ten minutes"), (660, "11 minutes"), (1800, "half an hour"), (3600, "an hour"),
        (5400, "an hour and a half"), (14_400, "four hours"), (86_400, "a day"), (172_800, "two days"),
    ],
)  # fmt: skip
def test_seconds_in_words(seconds: int, words: str) -> None:
    assert spoken(seconds) == words


def test_windows_before_are_added() -> None:
    assert (
        with_duration(f"for {HELD}, and for {held_and(3600)} in all", 1800)
        == "for half an hour, and for an hour and a half in all"
    )


@pytest.mark.parametrize("name", sorted({one.name for one in USUAL if "@" in one.summary + one.description}))
def test_a_text_follows_the_duration_of_the_settings(name: str) -> None:
    """An alert that waits for seven minutes must not say that it waited for two."""
    changed = all_alerts(Settings(alerts={name: AlertChange(for_s=420)}))
    for one in changed:
        if one.name == name:
            said = " ".join(annotations_of(one, Settings()).values())
            assert re.search(r"\b(seven|17|67) minutes\b", said)
            assert "@" not in said


def test_a_duration_in_a_text_that_is_for_is_never_written_by_hand() -> None:
    """Where a text tells the duration of its alert it changes with it: nothing else in it is as long."""
    for one in USUAL:
        raw = f"{one.summary} {one.description}"
        words = re.escape(spoken(one.for_s))
        waits = re.search(rf"\b(for|For) {words}\b", raw) if one.for_s else None
        assert waits is None, f"{one.key}: {raw}"


def test_every_text_that_has_it_is_filled() -> None:
    for one in USUAL:
        assert "@held" not in " ".join(annotations_of(one, Settings()).values()), one.key
        assert dataclasses.replace(one, for_s=0).told(f"for {HELD}") == "for a moment"
