from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.catalogue import ALWAYS_ON, DEFAULT_OFF, SUBJECTS
from gpuscope.config import BY_KEY, OPTIONS, Option, Type, load


def test_names_of_a_setting_follow_from_its_key() -> None:
    option = BY_KEY["web.listen-address"]
    assert (option.flag, option.variable) == ("--web.listen-address", "GPUSCOPE_WEB_LISTEN_ADDRESS")


def test_names_are_unique_in_every_place() -> None:
    for names in ([o.key for o in OPTIONS], [o.flag for o in OPTIONS], [o.variable for o in OPTIONS]):
        assert len(set(names)) == len(names)


def test_every_default_is_a_value_that_could_be_given() -> None:
    for option in OPTIONS:
        assert option.parse(option.format(option.default)) == option.default, option.key


def test_every_subject_has_a_switch_but_those_that_are_always_on() -> None:
    switches = {key.removeprefix("collector.").replace("-", "_") for key in BY_KEY if key.startswith("collector.")}
    assert switches == set(SUBJECTS) - ALWAYS_ON


def test_default_collectors_are_those_of_the_catalogue() -> None:
    assert load({}, None, {}).settings.collectors() == set(SUBJECTS) - DEFAULT_OFF


def test_every_setting_is_explained_in_sentences() -> None:
    for option in OPTIONS:
        assert option.help[0].isupper(), option.key
        assert option.help.endswith("."), option.key


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("web.listen-address", ":1, 127.0.0.1:2", (":1", "127.0.0.1:2")),
        ("web.listen-address", [":1", ":2"], (":1", ":2")),
        ("collector.pipes", True, True),
        ("collector.pipes", "Yes", True),
        ("collector.pipes", "off", False),
        ("simulate.speed", "2.5", 2.5),
        ("expected-gpus", "8", 8),
        ("log.level", "debug", "debug"),
        ("interval.activity", "100ms", 0.1),
        ("node-name", "", ""),
    ],
)
def test_good_values(key: str, raw: object, value: object) -> None:
    assert BY_KEY[key].parse(raw) == value


@pytest.mark.parametrize(
    ("key", "raw", "reason"),
    [
        ("web.listen-address", "", "the list is empty"),
        ("web.listen-address", " , ", "the list is empty"),
        ("web.listen-address", [None], "must be a list of texts"),
        ("web.listen-address", {}, "must be a list of texts, not a mapping"),
        ("web.max-connections", "7", "out of range: 8 to 65536"),
        ("web.max-connections", "many", "'many' is not a whole number"),
        ("web.max-connections", "1e3", "'1e3' is not a whole number"),
        ("expected-gpus", "-1", "out of range"),
        ("expected-gpus", None, "must be one whole number, not nothing"),
        ("simulate.speed", "nan", "'nan' is not a number"),
        ("simulate.speed", "inf", "'inf' is not a number"),
        ("simulate.speed", "0", "out of range: 0.1 to 1000"),
        ("collector.pipes", "maybe", "'maybe' is neither true nor false"),
        ("collector.pipes", [], "must be true or false"),
        ("log.level", "loud", "'loud' is not one of debug, info, warning, error"),
        ("interval.activity", "99ms", "'99ms' is out of range: 100ms to 1h"),
        ("interval.fast", ["1s"], "must be one duration, not a list"),
        ("node-name", True, "must be one text, not true or false"),
        ("node-name", "a\nb", "cannot be printed"),
    ],
)
def test_bad_values_say_why(key: str, raw: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        BY_KEY[key].parse(raw)


@given(st.sampled_from([o for o in OPTIONS if o.type in {Type.WHOLE, Type.NUMBER}]), st.text())
def test_no_text_breaks_a_number(option: Option, text: str) -> None:
    with suppress(ValueError):
        assert option.low <= option.parse(text) <= option.high
