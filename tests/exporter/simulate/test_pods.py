"""Pods and jobs of a scenario as kubelet tells of them, and what they do to the devices that they hold."""

from collections.abc import Callable

import pynvml as nvml  # noqa: TID251
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuscope import simulate
from gpuscope.errors import ConfigError
from gpuscope.simulate.allocated import pod_resources
from gpuscope.simulate.driver import SimulatedDriver
from gpuscope.simulate.jobs import JobPlan

GPUS = """
gpus:
  - {model: h100-sxm, count: 2, job: training, job_name: llama}
  - {model: h100-sxm, job: inference, replicas: 4}
  - {model: h100-sxm}
  - model: h100-sxm
    mig:
      - {profile: 3g.40gb, job: inference, ci: [1, 2]}
      - {profile: 2g.20gb, job: batch}
      - {profile: 1g.10gb+me, job: notebook}
"""
A, B, SHARED, DRA, MIG = range(5)


@pytest.fixture
def machine(rig, write) -> Callable[[str], object]:
    """A machine of five GPUs with these pods and jobs."""
    return lambda text: rig(write(GPUS + text))


def _told(driver: SimulatedDriver) -> dict[str, list[str]]:
    """``namespace/pod/container`` -> its resources and device ids, as kubelet tells them."""
    found: dict[str, list[str]] = {}
    for pod in pod_resources(driver.node.runs(), "node-a").pod_resources:
        for container in pod.containers:
            names = [f"{entry.resource_name} {one}" for entry in container.devices for one in entry.device_ids]
            for claim in container.dynamic_resources:
                for one in claim.claim_resources:
                    place = f"{one.driver_name}/{one.pool_name}/{one.device_name}"
                    names.append(f"{claim.claim_namespace}/{claim.claim_name} {place}")
                    assert [cdi.name.partition("=")[0] for cdi in one.cdi_devices] == ["k8s.gpu.nvidia.com/claim"]
                    assert all(cdi.name.endswith(f"-{one.device_name}") for cdi in one.cdi_devices)
            found[f"{pod.namespace}/{pod.name}/{container.name}"] = names
    return found


def _jobs(driver: SimulatedDriver) -> list[str]:
    return [run.name for run in driver.node.runs() if isinstance(run.plan, JobPlan)]


def _busy(one, index: int) -> int:
    return nvml.nvmlDeviceGetUtilizationRates(one.gpu(index)).gpu


def _pids(one, index: int) -> list[int]:
    return [process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(one.gpu(index))]


def test_every_form_of_device_is_told(machine) -> None:
    one = machine("""
pods:
  - {namespace: a, name: whole, gpus: [0, 1]}
  - {namespace: b, name: share-0, gpus: [2]}
  - {namespace: b, name: share-1, gpus: [2], resource: nvidia.com/gpu.shared}
  - {namespace: b, name: share-2, gpus: [2], ids: gke}
  - {namespace: c, name: claimed, gpus: [3], mig: [4/3], claim: two}
  - namespace: d
    name: parts
    containers:
      - {name: first, mig: [4/0]}
      - {name: legacy, mig: [4/1], ids: legacy}
      - {name: gke, mig: [4/2], ids: gke}
      - {name: bare}
""")
    gpus = one.driver.node.gpus
    mig = gpus[MIG].mig
    assert _told(one.driver) == {
        "a/whole/main": [f"nvidia.com/gpu {gpus[A].uuid}", f"nvidia.com/gpu {gpus[B].uuid}"],
        "b/share-0/main": [f"nvidia.com/gpu {gpus[SHARED].uuid}::0"],
        "b/share-1/main": [f"nvidia.com/gpu.shared {gpus[SHARED].uuid}::1"],
        # The short forms count device minors, which are not NVML's indexes.
        "b/share-2/main": ["nvidia.com/gpu nvidia3/vgpu2"],
        "c/claimed/main": [
            "c/two gpu.nvidia.com/node-a/gpu-2",
            "c/two gpu.nvidia.com/node-a/gpu-5-mig-1g10gb-me-19-6",
        ],
        "d/parts/first": [f"nvidia.com/mig-1c.3g.40gb {mig[0].uuid}"],
        "d/parts/legacy": [f"nvidia.com/mig-2c.3g.40gb MIG-{gpus[MIG].uuid}/{mig[1].gi}/1"],
        "d/parts/gke": [f"nvidia.com/mig-2g.20gb nvidia5/gi{mig[2].gi}"],
        "d/parts/bare": [],
    }


