"""Nodes from kube-state-metrics and from our collector."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.normalized import node
from gpuscope_generator.promql import Matcher, select

RULES = ("kubernetes", "collector")
KSM = 'instance="ksm:8080",job="ksm"'


def kube_node(name: str, *, status: str = "true", cordoned: int = 0, gpus: int = 8, more: str = KSM) -> dict[str, str]:
    of_node = f'{more},node="{name}"'
    return {
        f"kube_node_info{{{of_node}}}": "1x40",
        **{
            f'kube_node_status_condition{{{of_node},condition="Ready",status="{each}"}}': f"{int(each == status)}x40"
            for each in ("true", "false", "unknown")
        },
        f"kube_node_spec_unschedulable{{{of_node}}}": f"{cordoned}x40",
        f'kube_node_status_capacity{{{of_node},resource="nvidia_com_gpu",unit="integer"}}': f"{gpus}x40",
        f'kube_node_status_allocatable{{{of_node},resource="nvidia_com_gpu",unit="integer"}}': f"{gpus - 1}x40",
    }


STATES = select(node.STATE).compare("==", 1)


def state(name: str, word: str, more: str = "") -> str:
    return f'node:state:bool{{{more}node="{name}",state="{word}"}}'


def test_each_node_has_one_state_with_two_kube_state_metrics(tmp_path: Path) -> None:
    samples: dict[str, str] = {}
    for replica in ("a", "b"):
        own = f'instance="ksm-{replica}:8080",job="ksm"'
        samples |= kube_node("fit", more=own) | kube_node("kept", cordoned=1, more=own)
        samples |= kube_node("sick", status="false", more=own) | kube_node("gone", status="unknown", more=own)
    expect(
        tmp_path,
        samples,
        {
            STATES: {
                state("fit", "ready"): 1,
                state("kept", "cordoned"): 1,
                state("sick", "not_ready"): 1,
                state("gone", "unknown"): 1,
            },
            select(node.READY, node="kept"): {'node:ready:bool{node="kept"}': 1},
            select(node.CORDONED).compare("==", 1): {'node:cordoned:bool{node="kept"}': 1},
            select(node.GPUS, node="fit"): {
                'node:gpus:count{node="fit",state="expected"}': 8,
                'node:gpus:count{node="fit",state="allocatable"}': 7,
            },
        },
        only=RULES,
    )


def test_a_reason_is_given_for_nodes_that_take_no_work(tmp_path: Path) -> None:
    samples = kube_node("sick", status="false") | kube_node("fit")
    for name in ("sick", "fit"):
        of_node = f'{KSM},node="{name}"'
        samples |= {
            f'kube_node_status_condition{{{of_node},condition="DiskPressure",status="true"}}': "1x40",
            f'kube_node_spec_taint{{{of_node},key="nvidia.com/gpu",value="",effect="NoSchedule"}}': "1x40",
            f'kube_node_spec_taint{{{of_node},key="gpu-fault",value="",effect="NoExecute"}}': "1x40",
        }
    expect(
        tmp_path,
        samples,
        {
            select(node.REASON): {
                'node:reason:union{node="sick",reason="DiskPressure"}': 1,
                'node:reason:union{node="sick",reason="taint gpu-fault"}': 1,
            }
        },
        only=RULES,
    )


def test_what_kubernetes_counts_on_mig_and_shared_nodes_is_not_taken_for_gpus(tmp_path: Path) -> None:
    samples = kube_node("single", gpus=56) | kube_node("mixed") | kube_node("shared", gpus=32) | kube_node("whole")
    samples |= {
        'gpu:mig_mode:bool{node="single",gpu="0",uuid="GPU-a"}': "1x40",
        f'kube_node_status_capacity{{{KSM},node="mixed",resource="nvidia_com_mig_1g_10gb"}}': "7x40",
        'gpuscope_pod_allocation_info{node="shared",gpu="0",uuid="GPU-b",replica="3"}': "1x40",
    }
    expected = select(node.GPUS, state="expected")
    expect(tmp_path, samples, {expected: {'node:gpus:count{node="whole",state="expected"}': 8}}, only=RULES)


def test_slurm_nodes_come_from_the_collector(tmp_path: Path) -> None:
    samples: dict[str, str] = {}
    for name, word in (("s1", "ready"), ("s2", "drained"), ("s3", "down"), ("s4", "unknown"), ("s5", "maintenance")):
        for each in ("ready", "draining", "drained", "down", "maintenance", "unknown"):
            own = f'instance="c:9837",scheduler="slurm",node="{name}",state="{each}"'
            samples[f"gpuscope_scheduler_node_state{{{own}}}"] = f"{int(each == word)}x40"
    samples |= {
        'gpuscope_scheduler_node_reason_info{instance="c:9837",scheduler="slurm",node="s2",reason="bad disk"}': "1x40",
        'gpuscope_scheduler_node_gpus{instance="c:9837",scheduler="slurm",node="s1",kind="total"}': "8x40",
        'gpuscope_scheduler_node_gpus{instance="c:9837",scheduler="slurm",node="s1",kind="allocated"}': "3x40",
    }
    expect(
        tmp_path,
        samples,
        {
            STATES: {
                state("s1", "ready"): 1,
                state("s2", "cordoned"): 1,
                state("s3", "not_ready"): 1,
                state("s4", "unknown"): 1,
                state("s5", "cordoned"): 1,
            },
            select(node.REASON): {'node:reason:union{node="s2",reason="bad disk"}': 1},
            select(node.GPUS): {'node:gpus:count{node="s1",state="expected"}': 8},
        },
        only=RULES,
    )


def test_the_collector_comes_first_where_both_tell_of_a_node(tmp_path: Path) -> None:
    samples = kube_node("n1") | {
        'gpuscope_scheduler_node_state{instance="c:1",scheduler="kubernetes",node="n1",state="ready"}': "0x40",
        'gpuscope_scheduler_node_state{instance="c:1",scheduler="kubernetes",node="n1",state="draining"}': "1x40",
        'gpuscope_scheduler_node_state{instance="c:1",scheduler="kubernetes",node="n1",state="unknown"}': "0x40",
        'gpuscope_scheduler_node_gpus{instance="c:1",scheduler="kubernetes",node="n1",kind="total"}': "6x40",
    }
    expect(
        tmp_path,
        samples,
        {
            STATES: {state("n1", "cordoned"): 1},
            select(node.GPUS, state="expected"): {'node:gpus:count{node="n1",state="expected"}': 6},
        },
        only=RULES,
    )


def test_pool_and_type_of_a_node_where_they_are_published(tmp_path: Path) -> None:
    """Complaint 33: a join with kube_node_labels must not lose nodes without the label."""
    samples = kube_node("n1") | kube_node("n2")
    samples[
        f'kube_node_labels{{{KSM},node="n1",label_node_kubernetes_io_instance_type="p5.48xlarge",'
        'label_eks_amazonaws_com_nodegroup="h100"}'
    ] = "1x40"
    only = Matcher("node", "=~", "n1|n2")
    expect(
        tmp_path,
        samples,
        {
            select(node.INFO, only): {
                'node:info:union{node="n1",pool="h100",instance_type="p5.48xlarge"}': 1,
                'node:info:union{node="n2"}': 1,
            }
        },
        only=RULES,
    )


def test_nodes_outside_of_kubernetes_are_nodes_too(tmp_path: Path) -> None:
    samples = kube_node("n1") | {
        'node:instance:union{node="n1",instance="10.0.0.1:9100"}': "1x40",
        'node:instance:union{node="s1",instance="10.0.0.2:9100"}': "1x40",
        'gpu:info:union{node="s2",gpu="0",uuid="GPU-a",vendor="nvidia",model="H100"}': "1x40",
    }
    expected = {f'node:info:union{{node="{name}"}}': 1.0 for name in ("n1", "s1", "s2")}
    expect(tmp_path, samples, {select(node.INFO): expected}, only=RULES)
