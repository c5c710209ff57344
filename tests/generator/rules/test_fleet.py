"""Versions, free GPUs and hourly faults of nodes, as the rules make them."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.normalized import cluster
from gpuscope_generator.promql import select

AGENT = 'instance="10.0.0.1:9836",node="n1"'
DCGM = 'gpu="0",modelName="H100",instance="10.0.0.9:9400"'


def test_versions_come_from_every_source_and_the_agent_before_dcgm(tmp_path: Path) -> None:
    """dcgm-exporter has the driver as a label of all series; n1 has both."""
    samples = {
        f'gpuscope_driver_info{{{AGENT},driver_version="590.48",cuda_version="13.1"}}': "1x4",
        f'gpuscope_build_info{{{AGENT},version="1.2.0"}}': "1x4",
        f'gpuscope_gpu_info{{{AGENT},gpu="0",uuid="GPU-a",model="H100",vbios="96.00"}}': "1x4",
        f'DCGM_FI_DEV_GPU_TEMP{{{DCGM},UUID="GPU-a",Hostname="n1",DCGM_FI_DRIVER_VERSION="old"}}': "50x4",
        f'DCGM_FI_DEV_GPU_TEMP{{{DCGM},UUID="GPU-b",Hostname="n2",DCGM_FI_DRIVER_VERSION="570.10"}}': "50x4",
        f'DCGM_FI_DEV_GPU_TEMP{{{DCGM},UUID="GPU-c",Hostname="n3"}}': "50x4",
        'node_uname_info{instance="n2:9100",nodename="n2",release="6.8.0"}': "1x4",
        'kube_node_info{instance="ksm:8080",node="n2",kubelet_version="v1.33"}': "1x4",
        'kube_node_info{instance="ksm-2:8080",node="n2",kubelet_version="v1.33"}': "1x4",
    }

    def version(node: str, component: str, value: str) -> str:
        return f'node:version:union{{node="{node}",component="{component}",version="{value}"}}'

    expect(
        tmp_path,
        samples,
        {
            "node:version:union": {
                version("n1", "driver", "590.48"): 1,
                version("n1", "cuda", "13.1"): 1,
                version("n1", "vbios", "96.00"): 1,
                version("n1", "agent", "1.2.0"): 1,
                version("n2", "driver", "570.10"): 1,
                version("n2", "kernel", "6.8.0"): 1,
                version("n2", "kubelet", "v1.33"): 1,
            }
        },
        only=("node-exporter", "versions"),
        at="20m",
        every="5m",
    )


def test_faults_of_an_hour_and_free_gpus_by_node(tmp_path: Path) -> None:
    """The scheduler's count says what is left where nobody tells which GPU is held; none in MIG mode is free."""
    a, b, c = (f'node="n1",gpu="{number}",uuid="GPU-{number}"' for number in range(3))
    other = 'node="n2",gpu="0",uuid="GPU-x"'
    samples = {
        f"gpu:healthy:bool{{{a}}}": "1x90",
        f"gpu:healthy:bool{{{b}}}": "1x90",
        f"gpu:healthy:bool{{{c}}}": "1x90",
        f"gpu:healthy:bool{{{other}}}": "1x90",
        f"gpu:allocated:ratio_union{{{a}}}": "1x90",
        f"gpu:allocated:ratio_union{{{b}}}": "0x90",
        f"gpu:allocated:ratio_union{{{c}}}": "0x90",
        f"gpu:mig_mode:bool{{{c}}}": "1x90",
        'node:gpus:count{node="n2",state="healthy"}': "8x90",
        'node:gpus:count{node="n2",state="allocated"}': "5x90",
        f'gpu:ecc_errors_total:union{{{a},severity="corrected"}}': "0x20 7x70",
        f'gpu:ecc_errors_total:union{{{b},severity="corrected"}}': "3x75 5x20",
        f'gpu:nvlink_errors_total:union{{{a},type="replay"}}': "10+1x90",
        f'gpu:nvlink_bytes:rate5m{{{a},direction="tx"}}': "5x90",
        f'gpu:nvlink_bytes:rate5m{{{b},direction="tx"}}': "7x90",
    }
    expect(
        tmp_path,
        samples,
        {
            "node:gpus_free:count": {'node:gpus_free:count{node="n1"}': 1, 'node:gpus_free:count{node="n2"}': 3},
            "node:ecc_errors:increase1h": {'node:ecc_errors:increase1h{node="n1",severity="corrected"}': 2},
            "node:nvlink_errors:increase1h": {'node:nvlink_errors:increase1h{node="n1",type="replay"}': 60},
            "node:nvlink_bytes:rate5m": {'node:nvlink_bytes:rate5m{node="n1",direction="tx"}': 12},
        },
        only=("level-fleet",),
        at="85m",
        every="1m",
    )


def test_a_node_counts_under_its_model_from_the_first_minute_to_a_day_after_its_last(tmp_path: Path) -> None:
    """A node that is gone is still missing GPUs of its model; one of two models counts as mixed."""
    of = 'cluster="c",node='
    samples = {
        f'node:gpu_model:union{{{of}"gone",vendor="nvidia",model="H100"}}': "1x60 _x200",
        f'node:gpu_model:union{{{of}"new",vendor="nvidia",model="H100"}}': "_x230 1x10",
        f'node:gpu_model:union{{{of}"both",vendor="nvidia",model="H100"}}': "1x240",
        f'node:gpu_model:union{{{of}"both",vendor="nvidia",model="L40S"}}': "1x240",
    } | {f'node:gpus:count{{{of}"{name}",state="missing"}}': "1x240" for name in ("gone", "new", "both", "never")}
    expect(
        tmp_path,
        samples,
        {
            select(cluster.GPUS, state="missing"): {
                'cluster:gpus:count{cluster="c",model="H100",state="missing"}': 2,
                'cluster:gpus:count{cluster="c",model="mixed",state="missing"}': 1,
                'cluster:gpus:count{cluster="c",model="unknown",state="missing"}': 1,
            }
        },
        at="119m",
        only=("level-cluster",),
    )
