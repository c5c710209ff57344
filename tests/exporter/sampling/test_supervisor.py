"""The sampler with its threads: one broken GPU costs that GPU, a lost driver comes back, nothing stale is published."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuscope import simulate
from gpuscope.catalogue import DEFAULT_OFF, SUBJECTS
from gpuscope.catalogue.metric import Tier
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.xids import XidCatalogue
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.snapshot import GpuStatus, Snapshot
from gpuscope.sampling.supervisor import Supervisor

INTERVALS = {Tier.FAST: 0.2, Tier.ACTIVITY: 0.2, Tier.PROCESSES: 0.3, Tier.SLOW: 0.5}
PATIENCE_S = 30.0


class Agent:
    """A running sampler on a simulated driver; ``until`` waits for a snapshot that satisfies."""

    def __init__(self, scenario: str, procfs: Path, **options: object) -> None:
        self.driver = simulate.SimulatedDriver(simulate.load(scenario), clock=simulate.RealClock())
        self.driver.write_procfs(procfs)
        self.options = SamplingOptions(
            node="n",
            collectors=frozenset(set(SUBJECTS) - DEFAULT_OFF),
            intervals=INTERVALS,
            deadline_s=0.8,
            procfs=procfs,
            **options,  # type: ignore[arg-type]
        )
        self.ledger = FaultLedger(XidCatalogue.load())
        self.supervisor = Supervisor(self.options, self.ledger, self.ledger.nvml_event, self.driver.open)
        self.supervisor.start()

    def until(self, wanted: Callable[[Snapshot], object]) -> Snapshot:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            snapshot = self.supervisor.snapshot()
            if wanted(snapshot):
                return snapshot
            time.sleep(0.05)
        raise AssertionError(f"never came; last: {[(g.identity.index, g.up, g.reason) for g in snapshot.gpus]}")

    def close(self) -> None:
        self.supervisor.stop()
        self.driver.close()
        assert self.driver.callback_errors == []


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    running: list[Agent] = []

    def start(scenario: str, **options: object) -> Agent:
        running.append(Agent(scenario, tmp_path, **options))
        return running[-1]

    yield start
    for one in running:
        one.close()


def _value(gpu: GpuStatus, name: str, *extra: str) -> float | None:
    for metric, labels, value in gpu.samples:
        if metric.name == name and (not extra or labels[-len(extra) :] == extra):
            return value
    return None


def _all_up(snapshot: Snapshot) -> bool:
    return snapshot.ready and all(gpu.up for gpu in snapshot.gpus)


def _energy(snapshot: Snapshot, index: int) -> float | None:
    return _value(snapshot.gpus[index], "gpuscope_gpu_energy_joules_total")


def _others_move(agent: Agent, since: Snapshot, broken: int) -> None:
    others = [index for index in range(len(since.gpus)) if index != broken]
    agent.until(lambda now: all((_energy(now, index) or 0) > (_energy(since, index) or 0) for index in others))


def _assert_gone_but_known(gpu: GpuStatus, reason: str) -> None:
    assert (gpu.up, gpu.reason) == (False, reason)
    assert _value(gpu, "gpuscope_gpu_up") == 0
    assert _value(gpu, "gpuscope_gpu_failure_info", reason) == 1
    assert _value(gpu, "gpuscope_gpu_info") == 1
    readings = {sample.metric.name for sample in gpu.samples}
    allowed = {"gpuscope_gpu_up", "gpuscope_gpu_failure_info", "gpuscope_gpu_info", "gpuscope_gpu_worker_stuck"}
    assert {name for name in readings - allowed if "xid" not in name and "nvml_events" not in name} == set()


def test_a_lost_gpu_is_down_with_its_reason_and_the_others_go_on(agent) -> None:
    one = agent("h100x8")
    one.until(_all_up)
    one.driver.inject("lost", gpu=3)
    snapshot = one.until(lambda now: now.gpus[3].reason)
    _assert_gone_but_known(snapshot.gpus[3], "lost")
    _others_move(one, snapshot, 3)
    one.driver.inject("recovered", gpu=3)
    one.until(_all_up)


def test_a_wedged_call_costs_its_gpu_only_and_the_agent_stays_alive(agent) -> None:
    one = agent("h100x8")
    one.until(_all_up)
    one.driver.inject("wedge", gpu=1)
    snapshot = one.until(lambda now: now.gpus[1].reason)
    _assert_gone_but_known(snapshot.gpus[1], "timeout")
    assert _value(snapshot.gpus[1], "gpuscope_gpu_worker_stuck") == 1
    _others_move(one, snapshot, 1)
    assert one.supervisor.alive() == (True, "")
    assert one.supervisor.stuck_for_s() > 0.8
    one.driver.inject("unwedge", gpu=1)
    back = one.until(_all_up)
    assert _value(back.gpus[1], "gpuscope_gpu_worker_stuck") == 0


def test_a_wedged_call_does_not_make_the_cycles_of_the_others_late(agent) -> None:
    """A check that is late would be told beside the GPU that hangs."""
    one = agent("h100x8")
    one.until(_all_up)
    one.driver.inject("wedge", gpu=1)
    hung = one.until(lambda now: now.gpus[1].reason).created
    one.until(lambda now: (_last_cycle(now, "fast") or 0.0) > hung)
    one.driver.inject("unwedge", gpu=1)


def _last_cycle(snapshot: Snapshot, tier: str) -> float | None:
    name = "gpuscope_cycle_last_success_timestamp_seconds"
    return next(
        (value for metric, labels, value in snapshot.node_samples if (metric.name, *labels) == (name, tier)), None
    )


def test_a_gpu_that_hangs_from_the_start_hides_no_other_from_attribution(agent, tmp_path: Path) -> None:
    scenario = tmp_path / "hangs.yaml"
    scenario.write_text("title: hangs\nextends: h100x8\nevents: [{at: 0, do: wedge, gpu: 1}]\n", encoding="utf-8")
    one = agent(str(scenario))
    one.until(lambda now: len(now.gpus) == 8 and now.gpus[1].reason == "timeout")
    one.until(lambda _: one.supervisor.publisher.looks)
    assert [look.up for look in one.supervisor.publisher.looks] == [True, False, *[True] * 6]


def test_attribution_sees_all_gpus_or_none(agent) -> None:
    one = agent("h100x8")
    seen: set[int] = set()
    one.until(lambda now: seen.add(len(one.supervisor.publisher.looks)) or _all_up(now))
    one.until(lambda _: one.supervisor.publisher.looks)
    assert seen <= {0, 8}


def test_a_gpu_that_needs_a_reset_says_so(agent) -> None:
    one = agent("h100x8")
    one.until(_all_up)
    one.driver.inject("reset_required", gpu=0)
    _assert_gone_but_known(one.until(lambda now: now.gpus[0].reason).gpus[0], "reset_required")


def test_counters_go_on_after_the_driver_was_reloaded(agent) -> None:
    one = agent("h100x8")
    first = one.until(lambda now: _all_up(now) and _value(now.gpus[0], "gpuscope_gpu_gpm_window_seconds_total"))
    one.driver.inject("driver_unloaded")
    down = one.until(lambda now: not now.driver.ok)
    assert not down.ready
    for gpu in down.gpus:
        _assert_gone_but_known(gpu, "driver")
    one.driver.inject("driver_loaded", version="595.45.04")
    back = one.until(lambda now: _all_up(now) and _value(now.gpus[0], "gpuscope_gpu_gpm_window_seconds_total"))
    assert back.driver.driver_version == "595.45.04"
    before = _value(first.gpus[0], "gpuscope_gpu_gpm_window_seconds_total") or 0
    assert (_value(back.gpus[0], "gpuscope_gpu_gpm_window_seconds_total") or 0) >= before


def test_counters_of_a_gpu_that_was_down_go_on_after_the_driver_was_reloaded(agent) -> None:
    name = "gpuscope_gpu_gpm_window_seconds_total"
    one = agent("h100x8")
    first = one.until(lambda now: _all_up(now) and (_value(now.gpus[0], name) or 0) > 1.5)
    one.driver.inject("lost", gpu=0)
    one.until(lambda now: now.gpus[0].reason == "lost")
    one.driver.inject("driver_unloaded")
    one.until(lambda now: not now.driver.ok)
    one.driver.inject("recovered", gpu=0)
    one.driver.inject("driver_loaded", version="595.45.04")
    back = one.until(lambda now: _all_up(now) and _value(now.gpus[0], name))
    assert (_value(back.gpus[0], name) or 0) >= (_value(first.gpus[0], name) or 0)


def test_no_gpu_counts_as_lost_while_the_driver_comes_back(agent) -> None:
    one = agent("h100x8")
    one.until(_all_up)
    one.driver.inject("driver_unloaded")
    one.until(lambda now: not now.driver.ok)
    one.driver.inject("driver_loaded", version="590.48.01")
    reasons: set[str] = set()

    def watch(now: Snapshot) -> bool:
        reasons.update(gpu.reason for gpu in now.gpus)
        return _all_up(now)

    one.until(watch)
    assert reasons <= {"", "driver"}


def test_without_a_driver_it_stays_up_says_so_and_retries(agent) -> None:
    one = agent("no-driver")
    snapshot = one.until(lambda now: now.driver.reason == "library_not_found")
    assert not snapshot.ready
    assert b"gpuscope_up 0\n" in snapshot.exposition.body()
    assert b'gpuscope_driver_unavailable_info{reason="library_not_found"} 1\n' in snapshot.exposition.body()
    assert one.supervisor.alive() == (True, "")
    one.driver.inject("driver_loaded", version="590.48.01")
    one.until(_all_up)


def test_release_lets_the_driver_go_and_resume_takes_it_up(agent) -> None:
    one = agent("h100x8")
    one.until(_all_up)
    one.supervisor.release()
    one.until(lambda now: now.driver.reason == "released")
    assert not one.driver.node.initialized
    assert one.driver.node.gpm_samples == {}
    one.supervisor.resume()
    one.until(_all_up)


def test_mig_reconfiguration_is_followed_by_event(agent) -> None:
    one = agent("h100-mig")
    before = one.until(_all_up)
    old = {instance.uuid for instance in before.gpus[5].mig}
    one.driver.inject("mig", gpu=5, instances=[{"profile": "7g.80gb", "job": "training"}])
    after = one.until(lambda now: {instance.uuid for instance in now.gpus[5].mig}.isdisjoint(old) and now.gpus[5].mig)
    assert [instance.profile for instance in after.gpus[5].mig] == ["7g.80gb"]
    text = after.exposition.body().decode()
    assert not any(uuid in text for uuid in old)


def test_a_known_gpu_that_the_new_driver_does_not_list_is_lost(agent) -> None:
    one = agent("h100x8")
    one.until(_all_up)
    gone = one.driver.node.gpus.pop()
    one.driver.inject("driver_unloaded")
    one.until(lambda now: not now.driver.ok)
    one.driver.inject("driver_loaded", version="590.48.01")
    snapshot = one.until(lambda now: now.ready and sum(gpu.up for gpu in now.gpus) == 7)
    missing = next(gpu for gpu in snapshot.gpus if gpu.identity.uuid == gone.uuid)
    _assert_gone_but_known(missing, "lost")
    assert snapshot.expected_gpus == 8


def test_new_settings_come_into_force_without_an_empty_exposition(agent) -> None:
    one = agent("h100x8")
    one.until(_all_up)
    fewer = SamplingOptions(
        node="n", collectors=frozenset({"inventory", "agent", "power"}), intervals=INTERVALS, procfs=one.options.procfs
    )
    smallest = 10**9
    one.supervisor.reconfigure(fewer)

    def watch(now: Snapshot) -> bool:
        nonlocal smallest
        smallest = min(smallest, now.exposition.body().count(b"gpuscope_gpu_power_watts{"))
        return b"gpuscope_gpu_temperature_celsius" not in now.exposition.body()

    one.until(watch)
    assert smallest == 8


def test_a_broken_collector_costs_its_own_series(agent, monkeypatch) -> None:
    from gpuscope.collectors import COLLECTORS

    power = next(one for one in COLLECTORS if one.name == "power")
    original = power.reads[Tier.FAST]
    broken = {"now": False}

    def read(gpu, out) -> None:
        if broken["now"]:
            raise RuntimeError("broken on purpose")
        original(gpu, out)

    monkeypatch.setitem(power.reads, Tier.FAST, read)
    one = agent("h100x8")
    one.until(_all_up)
    broken["now"] = True
    snapshot = one.until(lambda now: _value(now.gpus[0], "gpuscope_gpu_power_watts") is None)
    assert all(gpu.up for gpu in snapshot.gpus)
    assert _value(snapshot.gpus[0], "gpuscope_gpu_temperature_celsius") is not None
    assert b'gpuscope_collector_success{collector="power"} 0\n' in snapshot.exposition.body()


def test_stop_is_prompt_also_while_a_call_hangs(agent) -> None:
    one = agent("h100x8")
    one.until(_all_up)
    one.driver.inject("wedge", gpu=1)
    one.until(lambda now: now.gpus[1].reason == "timeout")
    one.supervisor.stop()
    assert not one.supervisor.publisher.heartbeat_age_s() > PATIENCE_S
