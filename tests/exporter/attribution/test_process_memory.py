"""Sums of GPU memory by owner."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from gpuscope.attribution.process_memory import MemoryByOwner, memory_by_owner
from gpuscope.attribution.process_owner import Owner, Unknown
from gpuscope.nvml.identity import MigInstance
from gpuscope.nvml.processes import Process

_GPU = "GPU-0"
_GIB = 1 << 30
_A = Owner("uid-a", "team-a", "trainer", "main")
_A2 = Owner("uid-a", "team-a", "trainer", "side")
_B = Owner("uid-b", "team-b", "server", "vllm")
_NAMELESS = Owner("uid-c")
_JOB = Owner(job_id="42", user="alice")
_HOST = Owner()
_OWNERS = {1: _A, 2: _A, 3: _A2, 4: _B, 5: _NAMELESS, 6: _JOB, 7: _HOST, 8: Unknown.GONE, 9: Unknown.UNREADABLE}
_MIG = (
    MigInstance("MIG-a", 0, gi=3, ci=0, profile="1g"),
    MigInstance("MIG-b", 1, gi=5, ci=0, profile="1c.2g"),
    MigInstance("MIG-c", 2, gi=5, ci=1, profile="1c.2g"),
)


def _process(pid: int, gib: int | None, gi: int | None = None, ci: int | None = None) -> Process:
    return Process(pid, None if gib is None else gib * _GIB, gi, ci)


def _memory(*processes: Process, **options: object) -> MemoryByOwner:
    given_ = {"gpu_uuid": _GPU, "visible": True, **options}
    return memory_by_owner(processes, _OWNERS.__getitem__, **given_)  # type: ignore[arg-type]


def test_processes_of_one_container_are_summed() -> None:
    memory = _memory(_process(1, 10), _process(2, 5), _process(3, 1), _process(4, 7))
    assert memory.pods() == {
        (_GPU, "team-a", "trainer", "main"): 15 * _GIB,
        (_GPU, "team-a", "trainer", "side"): 1 * _GIB,
        (_GPU, "team-b", "server", "vllm"): 7 * _GIB,
    }
    assert memory.jobs() == {}
    assert memory.unowned() == {}
    assert not memory.problems


def test_jobs_and_programs_of_the_host_are_told_apart_from_pods() -> None:
    memory = _memory(_process(6, 3), _process(7, 2), _process(1, 1))
    assert memory.jobs() == {(_GPU, "42"): 3 * _GIB}
    assert memory.unowned() == {_GPU: 2 * _GIB}
    assert memory.pods() == {(_GPU, "team-a", "trainer", "main"): 1 * _GIB}


def test_a_job_in_a_pod_counts_for_both() -> None:
    inside = [Owner("uid-a", "n", "p", "c", "5", "alice"), Owner("uid-a", "n", "p", "c", "6", "bob")]
    memory = memory_by_owner(
        [_process(1, 1), _process(2, 2)], {1: inside[0], 2: inside[1]}.__getitem__, gpu_uuid=_GPU, visible=True
    )
    assert memory.pods() == {(_GPU, "n", "p", "c"): 3 * _GIB}
    assert memory.jobs() == {(_GPU, "5"): 1 * _GIB, (_GPU, "6"): 2 * _GIB}


def test_a_program_in_several_lists_counts_once() -> None:
    assert _memory(_process(1, 4), _process(1, 4), _process(1, None)).pods() == {
        (_GPU, "team-a", "trainer", "main"): 4 * _GIB
    }
    assert _memory(_process(1, 4), _process(1, 3)).pods() == {(_GPU, "team-a", "trainer", "main"): 4 * _GIB}
    assert _memory(_process(1, None), _process(1, 0)).pods() == {(_GPU, "team-a", "trainer", "main"): 0}


def test_memory_that_the_driver_does_not_tell_makes_its_owner_absent_and_no_other() -> None:
    memory = _memory(_process(1, 10), _process(2, None), _process(3, 1), _process(6, None), _process(7, None))
    assert memory.pods() == {(_GPU, "team-a", "trainer", "side"): 1 * _GIB}
    assert memory.jobs() == {}
    assert memory.unowned() == {}
    assert memory.problems == {"memory_unknown": 3}


def test_a_sum_over_several_owners_is_absent_when_one_of_them_is_not_known() -> None:
    inside = {1: Owner("uid-a", "n", "p", "c", "5"), 2: Owner("uid-a", "n", "p", "c", "6")}
    memory = memory_by_owner([_process(1, 1), _process(2, None)], inside.__getitem__, gpu_uuid=_GPU, visible=True)
    assert memory.pods() == {}
    assert memory.jobs() == {(_GPU, "5"): 1 * _GIB}


def test_a_process_that_is_gone_changes_no_sum() -> None:
    memory = _memory(_process(1, 10), _process(8, 5))
    assert memory.pods() == {(_GPU, "team-a", "trainer", "main"): 10 * _GIB}
    assert memory.problems == {"gone": 1}


def test_a_process_that_could_be_anyones_makes_its_device_absent() -> None:
    memory = _memory(_process(1, 10), _process(9, 5))
    assert memory.held == {}
    assert memory.problems == {"unreadable": 1}


def test_without_sight_of_the_hosts_processes_nothing_is_told() -> None:
    for visible in (False, None):
        assert _memory(_process(1, 10), _process(9, 1), visible=visible) == MemoryByOwner()


def test_a_pod_without_a_name_is_counted_and_not_told() -> None:
    memory = _memory(_process(5, 10), _process(4, 1))
    assert memory.pods() == {(_GPU, "team-b", "server", "vllm"): 1 * _GIB}
    assert memory.unowned() == {}
    assert memory.problems == {"unnamed_pod": 1}


def test_processes_of_mig_instances_belong_to_their_device() -> None:
    memory = _memory(
        _process(1, 1, 3, 0),
        _process(4, 2, 5, 0),
        _process(6, 3, 5, 1),
        _process(7, 4),
        _process(2, 5, 3),
        instances=_MIG,
    )
    assert memory.pods() == {
        ("MIG-a", "team-a", "trainer", "main"): 6 * _GIB,
        ("MIG-b", "team-b", "server", "vllm"): 2 * _GIB,
    }
    assert memory.jobs() == {("MIG-c", "42"): 3 * _GIB}
    assert memory.unowned() == {_GPU: 4 * _GIB}


def test_an_instance_that_is_not_known_or_not_told_apart_is_counted() -> None:
    memory = _memory(_process(1, 1, 9, 0), _process(4, 1, 5), _process(6, 3, 5, 1), instances=_MIG)
    assert memory.jobs() == {("MIG-c", "42"): 3 * _GIB}
    assert memory.pods() == {}
    assert memory.problems == {"no_such_instance": 2}


def test_an_unreadable_process_costs_its_own_instance_only() -> None:
    memory = _memory(_process(1, 1, 3, 0), _process(9, 1, 3, 0), _process(4, 2, 5, 0), instances=_MIG)
    assert memory.pods() == {("MIG-b", "team-b", "server", "vllm"): 2 * _GIB}


def test_sums_above_what_the_gpu_has_in_use_are_not_told() -> None:
    processes = (_process(1, 10), _process(7, 5))
    assert _memory(*processes, used={_GPU: 15 * _GIB}).held
    memory = _memory(*processes, used={_GPU: 15 * _GIB - 1})
    assert memory.held == {}
    assert memory.problems == {"exceeds_device": 1}


def test_sums_above_what_an_instance_has_in_use_cost_that_instance() -> None:
    processes = (_process(1, 1, 3, 0), _process(4, 2, 5, 0), _process(6, 3, 5, 1))
    used = {_GPU: 99 * _GIB, "MIG-a": 1 * _GIB, "MIG-b": 4 * _GIB, "MIG-c": 4 * _GIB}
    memory = _memory(*processes, instances=_MIG, used=used)
    assert memory.pods() == {("MIG-a", "team-a", "trainer", "main"): 1 * _GIB}
    assert memory.jobs() == {}
    assert memory.problems == {"exceeds_device": 2}
    used["MIG-b"] = used["MIG-c"] = 5 * _GIB
    assert _memory(*processes, instances=_MIG, used=used).jobs() == {("MIG-c", "42"): 3 * _GIB}


def test_the_owners_of_a_device_are_told_also_when_its_sums_are_not() -> None:
    memory = _memory(_process(1, None), _process(6, 1), _process(7, 1))
    assert memory.holders() == {_GPU: (_A, _JOB)}


_LISTED = st.lists(
    st.builds(
        Process,
        pid=st.integers(1, 9),
        used_bytes=st.none() | st.integers(0, 100),
        gi=st.sampled_from([None, 3, 5, 9]),
        ci=st.sampled_from([None, 0, 1]),
    ),
    max_size=12,
)


@given(_LISTED, st.dictionaries(st.sampled_from([_GPU, "MIG-a", "MIG-b", "MIG-c"]), st.integers(0, 300)))
def test_the_sum_over_owners_never_exceeds_the_device(processes: list[Process], used: dict[str, int]) -> None:
    memory = _memory(*processes, instances=_MIG, used=used)
    sums: dict[str, int] = {}
    for (device, owner), held in memory.held.items():
        assert owner in _OWNERS.values()
        sums[device] = sums.get(device, 0) + (held or 0)
    for device in sums.keys() & used.keys() - {"MIG-b", "MIG-c"}:
        assert sums[device] <= used[device]
    if _GPU in used:
        assert sum(sums.values()) <= used[_GPU]
    both = [used[one] for one in ("MIG-b", "MIG-c") if one in used]
    assert not both or sums.get("MIG-b", 0) + sums.get("MIG-c", 0) <= max(both)


@given(_LISTED, st.randoms())
def test_the_order_of_the_lists_does_not_matter(processes: list[Process], random: object) -> None:
    shuffle: Callable[[list[Process]], None] = random.shuffle  # type: ignore[attr-defined]
    other = processes.copy()
    shuffle(other)
    assert _memory(*processes, instances=_MIG) == _memory(*other, instances=_MIG)