def test_pods_come_end_and_are_replaced_on_the_same_device(machine) -> None:
    one = machine("""
pods:
  - {namespace: a, name: first, gpus: [0], end: 100}
  - {namespace: a, name: second, gpus: [0], begin: 100, end: 150}
""")
    seen = []
    for _ in range(6):
        seen.append((sorted(_told(one.driver)), _pids(one, 0), _busy(one, 0) > 0))
        one.clock.advance(30)
    first, second = (["a/first/main"], [20000, 20003], True), (["a/second/main"], [40007, 40010], True)
    assert seen == [first, first, first, first, second, ([], [], False)]


def test_a_pod_that_comes_again_has_another_name_and_uid(machine) -> None:
    one = machine("pods: [{namespace: a, name: batch, gpus: [0], activity: finetune, end: 60, every: 100}]")
    names, uids = set(), set()
    for _ in range(3):
        (name,) = _told(one.driver)
        names.add(name)
        uids.add(one.driver.node.runs()[0].uid)
        assert _busy(one, 0) > 0
        one.clock.advance(70)
        assert _told(one.driver) == {}
        assert _busy(one, 0) == 0
        one.clock.advance(30)
    assert len(names) == len(uids) == 3
    assert all(name.startswith("a/batch-") for name in names)


def test_names_and_uids_follow_from_the_machines_name(rig, write) -> None:
    path = write(GPUS + "pods: [{namespace: a, name: batch, gpus: [0], end: 60, every: 100}]")
    same, twin, other = (rig(path, seed=seed).driver.node.runs()[0] for seed in ("n1", "n1", "n2"))
    assert (same.name, same.uid) == (twin.name, twin.uid)
    assert (same.name, same.uid) != (other.name, other.uid)


def test_a_uid_can_be_given(machine) -> None:
    uid = "1b3e1a0c-9d4f-4c1e-8a77-0f4e2f9c1d23"
    one = machine(f"pods: [{{namespace: a, name: b, uid: {uid}, gpus: [0]}}]")
    assert one.driver.node.runs()[0].uid == uid


def test_a_holder_says_what_its_device_does(machine) -> None:
    one = machine("""
pods:
  - {namespace: a, name: as-the-gpu, gpus: [0]}
  - {namespace: a, name: idle, gpus: [1], activity: idle, end: 60}
  - {namespace: a, name: other, gpus: [3], activity: training, job_name: llama}
""")
    one.clock.advance(1)
    assert _busy(one, 0) > 90
    assert (_busy(one, 1), _pids(one, 1)) == (0, [])
    assert _busy(one, 3) > 90
    # Whoever holds a GPU at some time leaves it idle; a GPU that no pod or job names does what its `job` says.
    one.clock.advance(60)
    assert _busy(one, 1) == 0
    assert _busy(one, 2) > 0
    assert _pids(one, 2) == [20034, 20037]


def test_those_who_share_a_gpu_never_have_more_than_it_has(machine) -> None:
    one = machine("""
pods:
  - {namespace: a, name: p0, gpus: [2], activity: training}
  - {namespace: a, name: p1, gpus: [2], activity: training}
  - {namespace: a, name: p2, gpus: [2], activity: training, end: 50}
  - {namespace: a, name: p3, gpus: [2], activity: training, end: 40}
  - {namespace: a, name: p4, gpus: [2], activity: idle, begin: 40}
""")
    gpu = one.gpu(SHARED)
    for _ in range(20):
        one.clock.advance(5)
        memory = nvml.nvmlDeviceGetMemoryInfo(gpu, version=nvml.nvmlMemory_v2)
        processes = nvml.nvmlDeviceGetComputeRunningProcesses(gpu)
        assert all(0 < process.usedGpuMemory < memory.total / 4 for process in processes)
        assert sum(process.usedGpuMemory for process in processes) <= memory.used
        samples = nvml.nvmlDeviceGetProcessUtilization(gpu, 0)
        assert 0 < sum(sample.smUtil for sample in samples) <= 102
    # The idle one has no process, and two have ended.
    assert len(processes) == 2


