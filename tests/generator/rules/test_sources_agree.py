"""The same fleet told by our agent, by dcgm-exporter with old and new names, and by AMD's exporter."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.generator.promtool import expect
from tests.generator.rules.fleet import DEVICES, SOON, Device, amd, dcgm, expected, native

from gpuscope_generator.promql import Expression

FLEET = (
    Device(pod="train-0"),
    Device(gpu=1, uuid="GPU-b", pod="train-1", compute=0.25, power=200, capped=0.25),
    Device(node="n2", uuid="GPU-c", compute=0.0, power=100, capped=0.0),
)


def classic(*devices: Device) -> dict[str, str]:
    return dcgm(*devices)


def renamed(*devices: Device) -> dict[str, str]:
    return dcgm(*devices, renamed=True)


def honored(*devices: Device) -> dict[str, str]:
    return dcgm(*devices, honor_labels=True)


@pytest.mark.parametrize("told", [native, classic, renamed, honored, amd])
def test_every_source_gives_the_same_numbers(tmp_path: Path, told: Callable[..., dict[str, str]]) -> None:
    queries: dict[str | Expression, Mapping[str, float] | None] = {
        query: values for device in FLEET for query, values in expected(device).items()
    }
    vendor = "amd" if told is amd else "nvidia"
    node = "node:gpus:count"
    queries |= {
        f'gpu:info:union{{vendor!="{vendor}"}}': {},
        "count(gpu:info:union)": {"{}": 3},
        node + '{state="present"}': {node + '{node="n1",state="present"}': 2, node + '{node="n2",state="present"}': 1},
        node + '{state="allocated",node="n1"}': {node + '{node="n1",state="allocated"}': 2},
        "cluster:gpu_power_watts:sum": {"cluster:gpu_power_watts:sum": 600},
        'cluster:activity:ratio{what="compute"}': {'cluster:activity:ratio{what="compute"}': 0.25},
        'cluster:gpus:count{state="allocated"}': {
            'cluster:gpus:count{state="allocated",model="NVIDIA H100 80GB HBM3"}': 2
        },
        'cluster:gpu_memory_bytes:sum{state="used"}': {'cluster:gpu_memory_bytes:sum{state="used"}': 3 * 40 * 2**30},
    }
    expect(tmp_path, told(*FLEET), queries, only=DEVICES, at=SOON)
