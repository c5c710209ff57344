"""Whatever the files of a Lustre client hold, reading them ends, and ends well."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.filesystems.lustre.imports import parse_import, parse_state, split_instance
from gpuscope.filesystems.lustre.rpc_stats import parse_rpc_stats
from gpuscope.filesystems.lustre.stats import parse_lnet, parse_stats

DATA = Path(__file__).parent / "data"
PARSERS = {
    "llite_stats": parse_stats,
    "read_ahead_stats": parse_stats,
    "osc_rpc_stats": parse_rpc_stats,
    "mdc_rpc_stats": parse_rpc_stats,
    "osc_import": parse_import,
    "state": parse_state,
    "lnet_stats": parse_lnet,
}
every_file = pytest.mark.parametrize("name", PARSERS)
REASONS = {"garbage", "truncated"}


def content(name: str) -> str:
    return (DATA / ("2.10" if name == "lnet_stats" else "2.15") / name).read_text()


@every_file
@given(text=st.text())
def test_any_text_is_survived(name: str, text: str) -> None:
    told: list[str] = []
    PARSERS[name](text, told.append)
    assert set(told) <= REASONS


@every_file
@given(data=st.data())
def test_a_file_cut_anywhere_gives_no_number_that_is_not_in_it(name: str, data: st.DataObject) -> None:
    whole = content(name)
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    told: list[str] = []
    numbers = _numbers(PARSERS[name](cut, told.append))
    assert numbers <= _numbers(PARSERS[name](whole, lambda _: None)) | {0}
    assert set(told) <= REASONS


def _numbers(found: Any) -> set[int]:
    if isinstance(found, int):
        return {found}
    if isinstance(found, dict):
        return {number for value in found.values() for number in _numbers(value)}
    if isinstance(found, list | tuple):
        return {number for value in found for number in _numbers(value)}
    names: Callable[[Any], tuple[str, ...]] = lambda one: getattr(one, "__slots__", ())  # noqa: E731
    return {number for name in names(found) for number in _numbers(getattr(found, name))}


@every_file
def test_a_number_of_many_digits_is_garbage(name: str) -> None:
    import re

    told: list[str] = []
    PARSERS[name](re.sub(r"(?<![0-9.])[0-9]+(?![0-9.])", "9" * 5000, content(name)), told.append)
    assert set(told) <= REASONS


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("lustre01-OST0000-osc-ffff88105db50000", ("lustre01", "OST0000", "ffff88105db50000")),
        ("my-fs-MDT000a-mdc-ffff88105db50000", ("my-fs", "MDT000a", "ffff88105db50000")),
        ("lustre01-OST0000-osc-MDT0000", None),
        ("lustre01-MDT0000-osp-MDT0001", None),
        ("num_refs", None),
        ("", None),
    ],
)
def test_names_of_instances(name: str, parts: tuple[str, str, str] | None) -> None:
    assert split_instance(name) == parts
