"""Every source that our rules can read, and how to see that it is there. Add a source here and it is on every board."""

from __future__ import annotations

from dataclasses import dataclass

from gpuscope.catalogue import agent, scheduler
from gpuscope_generator.promql import Gauge, Origin, Series, as_gauge, gauge

__all__ = ["SOURCES", "UP", "Source", "source_named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An exporter, or an application that publishes its own metrics.

    Attributes:
        key: the value of the label ``source``.
        title: its name as people know it.
        markers: series of which one is always there while the source is, in any of its versions; few and cheap ones.
        gives: what the boards learn from it.
        enable: how to get it.
    """

    key: str
    title: str
    markers: tuple[Series, ...]
    gives: str
    enable: str


UP = Gauge(
    "up",
    (),
    meaning="1 while the target answered the last scrape. Prometheus makes it.",
    origin=Origin.PROMETHEUS,
)


def _marked(source: str, *names: str) -> tuple[Series, ...]:
    return tuple(gauge(name, source=source) for name in names)


SOURCES = (
    Source(
        key="gpuscope",
        title="gpuscope agent",
        markers=(as_gauge(agent.UP),),
        gives="GPUs, MIG instances, who holds them, XID errors and file systems",
        enable="run the agent on every GPU node (`gpuscope agent`, or the chart's DaemonSet)",
    ),
    Source(
        key="collector",
        title="gpuscope collector",
        markers=(as_gauge(scheduler.LEADER),),
        gives="owners of pods, Slurm jobs and nodes, training runs with their restarts",
        enable="run one collector a cluster (`gpuscope collector`, or the chart's Deployment)",
    ),
    Source(
        key="dcgm",
        title="dcgm-exporter",
        markers=_marked(
            "dcgm-exporter",
            "DCGM_FI_DEV_GPU_TEMP",
            "DCGM_FI_DEV_GPU_TEMP_CELSIUS",
            "DCGM_FI_DEV_FB_USED",
            "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        ),
        gives="NVIDIA GPUs, where our agent does not run",
        enable="deploy dcgm-exporter; SM activity and occupancy need their lines in its CSV file",
    ),
    Source(
        key="amd",
        title="AMD device-metrics-exporter",
        markers=_marked("device-metrics-exporter", "gpu_nodes_total", "gpu_gfx_activity", "gpu_package_power"),
        gives="AMD GPUs",
        enable="deploy AMD's device-metrics-exporter without a metrics prefix",
    ),
    Source(
        key="kube-state-metrics",
        title="kube-state-metrics",
        markers=_marked("kube-state-metrics", "kube_node_info", "kube_node_status_condition"),
        gives="pods, their requests, restarts and owners, and the state of nodes",
        enable="deploy kube-state-metrics",
    ),
    Source(
        key="cadvisor",
        title="cAdvisor in kubelet",
        markers=_marked("cadvisor", "cadvisor_version_info", "machine_cpu_cores"),
        gives="CPU, memory and network of pods",
        enable="scrape `/metrics/cadvisor` of every kubelet",
    ),
    Source(
        key="node-exporter",
        title="node-exporter",
        markers=_marked("node-exporter", "node_boot_time_seconds", "node_uname_info"),
        gives="CPU, memory, disks, network and InfiniBand of hosts",
        enable="deploy node-exporter on every node",
    ),
    Source(
        key="vllm",
        title="vLLM",
        markers=_marked("vllm", "vllm:num_requests_running", "ray_vllm_num_requests_running"),
        gives="requests, latency, tokens and cache of model servers",
        enable="scrape `/metrics` of the model server's pods",
    ),
    Source(
        key="sglang",
        title="SGLang",
        markers=_marked("sglang", "sglang:num_running_reqs", "ray_sglang_num_running_reqs"),
        gives="requests, latency, tokens and cache of model servers",
        enable="start it with `--enable-metrics` and scrape `/metrics`",
    ),
    Source(
        key="tgi",
        title="Text Generation Inference",
        markers=_marked("tgi", "tgi_queue_size", "tgi_batch_current_size"),
        gives="requests, latency and tokens of model servers",
        enable="scrape `/metrics` of the model server's pods",
    ),
    Source(
        key="triton",
        title="Triton Inference Server",
        markers=_marked("triton", "nv_inference_request_success", "nv_inference_count"),
        gives="requests and latency of model servers",
        enable="scrape port 8002 of the model server's pods",
    ),
    Source(
        key="trtllm",
        title="TensorRT-LLM",
        markers=_marked("trtllm", "trtllm_num_requests_running", "trtllm_request_success_total"),
        gives="requests, latency and tokens of model servers",
        enable="scrape `/prometheus/metrics` of the model server's pods",
    ),
    Source(
        key="dynamo",
        title="NVIDIA Dynamo",
        markers=_marked("dynamo", "dynamo_frontend_inflight_requests", "dynamo_component_inflight_requests"),
        gives="requests, latency and tokens of model servers",
        enable="scrape `/metrics` of the frontend and of the workers",
    ),
    Source(
        key="llm-d",
        title="llm-d router",
        markers=_marked(
            "llm-d",
            "llm_d_epp_info",
            "llm_d_epp_request_total",
            "inference_extension_info",
            "inference_objective_request_total",
        ),
        gives="how requests are routed to model servers",
        enable="scrape port 9090 of the endpoint picker",
    ),
    Source(
        key="hyperpod-inference",
        title="HyperPod inference operator",
        markers=_marked("hyperpod-inference", "model_concurrent_requests", "model_invocations_total"),
        gives="calls of models with their time to the first byte",
        enable="scrape the operator, port 8443",
    ),
    Source(
        key="keda",
        title="KEDA",
        markers=_marked("keda", "keda_scaler_active", "keda_scaler_metrics_value"),
        gives="what the scalers of model servers measure",
        enable="scrape KEDA's operator, port 8080",
    ),
    Source(
        key="kueue",
        title="Kueue",
        markers=_marked("kueue", "kueue_pending_workloads", "kueue_cluster_queue_status"),
        gives="queues, quota and waiting times",
        enable="scrape Kueue's controller; quota needs `metrics.enableClusterQueueResources: true`",
    ),
    Source(
        key="volcano",
        title="Volcano",
        markers=_marked("volcano", "volcano_queue_pod_group_running_count"),
        gives="queues, with the GPUs that they deserve and hold",
        enable="scrape Volcano's scheduler, port 8080",
    ),
    Source(
        key="training-operator",
        title="Kubeflow training-operator",
        markers=_marked("training-operator", "training_operator_jobs_created_total"),
        gives="numbers of training jobs that were created, failed and restarted",
        enable="scrape the training-operator, port 8080",
    ),
    Source(
        key="jobset",
        title="JobSet",
        markers=_marked("jobset", "jobset_completed_total", "jobset_failed_total"),
        gives="numbers of JobSets that succeeded and failed",
        enable="scrape JobSet's controller, port 8443",
    ),
    Source(
        key="hyperpod",
        title="HyperPod training operator",
        markers=_marked("hyperpod", "hyperpod_training_operator_jobs_created_total", "training_uptime_percentage"),
        gives="training jobs of a HyperPod cluster, with faults and restarts",
        enable="scrape the operator, port 8081",
    ),
    Source(
        key="nvsentinel",
        title="NVSentinel",
        markers=_marked("nvsentinel", "fault_quarantine_breaker_utilization", "fault_quarantine_cordons_applied_total"),
        gives="nodes that are kept out, and how long their repair takes",
        enable="deploy NVSentinel and scrape its modules, port 2112",
    ),
    Source(
        key="nccl",
        title="NCCL inspector",
        markers=_marked("nccl", "nccl_bus_bandwidth_gbs", "nccl_p2p_bus_bandwidth_gbs"),
        gives="bandwidth and time of collective operations by GPU",
        enable="start jobs with NCCL's inspector plug-in, `NCCL_INSPECTOR_ENABLE=1` and `NCCL_INSPECTOR_PROM_DUMP=1`; "
        "node-exporter reads its text files",
    ),
    Source(
        key="ray-train",
        title="Ray Train",
        markers=_marked("ray-train", "ray_train_controller_state", "ray_train_report_total_blocked_time_s"),
        gives="time in which training waits for checkpoints and for data",
        enable="scrape the metrics port of every Ray node, 8080 by default",
    ),
    Source(
        key="lustre",
        title="Lustre exporter",
        markers=_marked("lustre_exporter", "lustre_capacity_kilobytes", "lustre_read_samples_total"),
        gives="Lustre file systems, where our agent does not run on the clients",
        enable="run lustre_exporter on the clients, or our agent, which reads Lustre itself",
    ),
    Source(
        key="yace",
        title="CloudWatch exporter (YACE)",
        markers=_marked("yace", "aws_fsx_info", "aws_fsx_data_read_bytes_sum"),
        gives="FSx for Lustre: throughput, operations and free space",
        enable="deploy YACE with a job for `AWS/FSx`, for each set of dimensions, with a period of 60 s",
    ),
    Source(
        key="nfs",
        title="NFS clients",
        markers=_marked("node-exporter", "node_mountstats_nfs_age_seconds_total", "node_nfs_connections_total"),
        gives="NFS and EFS mounts",
        enable="switch on the collector mountstats of node-exporter, or run our agent, which reads NFS itself",
    ),
    Source(
        key="gpfs",
        title="gpfs_exporter",
        markers=_marked("gpfs_exporter", "gpfs_perf_read_bytes_total", "gpfs_fs_size_bytes"),
        gives="traffic and space of IBM Storage Scale (GPFS)",
        enable="run gpfs_exporter on the clients with its collectors `mmpmon` and `mmdf`",
    ),
    Source(
        key="slurm",
        title="Slurm",
        markers=_marked("slurm", "slurm_nodes", "slurm_nodes_total", "slurm_nodes_idle", "slurm_node_info"),
        gives="queues and nodes of Slurm, where our collector does not read them",
        enable="set `MetricsType=metrics/openmetrics` in Slurm 25.11 or newer, or run a Slurm exporter",
    ),
)
"""In the order of the documentation and of the boards."""


def source_named(key: str) -> Source:
    """Looks a source up.

    Raises:
        KeyError: no such source.
    """
    return {source.key: source for source in SOURCES}[key]
