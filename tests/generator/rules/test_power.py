"""Power from every source, up to the cluster."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.normalized import cluster
from gpuscope_generator.promql import select


def test_power_of_the_agent_reaches_the_cluster(tmp_path: Path) -> None:
    samples = {
        'gpuscope_gpu_power_watts{instance="gpu-1:9836",gpu="0",uuid="GPU-a"}': "300x40",
        'gpuscope_gpu_power_watts{instance="gpu-1:9836",gpu="1",uuid="GPU-b"}': "200x40",
        'gpuscope_gpu_power_watts{instance="10.0.0.2:9836",node="gpu-2",gpu="0",uuid="GPU-c"}': "100x40",
    }
    expect(
        tmp_path,
        samples,
        {
            select(cluster.POWER): {"cluster:gpu_power_watts:sum": 600},
            "node:gpu_power_watts:sum": {
                'node:gpu_power_watts:sum{node="gpu-1"}': 500,
                'node:gpu_power_watts:sum{node="gpu-2"}': 100,
            },
        },
    )
