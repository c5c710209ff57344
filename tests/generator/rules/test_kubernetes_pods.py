"""Pods and their workloads from kube-state-metrics: one or several of them, in one or several clusters."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.normalized import workload
from gpuscope_generator.promql import select

RULES = ("kubernetes",)
KSM = 'instance="ksm:8080",job="ksm"'


def pod(
    name: str, kind: str, owner: str, *, more: str = KSM, node: str = "n1", namespace: str = "ml"
) -> dict[str, str]:
    labels = f'namespace="{namespace}",pod="{name}",node="{node}",created_by_kind="{kind}",created_by_name="{owner}"'
    return {f"kube_pod_info{{{more},{labels}}}": "1x40"}


def info(name: str, kind: str, owner: str, *, node: str = "n1", more: str = "", namespace: str = "ml") -> str:
    return (
        f'pod:info:union{{{more}namespace="{namespace}",pod="{name}",node="{node}",workload_kind="{kind}",'
        f'workload="{owner}"}}'
    )


def test_owners_are_walked_as_far_as_kube_state_metrics_tells(tmp_path: Path) -> None:
    """Defect 4 of the boards that ours follow: the immediate owner is no workload."""
    samples = (
        pod("web-7d9f8c6b5-x2x4z", "ReplicaSet", "web-7d9f8c6b5")
        | pod("api-5c4d-1", "ReplicaSet", "api-5c4d")
        | pod("bare-bcdfg-1", "ReplicaSet", "bare-bcdfg")
        | pod("train-0-abc", "Job", "train-0")
        | pod("nightly-28-x", "Job", "nightly-28")
        | pod("alone-job-x", "Job", "alone-job")
        | pod("db-0", "StatefulSet", "db")
        | pod("debug", "<none>", "<none>")
        | pod("ray-head", "<none>", "<none>")
        | pod("agent-x", "DaemonSet", "agent")
    )
    replica_sets = f'kube_replicaset_owner{{{KSM},namespace="ml",'
    jobs = f'kube_job_owner{{{KSM},namespace="ml",'
    samples |= {
        f'{replica_sets}replicaset="api-5c4d",owner_kind="Rollout",owner_name="api"}}': "1x40",
        f'{replica_sets}replicaset="bare-bcdfg",owner_kind="<none>",owner_name="<none>"}}': "1x40",
        f'{jobs}job_name="train-0",owner_kind="JobSet",owner_name="train"}}': "1x40",
        f'{jobs}job_name="nightly-28",owner_kind="CronJob",owner_name="nightly"}}': "1x40",
        f'{jobs}job_name="alone-job",owner_kind="",owner_name=""}}': "1x40",
        f'kube_pod_owner{{{KSM},namespace="ml",pod="ray-head",owner_kind="RayCluster",owner_name="ray",'
        'owner_is_controller="false"}': "1x40",
    }
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_INFO): {
                info("web-7d9f8c6b5-x2x4z", "Deployment", "web"): 1,
                info("api-5c4d-1", "Rollout", "api"): 1,
                info("bare-bcdfg-1", "ReplicaSet", "bare-bcdfg"): 1,
                info("train-0-abc", "JobSet", "train"): 1,
                info("nightly-28-x", "CronJob", "nightly"): 1,
                info("alone-job-x", "Job", "alone-job"): 1,
                info("db-0", "StatefulSet", "db"): 1,
                info("debug", "Pod", "debug"): 1,
                info("ray-head", "RayCluster", "ray"): 1,
            }
        },
        only=RULES,
    )


def test_our_collector_comes_before_kube_state_metrics(tmp_path: Path) -> None:
    samples = pod("train-0-abc", "Job", "train-0") | {
        'gpuscope_pod_workload_info{instance="c:1",node="elsewhere",namespace="ml",pod="train-0-abc",'
        'workload_kind="TrainJob",workload="train",job_id="u1",team="nlp",queue="h100"}': "1x40",
        'gpuscope_pod_workload_info{instance="c:1",node="elsewhere",namespace="ml",pod="unseen",'
        'workload_kind="TrainJob",workload="other",job_id="u2",team="cv",queue=""}': "1x40",
    }
    first = (
        'pod:info:union{namespace="ml",pod="train-0-abc",node="n1",workload_kind="TrainJob",workload="train",'
        'team="nlp",queue="h100"}'
    )
    second = 'pod:info:union{namespace="ml",pod="unseen",workload_kind="TrainJob",workload="other",team="cv"}'
    expect(tmp_path, samples, {select(workload.POD_INFO): {first: 1, second: 1}}, only=RULES)


def test_a_second_kube_state_metrics_changes_no_number(tmp_path: Path) -> None:
    """Complaints 16 and 17: joins fail, or double, as soon as a replica pair is scraped."""
    samples: dict[str, str] = {}
    for replica in ("a", "b"):
        own = f'instance="ksm-{replica}:8080",job="ksm"'
        samples |= pod("web-7d9f8c6b5-x2x4z", "ReplicaSet", "web-7d9f8c6b5", more=own)
        of_pod = f'{own},namespace="ml",pod="web-7d9f8c6b5-x2x4z"'
        samples |= {
            f'kube_pod_status_phase{{{of_pod},phase="Running"}}': "1x40",
            f'kube_pod_status_phase{{{of_pod},phase="Pending"}}': "0x40",
            f'kube_pod_container_resource_requests{{{of_pod},container="a",resource="cpu",unit="core"}}': "2x40",
            f'kube_pod_container_resource_requests{{{of_pod},container="b",resource="cpu",unit="core"}}': "1x40",
            f'kube_pod_container_status_restarts_total{{{of_pod},container="a"}}': "3x40",
        }
    who = '{namespace="ml",pod="web-7d9f8c6b5-x2x4z",node="n1",workload_kind="Deployment",workload="web"'
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_PHASE): {f'pod:phase:bool{who},phase="Running"}}': 1},
            select(workload.POD_CPU_REQUEST): {f"pod:cpu_requested:sum{who}}}": 3},
            select(workload.POD_RESTARTS): {f'pod:restarts:union{who},container="a"}}': 3},
        },
        only=RULES,
    )


def test_equal_names_in_two_clusters_and_two_namespaces_stay_apart(tmp_path: Path) -> None:
    """Defect 2: a join on the pod's name alone takes the wrong owner."""
    samples = (
        pod("p", "StatefulSet", "s1", more=f'cluster="a",{KSM}')
        | pod("p", "StatefulSet", "s2", more=f'cluster="b",{KSM}', node="n2")
        | pod("p", "StatefulSet", "s3", more=f'cluster="b",{KSM}', namespace="web")
    )
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_INFO): {
                info("p", "StatefulSet", "s1", more='cluster="a",'): 1,
                info("p", "StatefulSet", "s2", more='cluster="b",', node="n2"): 1,
                info("p", "StatefulSet", "s3", more='cluster="b",', namespace="web"): 1,
            }
        },
        only=RULES,
    )


