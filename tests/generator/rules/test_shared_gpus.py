"""Shares of time that NVIDIA's device plugin gives out under a name of their own, nvidia.com/gpu.shared."""

from pathlib import Path

from tests.generator.promtool import expect

KSM = 'instance="ksm:8080"'


def test_shares_are_requested_yet_are_no_gpus_of_a_node(tmp_path: Path) -> None:
    """Eight GPUs in four shares each are 32 on offer: counted as GPUs, 24 of them would be missing."""
    of_pod = f'{KSM},namespace="ml",pod="p"'
    samples = {
        f'kube_pod_info{{{of_pod},node="n1",created_by_kind="StatefulSet",created_by_name="s"}}': "1x40",
        f'kube_pod_status_phase{{{of_pod},phase="Running"}}': "1x40",
        f'kube_pod_container_resource_requests{{{of_pod},container="c",resource="nvidia_com_gpu_shared"}}': "2x40",
        f'kube_node_info{{{KSM},node="n1"}}': "1x40",
        f'kube_node_status_capacity{{{KSM},node="n1",resource="nvidia_com_gpu_shared",unit="integer"}}': "32x40",
        f'kube_node_status_allocatable{{{KSM},node="n1",resource="nvidia_com_gpu_shared",unit="integer"}}': "32x40",
    }
    expect(
        tmp_path,
        samples,
        {
            "sum by (pod, resource) (pod:gpus_requested:sum)": {'{pod="p",resource="nvidia_com_gpu_shared"}': 2},
            "node:gpus:count": {},
        },
        only=("kubernetes", "level-node"),
        at="2m",
    )
