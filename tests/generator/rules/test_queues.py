"""Queues of Kueue, Volcano and Slurm; repair of nodes; collective operations."""

from pathlib import Path

from tests.generator.promtool import expect

RULES = ("training", "kueue", "volcano", "slurm-native", "slurm-exporters", "nvsentinel", "nccl")
LEADER = 'cluster="c",instance="k:8443",job="kueue",cluster_queue="nlp",replica_role="leader"'
SLURM = 'cluster="c",instance="s:6817",job="slurm"'


def pending(source: str, queue: str = ',queue="ml"') -> str:
    return f'queue:workloads:count{{cluster="c",source="{source}"{queue},state="pending"}}'


def test_kueues_followers_are_not_counted_beside_its_leader(tmp_path: Path) -> None:
    samples = {
        f'kueue_pending_workloads{{{LEADER},status="active"}}': "3x40",
        f'kueue_pending_workloads{{{LEADER},status="inadmissible"}}': "2x40",
        f"kueue_admitted_active_workloads{{{LEADER}}}": "4x40",
        f'kueue_evicted_workloads_total{{{LEADER},reason="Preempted",underlying_cause="",priority_class="a"}}': "1x40",
        f'kueue_evicted_workloads_total{{{LEADER},reason="Preempted",underlying_cause="",priority_class="b"}}': "2x40",
        f'kueue_admission_wait_time_seconds_bucket{{{LEADER},priority_class="a",le="10"}}': "5x40",
        f'kueue_cluster_queue_nominal_quota{{{LEADER},cohort="x",flavor="a",resource="nvidia.com/gpu"}}': "8x40",
        f'kueue_cluster_queue_nominal_quota{{{LEADER},cohort="x",flavor="b",resource="nvidia.com/gpu"}}': "4x40",
    }
    followers = {key.replace("leader", "follower").replace("k:8443", "f:8443"): "99x40" for key in samples}
    where = 'cluster="c",source="kueue",queue="nlp"'
    expect(
        tmp_path,
        samples | followers,
        {
            "sum by (state) (queue:workloads:count)": {'{state="pending"}': 5, '{state="running"}': 4},
            "queue:pending:count": {
                f'queue:pending:count{{{where},reason="waits_for_quota"}}': 3,
                f'queue:pending:count{{{where},reason="cannot_be_admitted"}}': 2,
            },
            "sum by (reason) (queue:evicted_total:union)": {'{reason="Preempted"}': 3},
            "sum by (until, le) (queue:wait_seconds_bucket_total:union)": {'{until="admitted",le="10"}': 5},
            "queue:quota:sum": {f'queue:quota:sum{{{where},resource="nvidia.com/gpu",state="nominal"}}': 12},
        },
        only=RULES,
    )


def test_gpus_of_volcano_are_thousandths(tmp_path: Path) -> None:
    base = 'cluster="c",instance="v:8080",job="volcano",queue_name="nlp"'
    samples = {
        f"volcano_queue_pod_group_pending_count{{{base}}}": "2x40",
        f"volcano_queue_pod_group_inqueue_count{{{base}}}": "1x40",
        f"volcano_queue_pod_group_running_count{{{base}}}": "5x40",
        f'volcano_queue_deserved_scalar_resources{{{base},resource="nvidia.com/gpu"}}': "16000x40",
        f'volcano_queue_allocated_scalar_resources{{{base},resource="hugepages-2Mi"}}': "16000x40",
    }
    expect(
        tmp_path,
        samples,
        {
            "sum by (state) (queue:workloads:count)": {'{state="pending"}': 3, '{state="running"}': 5},
            "sum by (reason) (queue:pending:count)": {
                '{reason="waits_for_quota"}': 2, '{reason="waits_for_nodes"}': 1,
            },
            "sum by (resource, state) (queue:quota:sum)": {'{resource="nvidia.com/gpu",state="nominal"}': 16},
        },
        only=RULES,
    )  # fmt: skip


def test_slurm_without_slurmdbd_says_nothing_of_gpus(tmp_path: Path) -> None:
    """Its numbers of GPUs are 0 then, and that is not known to be so."""
    samples = {
        f'slurm_partition_jobs_pending{{{SLURM},partition="ml"}}': "3x40",
        f'slurm_partition_jobs_hold{{{SLURM},partition="ml"}}': "1x40",
        f'slurm_partition_gpus{{{SLURM},partition="ml"}}': "0x40",
        f'slurm_partition_jobs_gpus_alloc{{{SLURM},partition="ml"}}': "0x40",
    }
    known = {key.replace('cluster="c"', 'cluster="d"'): "8x40" for key in samples if "gpus" in key}
    expect(
        tmp_path,
        samples | known,
        {
            'queue:workloads:count{cluster="c"}': {pending("slurm"): 3},
            "sum by (reason) (queue:pending:count)": {'{reason="held"}': 1},
            "sum by (cluster, state) (queue:quota:sum)": {
                '{cluster="d",state="nominal"}': 8, '{cluster="d",state="used"}': 8,
            },
        },
        only=RULES,
    )  # fmt: skip