def test_labels_that_a_scrape_renamed_are_found(tmp_path: Path) -> None:
    """Complaint 1, for kube-state-metrics: without honorLabels a pod is called exported_pod."""
    samples = {
        'kube_pod_info{namespace="monitoring",pod="ksm-0",exported_namespace="ml",exported_pod="p",node="n1",'
        'created_by_kind="StatefulSet",created_by_name="s"}': "1x40"
    }
    expect(tmp_path, samples, {select(workload.POD_INFO): {info("p", "StatefulSet", "s"): 1}}, only=RULES)


def test_requests_of_gpus_by_resource_and_only_of_pods_that_live(tmp_path: Path) -> None:
    samples = pod("p", "StatefulSet", "s") | pod("done", "StatefulSet", "t")
    for name, phase in (("p", "Pending"), ("done", "Succeeded")):
        of_pod = f'{KSM},namespace="ml",pod="{name}"'
        request = f'kube_pod_container_resource_requests{{{of_pod},container="c"'
        samples |= {
            f'kube_pod_status_phase{{{of_pod},phase="{phase}"}}': "1x40",
            f'{request},resource="nvidia_com_gpu"}}': "8x40",
            f'{request},resource="nvidia_com_mig_1g_10gb"}}': "2x40",
            f'{request},resource="amd_com_gpu"}}': "4x40",
            f'{request},resource="ephemeral_storage"}}': "1x40",
        }
    who = 'pod:gpus_requested:sum{namespace="ml",pod="p",node="n1",workload_kind="StatefulSet",workload="s",resource='
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_GPU_REQUEST): {
                f'{who}"nvidia_com_gpu"}}': 8,
                f'{who}"nvidia_com_mig_1g_10gb"}}': 2,
                f'{who}"amd_com_gpu"}}': 4,
            }
        },
        only=RULES,
    )


def test_how_a_container_ended_and_why_it_waits(tmp_path: Path) -> None:
    of_pod = f'{KSM},namespace="ml",pod="p",container="c"'
    samples = pod("p", "StatefulSet", "s") | {
        f'kube_pod_container_status_last_terminated_reason{{{of_pod},reason="OOMKilled"}}': "1x40",
        f"kube_pod_container_status_last_terminated_exitcode{{{of_pod}}}": "137x40",
        f'kube_pod_container_status_waiting_reason{{{of_pod},reason="CrashLoopBackOff"}}': "1x40",
        f'kube_pod_created{{{KSM},namespace="ml",pod="p"}}': "100x40",
        f'kube_pod_status_ready_time{{{KSM},namespace="ml",pod="p"}}': "160x40",
    }
    who = '{namespace="ml",pod="p",node="n1",workload_kind="StatefulSet",workload="s"'
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_EXIT): {
                f'pod:last_exit:union{who},container="c",reason="OOMKilled",exit_code="137"}}': 1
            },
            select(workload.POD_WAITING): {f'pod:waiting:union{who},container="c",reason="CrashLoopBackOff"}}': 1},
            select(workload.POD_TIME): {
                f'pod:timestamp_seconds:union{who},event="created"}}': 100,
                f'pod:timestamp_seconds:union{who},event="ready"}}': 160,
            },
        },
        only=RULES,
    )


def test_team_and_queue_from_the_labels_of_a_pod(tmp_path: Path) -> None:
    """Complaint 4: labels come by a join, and not on each sample of a GPU."""
    samples = pod("p", "StatefulSet", "s") | pod("q", "StatefulSet", "t")
    samples[
        f'kube_pod_labels{{{KSM},namespace="ml",pod="p",label_team="nlp",label_kueue_x_k8s_io_queue_name="h100"}}'
    ] = "1x40"
    labelled = info("p", "StatefulSet", "s").replace("}", ',team="nlp",queue="h100"}')
    expect(
        tmp_path,
        samples,
        {select(workload.POD_INFO): {labelled: 1, info("q", "StatefulSet", "t"): 1}},
        only=RULES,
    )