def test_the_free_share_is_given_to_the_next(machine) -> None:
    one = machine("""
pods:
  - {namespace: a, name: p0, gpus: [2], end: 50}
  - {namespace: a, name: p1, gpus: [2]}
  - {namespace: a, name: p2, gpus: [2], begin: 60}
""")
    one.clock.advance(61)
    ids = [names[0].rpartition("::")[2] for names in _told(one.driver).values()]
    assert ids == ["1", "0"]


def test_jobs_share_when_both_say_so_and_come_again_with_another_id(machine) -> None:
    one = machine("""
jobs:
  - {id: 7, user: mei, gpus: [0], shared: true, activity: batch}
  - {id: 8, user: otto, gpus: [0], shared: true, activity: batch}
  - {id: 9, user: kim, mig: [4/0], end: 50, every: 100}
""")
    seen = []
    for _ in range(4):
        seen.append(_jobs(one.driver))
        one.clock.advance(60)
    assert seen == [["7", "8", "9"], ["7", "8"], ["7", "8", "1009"], ["7", "8"]]
    assert _told(one.driver) == {}


def test_claims_let_containers_and_pods_share_one_device(machine) -> None:
    one = machine("""
pods:
  - namespace: a
    name: pair
    containers:
      - {name: x, gpus: [3], claim: one}
      - {name: y, gpus: [3], claim: one}
  - {namespace: a, name: third, gpus: [3], claim: one}
""")
    assert list(_told(one.driver).values()) == [["a/one gpu.nvidia.com/node-a/gpu-2"]] * 3


def test_a_mig_event_ends_those_on_its_gpu_for_good_and_lets_others_in(machine) -> None:
    one = machine("""
pods:
  - {namespace: a, name: old, mig: [4/0], end: 30, every: 40}
  - {namespace: a, name: both, gpus: [0], mig: [4/3]}
  - {namespace: a, name: new, mig: [4/1], begin: 60, end: 150}
events:
  - {at: 60, do: mig, gpu: 4, instances: [{profile: 3g.40gb}, {profile: 4g.40gb, job: finetune}]}
""")
    one.clock.advance(45)
    assert [name.partition("-")[0] for name in _told(one.driver)] == ["a/both/main", "a/old"]
    for _ in range(4):
        one.clock.advance(20)
        assert list(_told(one.driver)) == ["a/new/main"]
        assert (_busy(one, 0), _pids(one, 0)) == (0, [])
        assert len(_pids(one, MIG)) == 1
    one.clock.advance(30)
    assert (_told(one.driver), _pids(one, MIG)) == ({}, [])


def test_a_pod_waits_until_the_one_before_it_has_ended(machine) -> None:
    # So late nobody has checked that the two do not meet.
    one = machine("""
pods:
  - {namespace: a, name: often, gpus: [0], end: 10, every: 20}
  - {namespace: a, name: late, gpus: [0], begin: 20005, end: 20100}
""")
    seen = []
    for at in (10_000, 20_006, 20_011, 20_025, 20_101):
        for _ in range(10):
            one.clock.advance((at - (one.clock.now() - one.driver.node.start)) / 2)
            one.driver.node.tick()
        one.clock.advance(at - (one.clock.now() - one.driver.node.start))
        seen.append([name.partition("/")[2].partition("-")[0].partition("/")[0] for name in _told(one.driver)])
    assert seen == [["often"], ["often"], ["late"], ["late"], ["often"]]


def test_a_pod_waits_for_a_device_that_is_taken_or_not_there(machine) -> None:
    one = machine("""
pods:
  - {namespace: a, name: holder, gpus: [3], begin: 10, end: 40}
  - {namespace: a, name: late, mig: [3/0], begin: 30, end: 100}
events:
  - {at: 25, do: mig, gpu: 3, instances: [{profile: 7g.80gb}]}
""")
    one.driver.inject("mig", gpu=3, instances=[{"profile": "7g.80gb"}])
    one.clock.advance(15)
    assert _told(one.driver) == {}
    one.driver.inject("mig", gpu=3, instances=[])
    assert list(_told(one.driver)) == ["a/holder/main"]
    one.clock.advance(16)
    assert list(_told(one.driver)) == ["a/late/main"]
    one.clock.advance(70)
    assert _told(one.driver) == {}


def test_another_job_on_a_gpu_is_what_its_holders_do(machine) -> None:
    one = machine("pods: [{namespace: a, name: b, gpus: [0]}]")
    one.clock.advance(1)
    one.driver.inject("job", gpu=0, kind="idle")
    assert (_busy(one, 0), list(_told(one.driver))) == (0, ["a/b/main"])


