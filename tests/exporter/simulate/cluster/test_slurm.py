"""The Slurm of a simulated cluster: what its commands tell agrees with its exporters and its agents, and adds up."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.exporter.simulate.cluster.conftest import Cluster

from gpuscope import simulate
from gpuscope.attribution.slurm import read_job_files
from gpuscope.simulate.cluster.plan import BLOCK, scenarios_of
from gpuscope.simulate.cluster.shape import Shape
from gpuscope.simulate.cluster.slurm import KEPT_S, ClusterSlurm, ended_jobs
from gpuscope.simulate.cluster.world import World
from gpuscope.simulate.driver import SimulatedDriver
from gpuscope.simulate.jobs import ID_STEP
from gpuscope.simulate.slurm import SlurmPrograms
from gpuscope.simulate.tenants import SimulatedTenants
from gpuscope.workloads.observation import JobState, NodeState, Observation, ObservedJob, Outcome
from gpuscope.workloads.slurm import SlurmSource

Make = Callable[..., Cluster]
MOMENTS = (0, 70, 130, 258, 270, 560, 860, 1000)
"""Seconds of the story at pace 4: jobs begin, end, wait after a requeue, and a node breaks."""


class _Asked:
    """A cluster of Slurm and the source that reads real ones."""

    def __init__(self, made: Cluster, folder: Path) -> None:
        self.made = made
        self._programs = SlurmPrograms(folder, ClusterSlurm(made.world), made.clock.now())
        self._source = SlurmSource(folder, accounting_every_s=0)

    def at(self, moment: float) -> Observation:
        self.made.clock.advance(self.made.world.epoch + moment - self.made.clock.now())
        self._programs.go_on(self.made.clock.now())
        seen = self._source.observe(self.made.clock.now())
        assert (seen.complete, dict(seen.problems)) == (True, {})
        return seen

    def told(self, name: str, source: str = "slurm", **labels: str) -> float:
        return sum(self.made.samples(name, source, **labels).values())


@pytest.fixture
def asked(cluster: Make, tmp_path: Path) -> _Asked:
    return _Asked(cluster("slurm", shape=Shape(pace=4)), tmp_path / "slurm")


def _living(seen: Observation) -> list[ObservedJob]:
    return [job for job in seen.jobs if job.outcome is None]


def test_commands_count_what_exporters_count(asked: _Asked) -> None:
    for moment in MOMENTS:
        seen = asked.at(moment)
        states = Counter("running" if job.nodes else "pending" for job in _living(seen))
        states |= Counter(job.outcome.value for job in seen.jobs if job.outcome is not None)
        for theirs, ours in (
            ("running", "running"), ("pending", "pending"), ("completed", "succeeded"), ("failed", "failed"),
            ("node_failed", "interrupted"),
        ):  # fmt: skip
            assert asked.told(f"slurm_jobs_{theirs}") == states[ours], (moment, theirs)
        for job in _living(seen):
            assert asked.told("slurm_user_jobs", username=job.facts.user) > 0
            assert asked.told("slurm_account_jobs", account=job.facts.team) > 0
        assert {part.name for part in seen.partitions} == {"gpu"}
        held = sum(job.facts.gpus or 0 for job in _living(seen) if job.nodes)
        assert held == asked.told("slurm_partition_jobs_gpus_alloc", partition="gpu") > 30
        for node in seen.nodes:
            assert node.gpus == asked.told("slurm_node_gpus", node=node.name)
            assert node.gpus_allocated == asked.told("slurm_node_gpus_alloc", node=node.name)
        drained = [node for node in seen.nodes if node.state in {NodeState.DRAINED, NodeState.DRAINING}]
        assert len(drained) == asked.told("slurm_nodes_drain") <= 1


def test_jobs_are_those_that_hold_the_gpus(asked: _Asked) -> None:
    for moment in (130, 258, 560):
        seen = asked.at(moment)
        held = {(job.key.uid, node) for job in _living(seen) for node in job.nodes}
        of_gpus = {
            (dict(pairs)["hpc_job"], dict(pairs)["Hostname"])
            for _, pairs in asked.made.samples("DCGM_FI_DEV_FB_USED")
            if dict(pairs).get("hpc_job")
        }
        assert of_gpus == held, moment


def test_agents_find_the_same_jobs_although_they_start_later(asked: _Asked, tmp_path: Path) -> None:
    world = asked.made.world
    seen = asked.at(270)
    for name, value in list(scenarios_of(world.shape).items())[:4]:
        file = tmp_path / f"{name}.yaml"
        file.write_text(yaml.safe_dump({**value, "began": int(world.epoch)}))
        driver = SimulatedDriver(simulate.load(str(file)), seed=name, clock=asked.made.clock)
        driver.write_procfs(tmp_path / name / "proc")
        tenants = SimulatedTenants(driver.node, tmp_path / name, tmp_path / name / "proc", name)
        driver.node.tick()
        assert tenants.job_mapping_dir is not None
        files = read_job_files(tenants.job_mapping_dir)
        found = {job for jobs in files.jobs.values() for job in jobs}
        assert found == {job.key.uid for job in _living(seen) if name in job.nodes}
        by_id = {job.key.uid: job.facts for job in seen.jobs}
        assert all(facts.account == by_id[job].team for job, facts in files.facts.items())
        tenants.close()
        driver.close()


def test_a_job_that_breaks_is_requeued_under_its_id_and_then_done(asked: _Asked) -> None:
    runs = []
    for moment in (100, 258, 400, 558, 700, 860, 1000):
        job = next(job for job in _living(asked.at(moment)) if job.facts.name == "llama-pretrain")
        runs.append((int(job.key.uid), job.restarts, job.state, len(job.nodes)))
    first = runs[0][0]
    assert runs == [
        (first, 0, JobState.TRAINING, 2), (first, 1, JobState.RECOVERING, 0), (first, 1, JobState.TRAINING, 2),
        (first, 2, JobState.RECOVERING, 0), (first, 2, JobState.TRAINING, 2),
        (first + ID_STEP, 0, JobState.QUEUED, 0), (first + ID_STEP, 0, JobState.TRAINING, 2),
    ]  # fmt: skip
    done = next(job for job in asked.at(1000).jobs if job.key.uid == str(first))
    assert (done.outcome, [one.outcome for one in done.attempts]) == (
        Outcome.SUCCEEDED, [Outcome.FAILED, Outcome.FAILED, Outcome.SUCCEEDED],
    )  # fmt: skip
    assert [one.evidence.exit_codes for one in done.attempts] == [(134,), (134,), ()]
    assert done.attempts[0].started is not None
    assert done.attempts[0].started - done.created == 45, "it waited"


def test_a_node_that_breaks_takes_its_job_away_and_is_drained(asked: _Asked) -> None:
    before, after = asked.at(540), asked.at(560)
    name = f"gpu-{BLOCK:03}"
    assert next(node for node in before.nodes if node.name == name).state is NodeState.READY
    broken = next(node for node in after.nodes if node.name == name)
    assert (broken.state, "XID 79" in broken.reason) == (NodeState.DRAINED, True)
    assert broken.since is not None
    assert 10 <= asked.made.clock.now() - broken.since <= 14
    struck = next(job for job in after.jobs if job.facts.name == "moe-pretrain" and job.outcome is None)
    assert (struck.state, struck.restarts) == (JobState.RECOVERING, 1)
    assert (struck.attempts[0].evidence.state, struck.attempts[0].nodes) == ("NODE_FAIL", (name,))


def test_what_ended_is_forgotten_and_counted_all_the_same(asked: _Asked) -> None:
    early = {job.key.uid for job in asked.at(300).jobs if job.outcome is not None}
    numbers = [ended_jobs(asked.made.world, job) for job in asked.made.world.slurm_jobs]
    assert early
    late = {job.key.uid for job in asked.at(300 + KEPT_S + 5).jobs}
    assert not early & late
    after = [ended_jobs(asked.made.world, job) for job in asked.made.world.slurm_jobs]
    assert all(new >= old for new, old in zip(after, numbers, strict=True))
    assert all(ended >= done for ended, done in after)
    assert asked.told("slurm_sdiag_jobs_completed") + asked.told("slurm_sdiag_jobs_failed") == sum(
        ended for ended, _ in after
    )


def test_no_two_jobs_of_a_large_fleet_ever_have_one_id() -> None:
    where: dict[int, set[str]] = {}
    again: dict[int, int] = {}
    for value in scenarios_of(Shape(nodes=1250, slurm=True, inference=False)).values():
        for job in value["jobs"]:
            where.setdefault(job["id"], set()).add(job["job_name"])
            if "every" in job:
                again[job["id"]] = job["id"] % ID_STEP
    assert {len(names) for names in where.values()} == {1}
    assert len(set(again.values())) == len(again) > 500
    assert max(where.keys() - again.keys()) < min(again) - 800 * ID_STEP


def test_jobs_that_come_once_are_there_from_their_begin_to_their_end(write: Callable[[str], str]) -> None:
    clock = simulate.ManualClock()
    scenario = write(
        """
gpus: [{model: h100-sxm, count: 2}, {model: h100-sxm, mig: [{profile: 1g.10gb}]}]
jobs:
  - {id: 7, user: mei, gpus: [0], begin: 60, end: 120}
  - {id: 8, user: otto, mig: [2/0]}
events:
  - {at: 100, do: mig, gpu: 2, instances: []}
"""
    )
    world = World(Shape(fleet={"a1": scenario}), clock)
    told = ClusterSlurm(world)
    seen = []
    for _ in range(4):
        told.go_on(0)
        seen.append({number: job.state for number, job in told.jobs.items()})
        clock.advance(50)
    assert seen == [
        {8: "RUNNING"}, {8: "RUNNING"}, {7: "RUNNING", 8: "PENDING"}, {7: "COMPLETED", 8: "PENDING"},
    ]  # fmt: skip
    assert told.jobs[7].plan.name == "job-7"
    assert told.free(told.hosts[0]) == told.hosts[0].gpus == 3
    assert [one.job_id for one in told.past] == [7]
