import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.workloads.attribution_window import (
    AFTER_S,
    BEFORE_S,
    AttemptEnd,
    NodeEvent,
    explains,
    in_window,
    jobs_sharing,
    window_closed,
)
from gpuscope.workloads.fault import Classification, Domain, Scope
from gpuscope.workloads.observation import JobKey

ENDED = 1_700_000_000.0


@pytest.mark.parametrize(
    ("before", "explained", "only_before"),
    [
        (600, True, True),
        (600.1, False, False),
        (0, True, True),
        (-0.1, True, False),
        (-300, True, False),
        (-300.1, False, False),
        (math.nan, False, False),
        (math.inf, False, False),
    ],
)
def test_window(before: float, explained: bool, only_before: bool) -> None:
    assert explains(before) is explained
    assert explains(before, only_before=True) is only_before


def test_a_verdict_is_final_when_the_window_is_closed() -> None:
    assert not window_closed(ENDED, ENDED + AFTER_S)
    assert window_closed(ENDED, ENDED + AFTER_S + 1)


def test_only_events_of_the_attempts_own_nodes_and_time_count() -> None:
    events = [
        NodeEvent("n1", 45, ENDED - 1),
        NodeEvent("n1", 79, ENDED - 90),
        NodeEvent("n2", 31, ENDED + 20),
        NodeEvent("n3", 48, ENDED - 5),
        NodeEvent("n1", 62, ENDED - BEFORE_S - 1),
        NodeEvent("n1", 74, ENDED + AFTER_S + 1),
    ]
    assert in_window(events, ("n1", "n2"), ENDED) == ((79, 90.0), (45, 1.0), (31, -20.0))
    assert in_window(events, ("n1", "n2"), ENDED, until=ENDED + 20) == ((79, 90.0), (45, 1.0))
    assert in_window(events, (), ENDED) == ()


def test_events_of_other_gpus_are_left_out_where_its_own_are_known() -> None:
    events = [
        NodeEvent("n1", 31, ENDED, "GPU-a"),
        NodeEvent("n1", 13, ENDED, "GPU-b"),
        NodeEvent("n1", 79, ENDED),
    ]
    assert in_window(events, ("n1",), ENDED, gpus=("GPU-a",)) == ((31, 0.0), (79, 0.0))
    assert len(in_window(events, ("n1",), ENDED)) == 3


def test_words_have_a_window_too() -> None:
    assert in_window([NodeEvent("n1", "rdma_port_down", ENDED - 3)], ("n1",), ENDED) == (("rdma_port_down", 3.0),)


@given(st.lists(st.builds(NodeEvent, st.sampled_from("ab"), st.integers(1, 200), st.floats(0, 2e3)), max_size=8))
def test_the_order_of_events_does_not_matter(events: list[NodeEvent[int]]) -> None:
    found = in_window(events, ("a",), 1000.0)
    assert found == in_window(events[::-1], ("a",), 1000.0)
    assert all(explains(before) for _, before in found)


# --- what jobs share ---


def end(
    uid: str,
    node: str,
    *,
    owner: str = "",
    at: float = 0.0,
    what: str = "nvlink",
    domain: Domain = Domain.INFRASTRUCTURE,
) -> AttemptEnd:
    told = Classification(what, domain, Scope.NODE, "high", "")
    return AttemptEnd(JobKey("slurm", "", uid), owner or uid, frozenset({node}), ENDED + at, told)


def test_jobs_that_met_the_same_elsewhere_are_counted_once() -> None:
    others = [end("1", "a"), end("2", "b"), end("3", "c", at=BEFORE_S), end("3", "d", at=5)]
    assert jobs_sharing(end("1", "a"), others) == 2


@pytest.mark.parametrize(
    "other",
    [
        end("1", "b"),
        end("2", "a"),
        end("2", "b", what="off_bus"),
        end("2", "b", at=BEFORE_S + 1),
        end("2", "b", at=-BEFORE_S - 1),
    ],
    ids=["itself", "on the same node", "another fault", "later", "earlier"],
)
def test_jobs_that_share_nothing(other: AttemptEnd) -> None:
    assert jobs_sharing(end("1", "a"), [other]) == 0


def test_runs_of_one_owner_share_mistakes_but_not_cables() -> None:
    def data(uid: str, owner: str) -> AttemptEnd:
        return end(uid, uid, owner=owner, what="data_error", domain=Domain.WORKLOAD)

    assert jobs_sharing(data("1", "ada"), [data("2", "ada"), data("3", "bob")]) == 1
    assert jobs_sharing(end("1", "a", owner="ada"), [end("2", "b", owner="ada")]) == 1