def test_after_a_long_gap_what_came_and_went_is_left_out(machine) -> None:
    one = machine("pods: [{namespace: a, name: b, gpus: [0], end: 10, every: 20}]")
    one.clock.advance(20_000_000 + 5)
    before = one.driver.node.runs()[0]
    assert before.number == 1_000_000
    one.clock.advance(10)
    assert one.driver.node.runs() == ()


def test_the_shipped_machines_show_every_kind_of_holder() -> None:
    told: dict[str, set[str]] = {}
    for info in simulate.scenarios():
        if info.kind == "node":
            driver = SimulatedDriver(simulate.load(info.name), clock=simulate.ManualClock())
            resources = {name.split()[0] for names in _told(driver).values() for name in names}
            told[info.name] = resources | ({"slurm"} if _jobs(driver) else set())
            driver.close()
    assert told == {
        "h100x8": {"nvidia.com/gpu"},
        "h100-pretrain": {"nvidia.com/gpu"},
        "h100-mig": {
            "nvidia.com/gpu",
            "nvidia.com/mig-1g.10gb", "nvidia.com/mig-1g.20gb", "nvidia.com/mig-2g.20gb",
            "nvidia.com/mig-3g.40gb", "nvidia.com/mig-4g.40gb",
            "nvidia.com/mig-1c.3g.40gb", "nvidia.com/mig-2c.3g.40gb",
        },
        "a100-mig": {
            "nvidia.com/gpu",
            "nvidia.com/mig-3g.40gb", "nvidia.com/mig-2g.20gb", "nvidia.com/mig-1g.10gb",
            "team-nlp/adapter-sft-gpu",
        },
        "gb200": {"team-moe/moe-pretrain-worker-3-gpus"},
        "l40s": {"slurm"},
    }  # fmt: skip


@pytest.mark.parametrize("scenario", ["h100x8", "h100-mig", "a100-mig", "gb200", "l40s", "h100-mig+mig-reconfigured"])
def test_nothing_on_a_shipped_machine_waits_for_long(scenario: str) -> None:
    clock = simulate.ManualClock()
    driver = SimulatedDriver(simulate.load(scenario), clock=clock)
    plans = [*driver.scenario.pods, *driver.scenario.jobs]
    seen = set()
    for _ in range(90):
        seen |= {id(run.plan) for run in driver.node.runs()}
        clock.advance(20)
    assert {id(plan) for plan in plans} - seen - _cut_short(scenario, plans) == set()
    driver.close()


def _cut_short(scenario: str, plans: list) -> set[int]:
    """GPU 3 is cut before the pod that wants the whole of it comes."""
    return {id(plan) for plan in plans if "+" in scenario and getattr(plan, "name", "") == "evaluate"}


HOLDERS = st.lists(
    st.fixed_dictionaries(
        {"namespace": st.just("a"), "name": st.sampled_from(["p", "q", "r", "s"])},
        optional={
            "gpus": st.lists(st.integers(0, 4), max_size=3),
            "mig": st.lists(st.sampled_from(["4/0", "4/1", "4/3", "4/4", "1/0", "x"]), max_size=2),
            "begin": st.integers(0, 60) | st.floats(),
            "end": st.integers(0, 90),
            "every": st.integers(0, 200),
            "activity": st.sampled_from(["idle", "batch", "mining"]),
            "claim": st.just("c"),
        },
    ),
    max_size=6,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(HOLDERS, st.lists(st.integers(1, 120), max_size=5))
def test_any_pods_are_a_scenario_that_runs_or_one_line_of_error(write, pods: list, steps: list[int]) -> None:
    try:
        scenario = simulate.load(write(f"{GPUS}\npods: {pods!r}".replace("nan", ".nan").replace("inf", ".inf")))
    except ConfigError as error:
        problem = str(error)
    else:
        _run(scenario, steps)
        return
    assert "mine.yaml:" in problem
    assert "\n" not in problem


def _run(scenario: simulate.Scenario, steps: list[int]) -> None:
    clock = simulate.ManualClock()
    driver = SimulatedDriver(scenario, clock=clock)
    for step in steps:
        clock.advance(step)
        told = [name for names in _told(driver).values() for name in names]
        whole = [name for name in told if name.startswith("nvidia.com/") and "::" not in name]
        assert len(whole) == len(set(whole))
    driver.close()