def test_of_several_sources_of_slurm_one_is_believed(tmp_path: Path) -> None:
    native = {f'slurm_partition_jobs_pending{{{SLURM},partition="ml"}}': "3x40"}
    slinky = {f'slurm_partition_jobs_pending_total{{{SLURM},partition="ml"}}': "4x40"}
    rivosinc = {f'slurm_partition_job_state_total{{{SLURM},partition="ml",state="PENDING"}}': "5x40"}
    vpenso = {f"slurm_queue_pending{{{SLURM}}}": "6x40"}
    found = 'queue:workloads:count{state="pending"}'
    for number, (samples, expected) in enumerate((
        (native | slinky | rivosinc | vpenso, {pending("slurm"): 3.0}),
        (slinky | rivosinc | vpenso, {pending("slurm-slinky"): 4.0}),
        (rivosinc | vpenso, {pending("slurm-rivosinc"): 5.0}),
        (vpenso, {pending("slurm-vpenso", ""): 6.0}),
    )):  # fmt: skip
        folder = tmp_path / str(number)
        folder.mkdir()
        expect(folder, samples, {found: expected}, at="2m", only=RULES)


def test_the_collector_tells_of_partitions_before_slurm_does(tmp_path: Path) -> None:
    own = 'cluster="c",instance="a:9837",job="collector",scheduler="slurm"'
    jobs = f'gpuscope_training_jobs{{{own},namespace="",team="%s",queue="ml",state="%s"}}'
    samples = {
        f"gpuscope_collector_source_up{{{own}}}": "1x40",
        jobs % ("nlp", "queued"): "2x40",
        jobs % ("vision", "queued"): "1x40",
        jobs % ("nlp", "training"): "4x40",
        f'slurm_partition_jobs_pending{{{SLURM},partition="ml"}}': "9x40",
        f'slurm_partition_jobs_hold{{{SLURM},partition="ml"}}': "2x40",
        f'slurm_partition_gpus{{{SLURM},partition="ml"}}': "16x40",
        f'slurm_partition_jobs_gpus_alloc{{{SLURM},partition="ml"}}': "12x40",
        f"slurm_gpus_total{{{SLURM}}}": "99x40",
        f"slurm_gpus_alloc{{{SLURM}}}": "98x40",
    }
    expect(
        tmp_path,
        samples,
        {
            "queue:workloads:count": {
                pending("collector"): 3, pending("collector").replace("pending", "running"): 4,
            },
            # Why jobs wait, and what a partition may have, the collector does not say.
            "sum by (source, reason) (queue:pending:count)": {'{source="slurm",reason="held"}': 2},
            "sum by (source, state) (queue:quota:sum)": {
                '{source="slurm",state="nominal"}': 16, '{source="slurm",state="used"}': 12,
            },
        },
        only=RULES,
    )  # fmt: skip


def test_why_jobs_wait_as_soperator_tells(tmp_path: Path) -> None:
    job = f'slurm_job_info{{{SLURM},job_id="%s",slurm_partition="ml",job_state="%s",job_state_reason="Resources"}}'
    samples = {job % (1, "PENDING"): "1x40", job % (2, "PENDING"): "1x40", job % (3, "RUNNING"): "1x40"}
    where = '{cluster="c",source="slurm-soperator",queue="ml",reason="Resources"}'
    expect(tmp_path, samples, {"queue:pending:count": {f"queue:pending:count{where}": 2}}, only=RULES)


def test_nodes_that_nvsentinel_keeps_out_and_how_long_repairs_take(tmp_path: Path) -> None:
    base = 'cluster="c",instance="n:2112",job="nvsentinel"'
    lead = f"fault_quarantine_node_remediation_duration_seconds_%s{{{base},recommended_action=%s}}"
    samples = {
        f'fault_quarantine_current_quarantined_nodes{{{base},node="n1"}}': "1x40",
        f'fault_quarantine_current_quarantined_nodes{{{base},node="n2"}}': "0x40",
        lead % ("sum", '"RESTART_BM"'): "1200x40",
        lead % ("sum", '"NONE"'): "300x40",
    }
    expect(
        tmp_path,
        samples,
        {
            "node:quarantined:bool": {'node:quarantined:bool{cluster="c",node="n1"}': 1},
            "sum by (phase) (cluster:node_repair_seconds_sum_total:union)": {'{phase="repair"}': 1500},
        },
        only=RULES,
    )


def test_bandwidth_of_collectives_is_in_bytes_and_inside_is_apart_from_across(tmp_path: Path) -> None:
    """Defect 25: gigabytes that were called gigabits."""
    base = 'cluster="c",instance="n1",job="nccl",node="n1",collective="AllReduce",nranks="16",message_size="64-65MB"'
    samples = {
        f'nccl_bus_bandwidth_gbs{{{base},gpu="GPU0",n_nodes="1",comm_name="TP"}}': "400x40",
        f'nccl_bus_bandwidth_gbs{{{base},gpu="GPU0",n_nodes="2",comm_name="DP"}}': "40x40",
        f'nccl_bus_bandwidth_gbs{{{base},gpu="GPU1",n_nodes="2",comm_name="DP"}}': "30x40",
        f'nccl_collective_exec_time_microseconds{{{base},gpu="GPU1",n_nodes="2",comm_name="DP"}}': "2000x40",
    }
    gpu = '{cluster="c",node="n1",gpu="1",span="network",collective="AllReduce"}'
    node = '{cluster="c",node="n1",span="%s",collective="AllReduce"}'
    expect(
        tmp_path,
        samples,
        {
            "node:nccl_bus_bandwidth_bytes:min": {
                f"node:nccl_bus_bandwidth_bytes:min{node % 'node'}": 400e9,
                f"node:nccl_bus_bandwidth_bytes:min{node % 'network'}": 30e9,
            },
            "gpu:nccl_exec_seconds:max": {f"gpu:nccl_exec_seconds:max{gpu}": 0.002},
        },
        only=RULES,
    )
