"""GPUs that do not answer, nodes that are gone, and clusters without any."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.fleet import DCGM, NATIVE, SOON, Device, dcgm, native

TWO = (Device(), Device(gpu=1, uuid="GPU-b"))
WITH_NODES = (*NATIVE, "kubernetes")
CAPACITY = 'kube_node_status_capacity{{instance="ksm:8080",node="{node}",resource="nvidia_com_gpu",unit="integer"}}'


def test_lost_gpu_is_down_unhealthy_and_missing(tmp_path: Path) -> None:
    """It fell off the bus: the agent keeps its name, its readings are gone, and two were installed."""
    samples = native(TWO[0])
    where = 'instance="10.0.0.1:9836",node="n1",gpu="1",uuid="GPU-b"'
    samples[f"gpuscope_gpu_up{{{where}}}"] = "0x40"
    samples[f'gpuscope_gpu_info{{{where},model="NVIDIA H100 80GB HBM3"}}'] = "1x40"
    samples['gpuscope_gpus_expected{instance="10.0.0.1:9836",node="n1"}'] = "2x40"
    expect(
        tmp_path,
        samples,
        {
            "gpu:up:bool == 0": {'gpu:up:bool{gpu="1",node="n1",uuid="GPU-b"}': 0},
            "gpu:healthy:bool": {
                'gpu:healthy:bool{gpu="0",node="n1",uuid="GPU-a"}': 1,
                'gpu:healthy:bool{gpu="1",node="n1",uuid="GPU-b"}': 0,
            },
            'gpu:power_watts:union{uuid="GPU-b"}': {},
            'node:gpus:count{state=~"installed|present|missing|healthy"}': {
                'node:gpus:count{node="n1",state="installed"}': 2,
                'node:gpus:count{node="n1",state="present"}': 1,
                'node:gpus:count{node="n1",state="missing"}': 1,
                'node:gpus:count{node="n1",state="healthy"}': 1,
            },
            'cluster:gpus:count{state="missing"}': {
                'cluster:gpus:count{state="missing",model="NVIDIA H100 80GB HBM3"}': 1
            },
        },
        only=NATIVE,
        at=SOON,
    )


def test_defect_18_missing_gpus_come_from_the_capacity_of_each_node_and_a_dead_node_counts(tmp_path: Path) -> None:
    """Not from a fixed eight: one node has two GPUs, one has four of which two answer, and one is dead.

    A node that works, and that no exporter ever watched, misses nothing that anybody knows of.
    """
    samples = dcgm(*TWO, Device(node="n2", uuid="GPU-c"), Device(node="n2", gpu=1, uuid="GPU-d"))
    for node, number in (("n1", 2), ("n2", 4), ("dead", 8), ("unwatched", 16)):
        samples[CAPACITY.format(node=node)] = f"{number}x40"
    for node, ready in (("dead", 0), ("unwatched", 1)):
        samples[f'kube_node_status_condition{{node="{node}",condition="Ready",status="true"}}'] = f"{ready}x40"
    expect(
        tmp_path,
        samples,
        {
            'node:gpus:count{state="missing"}': {
                'node:gpus:count{node="n1",state="missing"}': 0,
                'node:gpus:count{node="n2",state="missing"}': 2,
                'node:gpus:count{node="dead",state="missing"}': 8,
            },
            'cluster:gpus:count{state="missing"}': {
                'cluster:gpus:count{state="missing",model="NVIDIA H100 80GB HBM3"}': 2,
                'cluster:gpus:count{state="missing",model="unknown"}': 8,
            },
            'cluster:gpus:count{state="expected"}': {
                'cluster:gpus:count{state="expected",model="NVIDIA H100 80GB HBM3"}': 6,
                'cluster:gpus:count{state="expected",model="unknown"}': 24,
            },
        },
        only=(*DCGM, "kubernetes"),
        at=SOON,
    )


def test_without_any_exporter_no_gpu_is_called_missing(tmp_path: Path) -> None:
    expect(
        tmp_path,
        {CAPACITY.format(node="n1"): "8x40"},
        {
            'node:gpus:count{state="expected"}': {'node:gpus:count{node="n1",state="expected"}': 8},
            'node:gpus:count{state="missing"}': {},
            "cluster:info:union": {},
        },
        only=WITH_NODES,
        at="2m",
    )


def test_cluster_without_gpus_has_no_series_at_all(tmp_path: Path) -> None:
    """No zeros either: nothing is there that could be idle, missing or hot."""
    expect(
        tmp_path,
        {
            CAPACITY.format(node="n1"): "0x40",
            'gpuscope_up{instance="10.0.0.1:9836",node="n1"}': "1x40",
            'up{instance="10.0.0.1:9836",job="gpuscope"}': "1x40",
        },
        {'{__name__=~"gpu:.+|mig:.+|node:.*gpu.+|cluster:.+"}': {}},
        only=WITH_NODES,
        at="2m",
    )


def test_gpu_that_asks_for_a_reset_is_unhealthy_and_up(tmp_path: Path) -> None:
    samples = native(*TWO)
    for series in samples:
        if "recovery_action" in series and 'uuid="GPU-b"' in series:
            samples[series] = "0x40" if 'action="none"' in series else "1x40"
    expect(
        tmp_path,
        samples,
        {
            "gpu:healthy:bool == 0": {'gpu:healthy:bool{gpu="1",node="n1",uuid="GPU-b"}': 0},
            "gpu:up:bool == 0": {},
            'node:gpus:count{state="healthy"}': {'node:gpus:count{node="n1",state="healthy"}': 1},
        },
        only=NATIVE,
        at="2m",
    )


def test_owners_that_nobody_can_tell_are_absent_and_not_free(tmp_path: Path) -> None:
    """The agent runs without any source of allocations: free, idle and allocated are unknown."""
    samples = {name: values for name, values in native(*TWO).items() if "allocations" not in name}
    expect(
        tmp_path,
        samples,
        {"gpu:allocated:ratio_union": {}, "gpu:idle:bool": {}, 'node:gpus:count{state=~"allocated|idle"}': {}},
        only=NATIVE,
        at="2m",
    )


def test_gpus_that_only_a_scheduler_knows_are_not_held_among_those_that_answer(tmp_path: Path) -> None:
    """A bar of the way from expected to busy is a part of the one above it, also where nodes have no exporter."""
    node = 'node:gpus:count{cluster="c",node="%s",state="%s"}'
    samples = {
        node % ("seen", "present"): "8x20",
        node % ("seen", "allocated"): "6x20",
        node % ("torn", "present"): "6x20",
        node % ("torn", "allocated"): "8x20",
        node % ("dark", "allocated"): "8x20",
    }
    held = 'cluster:gpus:count{cluster="c",model="unknown",state="%s"}'
    expect(
        tmp_path,
        samples,
        {
            'cluster:gpus:count{state="allocated"}': {held % "allocated": 22},
            'cluster:gpus:count{state="allocated_present"}': {held % "allocated_present": 12},
        },
        only=("level-cluster",),
    )
