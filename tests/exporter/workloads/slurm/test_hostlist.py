"""Host lists; what ``scontrol show hostnames`` of 22.05 told for the same lists is the expectation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.errors import SourceError
from gpuscope.workloads.slurm.hostlist import expand


@pytest.mark.parametrize(
    ("hosts", "names"),
    [
        ("gpu-[001-004,007]", ["gpu-001", "gpu-002", "gpu-003", "gpu-004", "gpu-007"]),
        ("gpu-1", ["gpu-1"]),
        ("gpu-[9-11]", ["gpu-9", "gpu-10", "gpu-11"]),
        ("login,gpu-[1-2],cpu7", ["login", "gpu-1", "gpu-2", "cpu7"]),
        ("r[1-2]n[08-09]-ib", ["r1n08-ib", "r1n09-ib", "r2n08-ib", "r2n09-ib"]),
        ("n[5]", ["n5"]),
        (" a1 ", ["a1"]),
        ("", []),
        ("(null)", []),
        ("None assigned", []),
    ],
)
def test_names(hosts: str, names: list[str]) -> None:
    assert list(expand(hosts)) == names


@pytest.mark.parametrize(
    "hosts",
    ["a[1-2", "a1]", "a[[1]]", "a[]", "a[1-]", "a[2-1]", "a[x]", "a,,b", "a b", "a[1-9999999]", "a[1-1000]b[1-1000]"],
)
def test_what_is_no_list_is_refused(hosts: str) -> None:
    with pytest.raises(SourceError, match="host list"):
        expand(hosts)


def test_the_limit_holds_over_the_whole_list() -> None:
    assert len(expand("a[1-5],b[1-5]", limit=10)) == 10
    with pytest.raises(SourceError, match="too"):
        expand("a[1-5],b[1-5],c", limit=10)


@given(st.lists(st.integers(min_value=0, max_value=9999), min_size=1, max_size=30), st.integers(1, 5))
def test_a_folded_list_unfolds(numbers: list[int], width: int) -> None:
    folded = "n[" + ",".join(str(one).zfill(width) for one in numbers) + "]"
    assert list(expand(folded)) == [f"n{str(one).zfill(width)}" for one in numbers]
