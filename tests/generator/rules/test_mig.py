"""MIG instances and the GPUs that they are parts of."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.generator.promtool import expect
from tests.generator.rules.fleet import DCGM, DEVICES, NATIVE, SOON, Device, dcgm, native
from tests.generator.rules.instances import GIB, SPLIT, Instance, dcgm_split, native_split

GPU = Device()
AT = 'gpu="0",node="n1",uuid="GPU-a"'


def renamed(device: Device, *instances: Instance) -> dict[str, str]:
    return dcgm_split(device, *instances, renamed=True)


@pytest.mark.parametrize("told", [native_split, dcgm_split, renamed])
def test_activity_of_a_gpu_in_mig_mode_is_weighted_by_slices(
    tmp_path: Path, told: Callable[..., dict[str, str]]
) -> None:
    """Utilization is not there in MIG mode; four of seven slices work, and five of seven are held."""
    expect(
        tmp_path,
        told(GPU, *SPLIT),
        {
            "gpu:mig_mode:bool": {f"gpu:mig_mode:bool{{{AT}}}": 1},
            "gpu:compute_active:ratio_union * 7": {f"{{{AT}}}": 4},
            "round(gpu:allocated:ratio_union * 7, 0.001)": {f"{{{AT}}}": 5},
            "gpu:idle:bool": {f"gpu:idle:bool{{{AT}}}": 0},
            'mig:compute_active:ratio_union{gi="3"}': {
                f'mig:compute_active:ratio_union{{{AT},gi="3",profile="2g.20gb"}}': 0.5
            },
            "mig:slices:count": {
                f'mig:slices:count{{{AT},gi="{one.gi}",profile="{one.profile}"}}': one.slices for one in SPLIT
            },
            'mig:memory_total_bytes:union{gi="1"}': {
                f'mig:memory_total_bytes:union{{{AT},gi="1",profile="3g.40gb"}}': 40 * GIB
            },
            "mig:allocated:bool": {
                f'mig:allocated:bool{{{AT},gi="{one.gi}",profile="{one.profile}"}}': float(bool(one.pod))
                for one in SPLIT
            },
            "count by (gi, pod) (mig:owner:union)": {'{gi="1",pod="big-0"}': 1, '{gi="3",pod="mid-0"}': 1},
            "count by (pod) (gpu:owner:union)": {'{pod="big-0"}': 1, '{pod="mid-0"}': 1},
            "count by (method) (gpu:compute_active_source:union)": {'{method="mig"}': 1},
            'node:gpus:count{state="present"}': {'node:gpus:count{node="n1",state="present"}': 1},
            'sum(cluster:gpus:count{state="expected"})': {"{}": 1},
            "node:gpu_memory_used_bytes:sum": {'node:gpu_memory_used_bytes:sum{node="n1"}': 48 * GIB},
        },
        only=NATIVE if told is native_split else DCGM,
        at=SOON,
    )


def test_whole_gpu_facts_of_a_split_gpu_count_once(tmp_path: Path) -> None:
    """dcgm-exporter gives every instance a copy of the power and the temperature of the GPU."""
    expect(
        tmp_path,
        dcgm_split(GPU, *SPLIT),
        {
            "node:gpu_power_watts:sum": {'node:gpu_power_watts:sum{node="n1"}': 350},
            "gpu:temperature_celsius:union": {f"gpu:temperature_celsius:union{{{AT}}}": 60},
        },
        only=DCGM,
        at="2m",
    )


def test_memory_that_dcgm_does_not_tell_of_instances_is_absent(tmp_path: Path) -> None:
    """Some drivers give no frame buffer of instances: the rest of the board goes on."""
    expect(
        tmp_path,
        dcgm_split(GPU, *SPLIT, memory=False),
        {
            "mig:memory_used_bytes:union": {},
            "gpu:memory_used_bytes:union": {},
            "gpu:compute_active:ratio_union * 7": {f"{{{AT}}}": 4},
            "count(mig:info:union)": {"{}": 4},
            "count(mig:owner:union)": {"{}": 2},
        },
        only=DCGM,
        at=SOON,
    )


def test_mixed_fleet_shows_gpus_with_and_without_mig(tmp_path: Path) -> None:
    whole = Device(gpu=1, uuid="GPU-b", compute=0.5, pod="train-0")
    expect(
        tmp_path,
        dcgm_split(GPU, *SPLIT) | dcgm(whole) | native_split(Device(node="n2", uuid="GPU-c"), *SPLIT),
        {
            "count(gpu:info:union)": {"{}": 3},
            "sum by (node) (gpu:mig_mode:bool)": {'{node="n1"}': 1, '{node="n2"}': 1},
            "gpu:mig_mode:bool == 0": {'gpu:mig_mode:bool{gpu="1",node="n1",uuid="GPU-b"}': 0},
            'round(node:compute_active:sum{node="n1"} * 14)': {'{node="n1"}': 15},
            "node:compute_active:count": {
                'node:compute_active:count{node="n1"}': 2,
                'node:compute_active:count{node="n2"}': 1,
            },
            "count by (node) (mig:info:union)": {'{node="n1"}': 4, '{node="n2"}': 4},
        },
        only=DEVICES,
        at=SOON,
    )


def test_a30_has_four_slices(tmp_path: Path) -> None:
    a30 = Device(model="NVIDIA A30")
    half = (
        Instance(gi=1, profile="2g.12gb", slices=2, compute=1.0),
        Instance(gi=2, profile="2g.12gb", slices=2, compute=0.0),
    )
    expect(
        tmp_path,
        native_split(a30, *half),
        {"gpu:compute_active:ratio_union": {f"gpu:compute_active:ratio_union{{{AT}}}": 0.5}},
        only=NATIVE,
        at="2m",
    )


def test_compute_instances_of_one_gpu_instance_share_its_row(tmp_path: Path) -> None:
    """Two compute instances of one slice each: one row, their slices added, their activity the mean."""
    at = 'instance="10.0.0.1:9836",node="n1",gpu="0",uuid="GPU-a"'
    samples = {f'gpuscope_gpu_info{{{at},model="NVIDIA H100 80GB HBM3"}}': "1x40"}
    for number, compute in enumerate((1.0, 0.5)):
        inside = f'{at},mig_uuid="MIG-{number}",gi="2",profile="1c.2g.20gb"'
        samples |= {
            f'gpuscope_mig_info{{{inside},ci="{number}",mig_index="{number}"}}': "1x40",
            f'gpuscope_mig_slices{{{inside},kind="ci"}}': "1x40",
            f"gpuscope_mig_graphics_active_ratio{{{inside}}}": f"{compute}x40",
        }
    where = f'{AT},gi="2",profile="1c.2g.20gb"'
    expect(
        tmp_path,
        samples,
        {
            "mig:slices:count": {f"mig:slices:count{{{where}}}": 2},
            "mig:compute_active:ratio_union": {f"mig:compute_active:ratio_union{{{where}}}": 0.75},
            "gpu:compute_active:ratio_union * 7": {f"{{{AT}}}": 1.5},
        },
        only=NATIVE,
        at="2m",
    )


def test_reading_of_the_whole_gpu_comes_before_the_sum_of_its_instances(tmp_path: Path) -> None:
    samples = native_split(GPU, *SPLIT)
    samples['gpuscope_gpu_graphics_active_ratio{instance="10.0.0.1:9836",node="n1",gpu="0",uuid="GPU-a"}'] = "0.75x40"
    expect(
        tmp_path,
        samples,
        {
            "gpu:compute_active:ratio_union": {f"gpu:compute_active:ratio_union{{{AT}}}": 0.75},
            "count by (method) (gpu:compute_active_source:union)": {'{method="engine"}': 1},
        },
        only=NATIVE,
        at="2m",
    )


def test_utilization_counts_only_outside_mig_mode(tmp_path: Path) -> None:
    """A100: no engine activity from NVML. Its utilization is taken, and of a GPU in MIG mode nothing is."""
    plain = {name: values for name, values in native(GPU).items() if "graphics" not in name}
    unsure = tuple(Instance(gi=one.gi, profile=one.profile, slices=one.slices, compute=None) for one in SPLIT)
    expect(
        tmp_path,
        plain | native_split(Device(gpu=1, uuid="GPU-b"), *unsure),
        {
            "gpu:compute_active:ratio_union": {f"gpu:compute_active:ratio_union{{{AT}}}": 1},
            "count by (method) (gpu:compute_active_source:union)": {'{method="utilization"}': 1},
            'gpu:idle:bool{uuid="GPU-b"}': {},
        },
        only=NATIVE,
        at="2m",
    )
