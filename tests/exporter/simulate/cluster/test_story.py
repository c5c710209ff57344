"""One story: what different sources say of it agrees, and it goes on as it should."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.exporter.simulate.cluster.conftest import Cluster, Key, parsed

from gpuscope.catalogue import METRICS
from gpuscope.errors import ConfigError
from gpuscope.simulate import SimulatedDriver, load
from gpuscope.simulate.cluster.curves import Cycle
from gpuscope.simulate.cluster.plan import CORDON, scenarios_of
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.sources.dcgm_fields import FIELDS
from gpuscope.simulate.cluster.workloads import Attempts
from gpuscope.simulate.cluster.world import World
from gpuscope.simulate.tenancy import Run

Make = Callable[..., Cluster]


def _go(made: Cluster, moment: float) -> None:
    made.clock.advance(made.world.epoch + moment - made.clock.now())


def _values(found: dict[Key, float], *names: str) -> set[tuple[str, ...]]:
    return {tuple(dict(pairs).get(name, "") for name in names) for _, pairs in found if dict(pairs).get(names[-1])}


@pytest.mark.parametrize("moment", [0, 500, 1100, 1500, 2300])
def test_who_holds_a_gpu_in_dcgm_exporter_runs_in_kube_state_metrics(cluster: Make, moment: float) -> None:
    made = cluster()
    _go(made, moment)
    held = _values(made.samples("DCGM_FI_DEV_FB_USED"), "Hostname", "namespace", "pod")
    running = {
        (dict(pairs)["namespace"], dict(pairs)["pod"])
        for (_, pairs), value in made.samples("kube_pod_status_phase", phase="Running").items()
        if value
    }
    nodes = _values(made.samples("kube_pod_info"), "node", "namespace", "pod")
    assert held
    assert held <= nodes
    assert {(space, pod) for _, space, pod in held} <= running
    assert {pod for _, _, pod in held} <= {
        pod for (pod,) in _values(made.samples("container_spec_memory_limit_bytes"), "pod")
    }


def test_gpus_that_kueue_counts_are_those_that_training_pods_hold(cluster: Make) -> None:
    made = cluster("no-mig")
    for moment in (600, 1100, 1500):
        _go(made, moment)
        used = sum(made.samples("kueue_cluster_queue_resource_usage").values())
        kinds = {"Job", "PyTorchJob"}
        owners = {
            (dict(pairs)["namespace"], dict(pairs)["pod"])
            for (_, pairs) in made.samples("kube_pod_owner")
            if dict(pairs).get("owner_kind") in kinds
        }
        held = {
            (dict(pairs)["UUID"])
            for (_, pairs) in made.samples("DCGM_FI_DEV_FB_USED")
            if (dict(pairs).get("namespace"), dict(pairs).get("pod")) in owners
        }
        assert used == len(held) > 8


def test_both_namings_of_dcgm_say_the_same(cluster: Make) -> None:
    old, new = cluster("dcgm-classic", "amd"), cluster("dcgm-modern")
    _go(old, 950)
    _go(new, 950)
    names = {field.name(modern=False): field.name(modern=True) for field in FIELDS}
    assert len(set(names) - set(names.values())) > 15
    for before, after in names.items():
        one = {_node_as(pairs, "Hostname"): value for (_, pairs), value in old.samples(before).items()}
        two = {_node_as(pairs, "hostname"): value for (_, pairs), value in new.samples(after).items()}
        assert one == two, before
        assert one, before


def test_names_of_dcgm_are_those_of_the_catalogue() -> None:
    known = {pair[0]: pair[1] or pair[0] for metric in METRICS for pair in metric.dcgm_pairs}
    served = {field.classic: field.modern or field.classic for field in FIELDS}
    assert served == {name: known[name] for name in served}


def _node_as(pairs: tuple[tuple[str, str], ...], name: str) -> frozenset[tuple[str, str]]:
    return frozenset(("node", value) if label == name else (label, value) for label, value in pairs)


def test_a_pair_of_kube_state_metrics_agrees(cluster: Make) -> None:
    made = cluster("kube-state-pair")
    _go(made, 300)
    one, two = made.endpoints("kube-state-pair")
    assert one.target.render() == two.target.render()
    assert one.target.labels != two.target.labels
    assert {key for key in one.target.labels if one.target.labels[key] != two.target.labels[key]} == {"instance", "pod"}


def test_two_clusters_share_names_and_no_gpu(cluster: Make) -> None:
    made = cluster("two-clusters", shape=Shape(nodes=2))
    texts = made.texts("dcgm-classic")
    found: dict[str, list[dict[str, str]]] = {}
    for path, text in texts.items():
        for name, pairs in parsed(text):
            if name == "DCGM_FI_DEV_GPU_TEMP":
                found.setdefault(path.split("/")[1], []).append(dict(pairs))
    sim, other = found["sim"], found["sim-2"]
    assert [one["Hostname"] for one in sim] == [one["Hostname"] for one in other]
    assert not {one["UUID"] for one in sim} & {one["UUID"] for one in other}


def test_a_node_breaks_is_cordoned_repaired_and_used_again(cluster: Make) -> None:
    made = cluster()
    states, codes = {}, {}
    for moment in (10, 1250, 1400, 2170, 2300):
        _go(made, moment)
        states[moment] = (
            sum(made.samples("kube_node_spec_unschedulable", node="gpu-008").values()),
            len(made.samples("DCGM_FI_DEV_GPU_TEMP", Hostname="gpu-008")),
            sum(made.samples("fault_quarantine_current_quarantined_nodes").values()),
        )
        codes[moment] = max(made.samples("DCGM_FI_DEV_XID_ERRORS", Hostname="gpu-008").values())
    # A GPU that is gone says nothing; one that is back keeps its last code.
    assert codes == {10: 0, 1250: 79, 1400: 79, 2170: 0, 2300: 0}
    assert states == {10: (1, 7, 1), 1250: (1, 8, 1), 1400: (0, 8, 0), 2170: (0, 7, 0), 2300: (1, 7, 1)}
    seen = made.samples("syslog_health_monitor_xid_errors", node="gpu-008")
    assert list(seen.values()) == [2]


def test_nothing_breaks_in_a_healthy_cluster(cluster: Make) -> None:
    made = cluster("healthy")
    for moment in (10, 200, 1000, 2300):
        _go(made, moment)
        assert not any(made.samples("kube_node_spec_unschedulable").values())
        assert not any(made.samples("DCGM_FI_DEV_XID_ERRORS").values())
        assert not any(made.samples("kube_pod_container_status_restarts_total").values())
        assert not any(made.samples("kube_pod_status_phase", phase="Pending").values())
        assert max(made.samples("vllm:kv_cache_usage_perc").values()) < 0.7


def test_a_burst_fills_the_cache_and_asks_for_a_replica(cluster: Make) -> None:
    made = cluster()
    full, wanted, pending = [], [], []
    for moment in (100, 300):
        _go(made, moment)
        full.append(max(made.samples("vllm:kv_cache_usage_perc").values()))
        desired = made.samples("kube_horizontalpodautoscaler_status_desired_replicas", namespace="team-chat")
        wanted.append(sum(desired.values()))
        pending.append(sum(made.samples("kube_pod_status_phase", phase="Pending").values()))
    assert full[0] < 0.6 < 0.95 < full[1]
    assert (wanted, pending) == ([2, 3], [0, 1])


def test_a_team_holds_idle_gpus(cluster: Make) -> None:
    made = cluster()
    _go(made, 100)
    held = made.samples("DCGM_FI_DEV_GPU_UTIL", pod="notebook-anna")
    assert list(held.values()) == [0, 0, 0, 0]


def test_attempts_are_counted_as_they_come() -> None:
    attempts = Attempts(Cycle(100.0), 80.0, ("a", "b", ""))
    assert [attempts.state(t) for t in (10, 45, 60, 90, 260, 290)] == [
        "loading", "training", "detecting", "recovering", "training", "queued",
    ]  # fmt: skip
    assert [attempts.ended(0, t) for t in (79, 80, 179, 280)] == [0, 1, 1, 3]
    assert [attempts.ended(-300, 300, reason) for reason in ("a", "b", "")] == [2, 2, 2]
    assert attempts.ended(-250, 79, "b") == sum(1 for n in (-3, -2, -1) if n % 3 == 1 and -250 < 100 * n + 80 <= 79)
    assert attempts.reasons() == ("a", "b")
    assert attempts.seconds(0, 100, "waiting") == 20


def test_agents_of_written_scenarios_see_the_same_machines(tmp_path: Path, cluster: Make) -> None:
    made = cluster(shape=Shape(nodes=8))
    for name, value in scenarios_of(Shape(nodes=8)).items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(value), encoding="utf-8")
        driver = SimulatedDriver(load(str(path)), clock=made.clock, seed=name)
        agent = driver.node
        machine = made.world.machine(name)
        for moment in (10, 1210):
            _go(made, moment)
            assert _seen(agent.runs()) == _seen(machine.runs())
        assert {gpu.uuid for gpu in agent.gpus if not gpu.lost} == {gpu.uuid for gpu in machine.gpus()}
        driver.close()
        made = cluster(shape=Shape(nodes=8))


def _seen(runs: tuple[Run, ...]) -> set[tuple[str, str, tuple[str, ...]]]:
    return {(run.name, run.uid, tuple((one.mig or one.gpu).uuid for one in run.held)) for run in runs}


def test_a_fleet_of_scenarios_is_a_cluster_too(cluster: Make) -> None:
    made = cluster(shape=Shape(fleet={"h100-a": "h100x8", "h100-b": "h100-mig+xid-burst", "slurm-a": "l40s"}))
    _go(made, 60)
    assert set(_values(made.samples("kube_node_info"), "node")) == {("h100-a",), ("h100-b",), ("slurm-a",)}
    assert ("llama-pretrain-worker-0",) in _values(made.samples("kube_pod_info"), "pod")
    assert ("h100-a", "llama-pretrain-worker-0") in _values(made.samples("DCGM_FI_DEV_FB_USED"), "Hostname", "pod")
    assert sum(made.samples("DCGM_EXP_XID_ERRORS_COUNT", Hostname="h100-b").values()) > 1


def test_slurm_tells_of_the_jobs_that_hold_gpus(cluster: Make) -> None:
    made = cluster("slurm")
    _go(made, 500)
    held = {
        (dict(pairs)["UUID"], dict(pairs).get("GPU_I_ID"))
        for (_, pairs) in made.samples("DCGM_FI_DEV_FB_USED")
        if dict(pairs).get("hpc_job")
    }
    assert sum(made.samples("slurm_node_gpus_alloc").values()) == len(held) > 20
    assert sum(made.samples("slurm_gpus_alloc").values()) == len(held)
    assert sum(made.samples("slurm_jobs_gpus_alloc").values()) == len(held)
    assert sum(made.samples("slurm_nodes_drained").values()) == 1
    assert sum(made.samples("slurm_user_jobs_running", "slurm").values()) == sum(
        made.samples("slurm_jobs_running").values()
    )
    assert made.endpoints("kube-state") == []


def test_a_large_fleet_has_every_name_once() -> None:
    scenarios = scenarios_of(Shape(nodes=40))
    pods = [(pod["namespace"], pod["name"]) for value in scenarios.values() for pod in value["pods"]]
    assert len(pods) == len(set(pods)) > 100
    assert CORDON["begin"] < CORDON["fault"] < CORDON["cordoned"] < CORDON["every"]


def test_a_wrong_scenario_is_named() -> None:
    made = Cluster((), Shape(nodes=1))
    with pytest.raises(ConfigError, match="neither a shipped scenario nor a file"):
        World(Shape(fleet={"a": "nowhere"}), made.clock)


def test_pace_brings_events_nearer_and_leaves_clocks_alone(cluster: Make) -> None:
    slow, fast = cluster(shape=Shape()), cluster(shape=Shape(pace=4))
    slow.clock.advance(1400)
    fast.clock.advance(350)
    assert slow.world.machine("gpu-008").cordoned == fast.world.machine("gpu-008").cordoned is False
    (name,) = [one.workload.name for one in fast.world.trainings if one.workload.name.startswith("moe")]
    assert [pod.workload.name for pod in fast.world.pods(fast.world.machine("gpu-008"))] == [name]
    fast.clock.advance((CORDON["cordoned"] - CORDON["begin"]) / 4)
    assert fast.world.machine("gpu-008").cordoned
    assert fast.world.machine("gpu-008").cordons(0) == 1
    attempts = [
        next(one.attempts for one in made.world.trainings if one.workload.name == "llama-pretrain")
        for made in (slow, fast)
    ]
    assert [one.cycle.every for one in attempts if one] == [1200, 300]
    assert fast.world.now - fast.world.epoch == 350 + (CORDON["cordoned"] - CORDON["begin"]) / 4


def test_a_run_of_ray_waits_for_a_part_of_the_time(cluster: Make) -> None:
    made = cluster()
    (name,) = made.texts("ray-train")
    before = parsed(made.texts("ray-train")[name])
    made.clock.advance(600)
    after = parsed(made.texts("ray-train")[name])
    waited = {key: value - before[key] for key, value in after.items()}
    checkpoints = [value for (metric, _), value in waited.items() if metric.startswith("ray_train_report")]
    assert len(checkpoints) == 2
    assert all(0 < value <= 0.06 * 600 for value in checkpoints)
    (data,) = [value for (metric, _), value in waited.items() if metric.startswith("ray_data_iter")]
    assert data == pytest.approx(40)


def test_the_mig_manager_labels_its_nodes(cluster: Make) -> None:
    labels = cluster().samples("kube_node_labels")
    asked = {dict(pairs)["node"]: dict(pairs)["label_nvidia_com_mig_config"] for _, pairs in labels}
    assert asked["gpu-004"] == "custom-mixed"
    assert {name for name, config in asked.items() if config == "all-disabled"} == asked.keys() - {"gpu-004"}
    assert not any("mig_config" in str(pairs) for _, pairs in cluster("no-mig").samples("kube_node_labels"))
