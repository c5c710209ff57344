"""Every GPU counts once, however many exporters, replicas and pods tell of it."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.fleet import DCGM, DEVICES, NATIVE, SOON, Device, amd, dcgm, native

H100 = Device(pod="train-0")


def test_gpu_in_two_exporters_at_once_counts_once_and_the_agent_wins(tmp_path: Path) -> None:
    """Beside the agent runs dcgm-exporter, with another opinion of each value."""
    other = Device(pod="other", power=999, compute=0.9, used=2**30)
    expect(
        tmp_path,
        native(H100) | dcgm(other),
        {
            "gpu:power_watts:union": {'gpu:power_watts:union{gpu="0",node="n1",uuid="GPU-a"}': 300},
            "gpu:compute_active:ratio_union": {'gpu:compute_active:ratio_union{gpu="0",node="n1",uuid="GPU-a"}': 0.5},
            "gpu:memory_total_bytes:union": {
                'gpu:memory_total_bytes:union{gpu="0",node="n1",uuid="GPU-a"}': 79 * 2**30
            },
            "count by (pod) (gpu:owner:union)": {'{pod="train-0"}': 1},
            "count by (source, method) (gpu:compute_active_source:union)": {'{source="gpuscope",method="engine"}': 1},
            "count(gpu:info:union)": {"{}": 1},
            "cluster:gpu_power_watts:sum": {"cluster:gpu_power_watts:sum": 300},
        },
        only=DEVICES,
        at=SOON,
    )


def test_series_that_the_agent_lacks_come_from_dcgm(tmp_path: Path) -> None:
    """On an A100 only DCGM knows the activity of tensor cores; everything else stays the agent's."""
    told = {name: values for name, values in native(H100).items() if "_tensor_" not in name}
    expect(
        tmp_path,
        told | dcgm(Device(pod="train-0", power=999, tensor=0.25)),
        {
            "gpu:tensor_active:ratio_union": {'gpu:tensor_active:ratio_union{gpu="0",node="n1",uuid="GPU-a"}': 0.25},
            "gpu:power_watts:union": {'gpu:power_watts:union{gpu="0",node="n1",uuid="GPU-a"}': 300},
        },
        only=("gpuscope", "dcgm"),
        at=SOON,
    )


def test_ha_pair_of_prometheus_doubles_nothing(tmp_path: Path) -> None:
    """Two Prometheus servers scrape the same agents and write to one store, apart by ``replica``."""
    samples: dict[str, str] = {}
    for series, values in native(H100, Device(gpu=1, uuid="GPU-b", power=200)).items():
        for replica in "ab":
            samples[series.replace("{", f'{{replica="{replica}",', 1)] = values
    expect(
        tmp_path,
        samples,
        {
            "cluster:gpu_power_watts:sum": {"cluster:gpu_power_watts:sum": 500},
            'node:gpus:count{state="present"}': {'node:gpus:count{node="n1",state="present"}': 2},
            "count(gpu:owner:union)": {"{}": 1},
        },
        only=NATIVE,
        at=SOON,
    )


def test_copies_of_a_time_sliced_gpu_are_never_summed(tmp_path: Path) -> None:
    """With time-slicing dcgm-exporter gives every pod a copy of the value of the whole device."""
    samples: dict[str, str] = {}
    for number, pod in enumerate(("nb-0", "nb-1", "nb-2", "nb-3")):
        samples |= dcgm(Device(pod=pod, extra={"vgpu": str(number)}))
    expect(
        tmp_path,
        samples,
        {
            "gpu:power_watts:union": {'gpu:power_watts:union{gpu="0",node="n1",uuid="GPU-a"}': 300},
            "node:gpu_memory_used_bytes:sum": {'node:gpu_memory_used_bytes:sum{node="n1"}': 40 * 2**30},
            "gpu:allocated:ratio_union": {'gpu:allocated:ratio_union{gpu="0",node="n1",uuid="GPU-a"}': 1},
            "count by (uuid) (gpu:owner:union)": {'{uuid="GPU-a"}': 4},
        },
        only=DCGM,
        at=SOON,
    )


def test_another_pod_on_a_gpu_does_not_break_its_lines(tmp_path: Path) -> None:
    """A pod ends and another begins: the temperature goes on in one series, without the pod as a label."""
    first = {name: "60x8" + "_x20" for name in dcgm(Device(pod="old")) if "GPU_TEMP" in name}
    second = {name: "_x9 61x20" for name in dcgm(Device(pod="new")) if "GPU_TEMP" in name}
    up = {name: values for name, values in dcgm(H100).items() if name.startswith("up")}
    expect(
        tmp_path,
        up | {name: values.replace("_x20", " stale") for name, values in first.items()} | second,
        {
            "count_over_time(gpu:temperature_celsius:union[6m])": {'{gpu="0",node="n1",uuid="GPU-a"}': 13},
            "gpu:temperature_celsius:union": {'gpu:temperature_celsius:union{gpu="0",node="n1",uuid="GPU-a"}': 61},
        },
        only=("dcgm",),
        at=SOON,
    )


def test_fleet_of_two_vendors_counts_every_gpu(tmp_path: Path) -> None:
    mine = Device(node="amd-1", uuid="692409005408", model="AMD Instinct MI300X", power=600, pod="sft-0")
    expect(
        tmp_path,
        dcgm(H100, Device(gpu=1, uuid="GPU-b")) | amd(mine),
        {
            "count by (vendor) (gpu:info:union)": {'{vendor="nvidia"}': 2, '{vendor="amd"}': 1},
            "cluster:gpu_power_watts:sum": {"cluster:gpu_power_watts:sum": 1200},
            'cluster:gpus:count{state="present"}': {
                'cluster:gpus:count{state="present",model="NVIDIA H100 80GB HBM3"}': 2,
                'cluster:gpus:count{state="present",model="AMD Instinct MI300X"}': 1,
            },
            'node:gpus:count{state="allocated"}': {
                'node:gpus:count{node="n1",state="allocated"}': 1,
                'node:gpus:count{node="amd-1",state="allocated"}': 1,
            },
        },
        only=DEVICES,
        at=SOON,
    )


def test_two_clusters_with_equal_names_inside_stay_apart(tmp_path: Path) -> None:
    samples: dict[str, str] = {}
    for name, device in (("east", H100), ("west", Device(power=100))):
        for series, values in native(device).items():
            samples[series.replace("{", f'{{cluster="{name}",', 1)] = values
    expect(
        tmp_path,
        samples,
        {
            "cluster:gpu_power_watts:sum": {
                'cluster:gpu_power_watts:sum{cluster="east"}': 300,
                'cluster:gpu_power_watts:sum{cluster="west"}': 100,
            },
            'node:gpus:count{state="allocated"}': {
                'node:gpus:count{cluster="east",node="n1",state="allocated"}': 1,
                'node:gpus:count{cluster="west",node="n1",state="allocated"}': 0,
            },
        },
        only=NATIVE,
        at=SOON,
    )
