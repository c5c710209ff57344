"""The time that a device spends in each state."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.attribution.allocation import Allocation, Container, PodHold
from gpuscope.attribution.devices import Devices
from gpuscope.attribution.look import Look
from gpuscope.attribution.states import StateSeconds
from gpuscope.catalogue.metric import Sample
from gpuscope.nvml.identity import DriverStatus, GpuIdentity, MigInstance
from gpuscope.sampling.looks import look
from gpuscope.sampling.snapshot import GpuStatus

STEP_S = 5.0
GPU = GpuIdentity(0, "GPU-a", "NVIDIA H100")
SMALL = MigInstance("MIG-a", 0, 7, 0, "1g.10gb")
HELD = (PodHold(Container("ml", "train-0", "main")),)


def by_device(samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    """UUID of a device -> state -> seconds."""
    found: dict[str, dict[str, float]] = {}
    for metric, labels, value in samples:
        uuid = labels[2] if metric.name.startswith("gpuscope_mig_") else labels[1]
        found.setdefault(uuid, {})[labels[-1]] = value
    return found


def one(up: bool = True, activity: float | None = 0.0, **fields) -> Look:
    return Look(GPU, up, activity={} if activity is None else {"GPU-a": activity}, **fields)


@pytest.mark.parametrize(
    ("seen", "pods", "complete", "state"),
    [
        (one(activity=0.5), (), False, "busy"),
        (one(activity=0.01), HELD, True, "busy"),
        (one(activity=0.009), HELD, True, "idle_allocated"),
        (one(), HELD, False, "idle_allocated"),
        (one(), (), True, "unallocated"),
        (one(), (), False, "unknown"),
        (one(activity=None), HELD, True, "unknown"),
        (one(activity=None), (), True, "unallocated"),
        (one(up=False, activity=0.5), HELD, True, "unhealthy"),
        (one(asks_for_action=True), HELD, True, "unhealthy"),
        (one(asks_for_action=True, activity=0.5), HELD, True, "busy"),
        (one(up=False, looked=False), HELD, True, "unknown"),
    ],
)
def test_a_device_is_in_one_state(seen: Look, pods, complete: bool, state: str) -> None:
    account = StateSeconds()
    allocation = Allocation(Devices({GPU: ()}), {"GPU-a": pods} if pods else {}, complete=complete)
    account.advance(0.0, [seen], allocation)
    found = by_device(account.advance(STEP_S, [seen], allocation))["GPU-a"]
    assert account.now == {"GPU-a": state}
    assert {name: seconds for name, seconds in found.items() if seconds} == {state: STEP_S}
    assert found.keys() >= {"busy", "idle_allocated", "unallocated", "unhealthy"}, "counters begin at 0"


@pytest.mark.parametrize(("activity", "state"), [(0.0, "idle_allocated"), (0.001, "busy"), (None, "unknown")])
def test_with_a_threshold_of_0_any_work_is_busy_and_none_is_not(activity: float | None, state: str) -> None:
    account = StateSeconds(busy_from=0.0)
    account.advance(0.0, [one(activity=activity)], Allocation(Devices({GPU: ()}), {"GPU-a": HELD}, complete=True))
    assert account.now == {"GPU-a": state}


def test_a_process_that_nobody_asked_for_makes_a_gpu_allocated() -> None:
    account = StateSeconds()
    account.advance(0.0, [one()], Allocation(Devices({GPU: ()}), in_use=frozenset({"GPU-a"}), complete=True))
    assert account.now == {"GPU-a": "idle_allocated"}


def test_in_mig_mode_the_time_is_that_of_the_mig_devices() -> None:
    account = StateSeconds()
    whole, parted = one(), Look(GPU, True, mig_enabled=True, mig=[SMALL], activity={"MIG-a": 0.4})
    account.advance(0.0, [whole], Allocation())
    assert by_device(account.advance(5.0, [parted], Allocation())).keys() == {"MIG-a"}
    assert by_device(account.advance(10.0, [parted], Allocation()))["MIG-a"]["busy"] == 5.0
    # Lost, it keeps its devices; read again without them, they are gone.
    lost = by_device(account.advance(15.0, [replace(parted, up=False, mig=())], Allocation()))
    assert lost["MIG-a"]["unhealthy"] == 5.0
    assert by_device(account.advance(20.0, [replace(parted, mig=())], Allocation())) == {}
    again = by_device(account.advance(25.0, [whole], Allocation()))
    assert sum(again["GPU-a"].values()) == 0.0


HAPPENINGS = st.lists(
    st.tuples(
        st.integers(1, 60),  # sampling intervals until the next thing happens
        st.sampled_from(["pod comes", "pod goes", "lost", "back", "kubelet away", "kubelet back", "work", "idle"]),
    ),
    max_size=60,
)


@given(HAPPENINGS, st.floats(0.1, 30.0))
def test_the_states_sum_to_wall_time_whatever_happens(happenings: list[tuple[int, str]], step_s: float) -> None:
    account = StateSeconds()
    seen, pods, complete = one(), {}, True
    now = begun = 1000.0
    found = by_device(account.advance(now, [seen], Allocation(Devices({GPU: ()}), pods, complete=complete)))
    for intervals, what in happenings:
        for _ in range(intervals):
            now += step_s
            found = by_device(account.advance(now, [seen], Allocation(Devices({GPU: ()}), pods, complete=complete)))
            assert sum(found["GPU-a"].values()) == pytest.approx(now - begun)
        seen = {
            "lost": replace(seen, up=False),
            "back": replace(seen, up=True),
            "work": replace(seen, activity={"GPU-a": 0.9}),
            "idle": replace(seen, activity={"GPU-a": 0.0}),
        }.get(what, seen)
        pods = {"pod comes": {"GPU-a": HELD}, "pod goes": {}}.get(what, pods)
        complete = {"kubelet away": False, "kubelet back": True}.get(what, complete)
    assert all(seconds >= 0 for seconds in found["GPU-a"].values())


def test_an_hour_of_a_simulated_machine_is_accounted_for(machine) -> None:
    """Pods come and go on GPU 0 and on a MIG device, GPU 1 is lost and comes back; the readings are the driver's."""
    # No other reading says anything about a state; see gpuscope.sampling.looks.
    simulated = machine("h100-mig", collectors=frozenset({"utilization", "activity", "recovery"}))
    account = StateSeconds()
    driver = DriverStatus(ok=True)
    found: dict[str, dict[str, float]] = {}
    uuids = [sampler.gpu.uuid for sampler in simulated.samplers]
    mig_uuid = simulated.samplers[4].gpu.mig[0].uuid
    hour = 3600.0
    passed = 0.0
    while True:
        lost = 1200 <= passed < 1800
        statuses = []
        for index, sampler in enumerate(simulated.samplers):
            up = not (lost and index == 1)
            statuses.append(
                GpuStatus(
                    identity=sampler.gpu.identity,
                    up=up,
                    reason="" if up else "lost",
                    since=0.0,
                    sampled=None,
                    mig_enabled=sampler.gpu.mig_enabled if up else None,
                    mig=tuple(device.instance for device in sampler.gpu.mig) if up else (),
                    samples=sampler.samples() if up else (),
                )
            )
        looks = [look(status, driver) for status in statuses]
        holding = 600 <= passed < 2400
        pods = {uuids[0]: HELD, mig_uuid: HELD} if holding else {}
        found = by_device(account.advance(passed, looks, Allocation(Devices().updated(looks), pods, complete=True)))
        if passed >= hour:
            break
        step = 60.0
        simulated.cycle(step)
        passed += step
    devices = {uuids[0], uuids[1], uuids[2], uuids[3]} | {
        device.uuid for sampler in simulated.samplers for device in sampler.gpu.mig
    }
    assert found.keys() == devices
    for uuid, states in found.items():
        assert sum(states.values()) == pytest.approx(hour), uuid
        assert "unknown" not in states
    assert found[uuids[1]]["unhealthy"] == 600.0
    assert {uuid for uuid, states in found.items() if states["unhealthy"]} == {uuids[1]}
    # Held and idle is only possible while held; free only while not, and not at work.
    assert found[uuids[0]]["idle_allocated"] <= 1800.0
    assert found[uuids[0]]["unallocated"] <= 1800.0


def test_a_restart_is_a_counter_reset() -> None:
    first, second = StateSeconds(), StateSeconds()
    first.advance(0.0, [one()], Allocation())
    before = by_device(first.advance(50.0, [one()], Allocation()))["GPU-a"]
    after = by_device(second.advance(60.0, [one()], Allocation()))["GPU-a"]
    assert sum(before.values()) == 50.0
    assert set(after.values()) == {0.0}
