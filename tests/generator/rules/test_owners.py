"""Who holds a GPU: pods, their workloads, Slurm jobs, and never the exporter itself."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.generator.promtool import expect
from tests.generator.rules.fleet import Device, amd, dcgm, native

Told = Callable[..., dict[str, str]]
WORKLOAD = (
    'gpuscope_pod_workload_info{{instance="collector:9837",namespace="{namespace}",pod="{pod}",'
    'workload_kind="{kind}",workload="{workload}",team="{team}",queue="{queue}"}}'
)
LABELS = "namespace, pod, workload_kind, workload, job_id, team, queue"
OWNERS = f"count by ({LABELS}) (gpu:owner:union)"


def workload(namespace: str, pod: str, name: str, **labels: str) -> dict[str, str]:
    """What the collector tells of a pod."""
    facts = {"kind": "PyTorchJob", "team": "vision", "queue": "gpu"} | labels
    return {WORKLOAD.format(namespace=namespace, pod=pod, workload=name, **facts): "1x40"}


@pytest.mark.parametrize("told", [native, dcgm, amd])
def test_workload_team_and_queue_come_from_the_collector_and_else_the_pod_stands_for_itself(
    tmp_path: Path, told: Told
) -> None:
    expect(
        tmp_path,
        told(Device(pod="train-0"), Device(gpu=1, uuid="GPU-b", pod="lonely")) | workload("ml", "train-0", "train"),
        {
            OWNERS: {
                '{namespace="ml",pod="train-0",workload_kind="PyTorchJob",workload="train",'
                'team="vision",queue="gpu"}': 1,
                '{namespace="ml",pod="lonely",workload_kind="Pod",workload="lonely"}': 1,
            }
        },
        only=("gpuscope", "dcgm", "amd"),
        at="1m",
    )


def test_second_collector_and_pods_of_one_name_in_two_namespaces_break_no_join(tmp_path: Path) -> None:
    """A replica pair of the collector, disagreeing about the team, and another ``train-0`` elsewhere."""
    facts = workload("ml", "train-0", "train") | workload("web", "train-0", "other", team="web")
    replica = {name.replace("collector:", "collector-b:"): "1x40" for name in workload("ml", "train-0", "train")}
    moved = {
        name.replace("collector:", "collector-b:"): "1x40" for name in workload("ml", "train-0", "train", team="x")
    }
    expect(
        tmp_path,
        native(Device(pod="train-0")) | facts | replica | moved,
        {
            "count by (namespace, workload) (gpu:owner:union)": {'{namespace="ml",workload="train"}': 1},
            "count(gpu:owner:union)": {"{}": 1},
        },
        only=("gpuscope",),
        at="1m",
    )


def test_two_pods_on_one_gpu_are_two_owners(tmp_path: Path) -> None:
    first = Device(pod="nb-0")
    second = {name: values for name, values in native(Device(pod="nb-1")).items() if "pod_allocation" in name}
    samples = {name: "2x40" if "allocations" in name else values for name, values in native(first).items()}
    expect(
        tmp_path,
        samples | second,
        {
            "count by (pod) (gpu:owner:union)": {'{pod="nb-0"}': 1, '{pod="nb-1"}': 1},
            "gpu:allocated:ratio_union": {'gpu:allocated:ratio_union{gpu="0",node="n1",uuid="GPU-a"}': 1},
        },
        only=("gpuscope",),
        at="1m",
    )


@pytest.mark.parametrize("told", [native, dcgm, amd])
def test_slurm_job_is_the_workload_with_its_account_and_partition(tmp_path: Path, told: Told) -> None:
    job = (
        'gpuscope_training_job_info{instance="collector:9837",scheduler="slurm",workload="train",job_id="4711",'
        'team="physics",queue="a100",user="ada",workload_kind="slurm_job"}'
    )
    expect(
        tmp_path,
        told(Device(job="4711"), Device(gpu=1, uuid="GPU-b", job="4712")) | {job: "1x40"},
        {
            OWNERS: {
                '{workload_kind="slurm_job",workload="4711",job_id="4711",team="physics",queue="a100"}': 1,
                '{workload_kind="slurm_job",workload="4712",job_id="4712"}': 1,
            },
            "sum(gpu:allocated:ratio_union)": {"{}": 2},
        },
        only=("gpuscope", "dcgm", "amd"),
        at="1m",
    )


@pytest.mark.parametrize("honor_labels", [True, False])
def test_pod_of_the_exporter_is_never_an_owner(tmp_path: Path, honor_labels: bool) -> None:
    """With ``honorLabels`` a GPU that nobody holds carries the pod of the scrape target: the exporter."""
    expect(
        tmp_path,
        dcgm(Device(), Device(gpu=1, uuid="GPU-b", pod="train-0"), honor_labels=honor_labels),
        {
            "count by (uuid, namespace, pod) (gpu:owner:union)": {'{uuid="GPU-b",namespace="ml",pod="train-0"}': 1},
            "gpu:allocated:ratio_union": {
                'gpu:allocated:ratio_union{gpu="0",node="n1",uuid="GPU-a"}': 0,
                'gpu:allocated:ratio_union{gpu="1",node="n1",uuid="GPU-b"}': 1,
            },
        },
        only=("dcgm",),
        at="1m",
    )


def test_exporter_that_names_no_owner_leaves_them_unknown(tmp_path: Path) -> None:
    """Without its mapping to pods no GPU would carry one: they are not known to be free."""
    expect(
        tmp_path,
        dcgm(Device(), Device(gpu=1, uuid="GPU-b")),
        {"gpu:allocated:ratio_union": {}, "gpu:owner:union": {}, "source:attributes:bool": {}},
        only=("dcgm",),
        at="1m",
    )


def test_old_names_of_pod_labels_count_too(tmp_path: Path) -> None:
    labels = 'gpu="0",uuid="GPU-a",Hostname="n1",pod_name="train-0",pod_namespace="ml",container_name="main"'
    expect(
        tmp_path,
        {f"DCGM_FI_DEV_GPU_TEMP{{{labels}}}": "50x40"},
        {"count by (namespace, pod, uuid) (gpu:owner:union)": {'{namespace="ml",pod="train-0",uuid="GPU-a"}': 1}},
        only=("dcgm",),
        at="1m",
    )


def test_workloads_that_only_kube_state_metrics_knows_are_taken(tmp_path: Path) -> None:
    pod = 'kube_pod_info{{instance="{ksm}",namespace="ml",pod="web-7d9f8b6c5d-x2x4z",node="n1",{owner}}}'
    owner = 'created_by_kind="ReplicaSet",created_by_name="web-7d9f8b6c5d"'
    samples = {pod.format(ksm=ksm, owner=owner): "1x40" for ksm in ("ksm-0:8080", "ksm-1:8080")}
    expect(
        tmp_path,
        samples | dcgm(Device(pod="web-7d9f8b6c5d-x2x4z")),
        {"count by (workload_kind, workload) (gpu:owner:union)": {'{workload_kind="Deployment",workload="web"}': 1}},
        only=("dcgm", "kubernetes"),
        at="2m",
    )
