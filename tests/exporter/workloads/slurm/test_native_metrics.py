"""What slurmctld 26.05 tells of itself without slurmdbd, and what the collector reads of the same cluster.

The scrape is of two nodes with eight GPUs each, all sixteen held by one job, while one of the nodes drains.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope.workloads.observation import NodeState, Observation
from gpuscope.workloads.slurm import SlurmSource

SCRAPE = Path(__file__).parent / "data/26.05-native"
DOCS = Path(__file__).parents[4] / "docs/collector-slurm.md"
NOW = 1796035240.0
NO_GPUS = "cpu=2,mem=2000M,billing=2"
"""A TRES as Slurm writes it where nobody accounts for GPUs."""


@pytest.fixture(scope="module")
def native() -> dict[str, float]:
    """Value of each series, by its text with labels."""
    lines = [line for file in sorted(SCRAPE.glob("*.prom")) for line in file.read_text(encoding="utf-8").splitlines()]
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines)}


@pytest.fixture
def seen(slurm: Callable[[str], Path]) -> Observation:
    """The collector's look at the cluster of the scrape, in the records of 26.05."""
    folder = slurm("26.05-after")
    (folder / "sacct.fail").write_text("Slurm accounting storage is disabled\n")
    nodes = json.loads((folder / "nodes.json").read_text())
    nodes["nodes"] = [
        node | {"state": state, "gres_used": "gpu:h100:8(IDX:0-7)", "tres": NO_GPUS, "tres_used": "cpu=1"}
        for node, state in zip(nodes["nodes"], (["MIXED", "DRAIN"], ["MIXED"]), strict=False)
    ]
    (folder / "nodes.json").write_text(json.dumps(nodes))
    jobs = json.loads((folder / "jobs.json").read_text())
    known = {job["job_id"]: job for job in jobs["jobs"]}
    held = {
        "job_state": ["RUNNING"], "nodes": "gpu-[1-2]", "node_count": {"set": True, "number": 2}, "restart_cnt": 0,
        "start_time": {"set": True, "number": 1796035200}, "tres_req_str": "cpu=2,node=2,billing=2",
        "tres_alloc_str": "cpu=2,node=2,billing=2", "tres_per_node": "",
        "gres_detail": ["gpu:h100:8(IDX:0-7)", "gpu:h100:8(IDX:0-7)"],
    }  # fmt: skip
    jobs["jobs"] = [known[1], known[11], known[2] | held]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    looked = SlurmSource(folder).observe(NOW)
    assert (looked.complete, dict(looked.problems)) == (True, {})
    return looked


def test_gpus_of_jobs_read_0_in_slurms_metrics_and_right_here(native: dict[str, float], seen: Observation) -> None:
    for series in (
        "slurm_jobs_gpus_alloc",
        'slurm_user_jobs_gpus_alloc{username="root"}',
        "slurm_account_jobs_gpus_alloc",
        'slurm_partition_jobs_gpus_alloc{partition="ml"}',
    ):
        assert native[series] == 0
    running = [job for job in seen.jobs if job.outcome is None]
    assert len(running) == native["slurm_jobs_running"] == 1
    assert running[0].facts.gpus == 16


def test_gpus_of_nodes_read_0_in_slurms_metrics_and_right_here(native: dict[str, float], seen: Observation) -> None:
    assert native['slurm_partition_gpus{partition="ml"}'] == 0
    assert {node.name for node in seen.nodes} == {"gpu-1", "gpu-2"}
    for node in seen.nodes:
        assert native[f'slurm_node_gpus{{node="{node.name}"}}'] == 0
        assert node.gpus == 8
        # More than it has, by its own account: this one comes from GRES, as all do here.
        assert native[f'slurm_node_gpus_alloc{{node="{node.name}"}}'] == node.gpus_allocated == 8


def test_a_node_has_one_state_here_and_counts_twice_there(native: dict[str, float], seen: Observation) -> None:
    assert native["slurm_nodes"] == len(seen.nodes) == 2
    assert native["slurm_nodes_mixed"] + native["slurm_nodes_draining"] == 3
    assert [node.state for node in seen.nodes] == [NodeState.DRAINING, NodeState.READY]


def test_no_series_of_slurms_names_a_job(native: dict[str, float]) -> None:
    labels = {label for series in native for label in re.findall(r'[{,]([a-z_]+)="', series)}
    assert labels
    assert labels <= {"node", "partition", "username", "account"}


def test_the_documentation_names_series_that_are_there(native: dict[str, float]) -> None:
    known = {series.partition("{")[0] for series in native}
    named = set(re.findall(r"`(slurm_[a-z_]+)(?:\{[a-z]+})?`", DOCS.read_text(encoding="utf-8")))
    assert len(named) >= 8
    assert named <= known
