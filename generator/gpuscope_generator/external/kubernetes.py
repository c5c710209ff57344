"""kube-state-metrics, names as of 2.13 to 2.18. Its labels ``node`` and ``pod`` are those of the described object."""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge, info

__all__ = [
    "CONTAINER_EXIT_CODE",
    "CONTAINER_EXIT_REASON",
    "CONTAINER_LIMIT",
    "CONTAINER_REQUEST",
    "CONTAINER_RESTARTS",
    "CONTAINER_WAITING",
    "GPU_RESOURCES",
    "JOB_OWNER",
    "MIG_RESOURCES",
    "NODE_ALLOCATABLE",
    "NODE_CAPACITY",
    "NODE_CONDITION",
    "NODE_INFO",
    "NODE_LABELS",
    "NODE_TAINT",
    "NODE_UNSCHEDULABLE",
    "POD_CREATED",
    "POD_INFO",
    "POD_LABELS",
    "POD_OWNER",
    "POD_PHASE",
    "POD_READY",
    "POD_SCHEDULED",
    "REPLICASET_OWNER",
    "WHOLE_GPU_RESOURCES",
]

_SOURCE = "kube-state-metrics"
_EXPORTED = ("exported_namespace", "exported_pod", "exported_node", "exported_container")
_POD = ("namespace", "pod", "uid", *_EXPORTED)
_OWNER = ("owner_kind", "owner_name", "owner_is_controller")
_QUANTITY = ("resource", "unit")

WHOLE_GPU_RESOURCES = "nvidia_com_gpu|amd_com_gpu"
"""Whole GPUs among the values of ``resource``, whose dots and slashes are underscores here."""
GPU_RESOURCES = f"{WHOLE_GPU_RESOURCES}|nvidia_com_gpu_shared"
"""GPUs, and their shares of time where NVIDIA's device plugin renames these: a node has more shares than GPUs."""
MIG_RESOURCES = "nvidia_com_mig_.+"
"""MIG instances by profile."""

POD_INFO = info("kube_pod_info", *_POD, "created_by_kind", "created_by_name", source=_SOURCE)
POD_OWNER = info("kube_pod_owner", *_POD, *_OWNER, source=_SOURCE)
REPLICASET_OWNER = info(
    "kube_replicaset_owner", "namespace", "replicaset", *_OWNER, "exported_namespace", source=_SOURCE
)
JOB_OWNER = info("kube_job_owner", "namespace", "job_name", *_OWNER, "exported_namespace", source=_SOURCE)
POD_LABELS = info(
    "kube_pod_labels",
    *_POD,
    "label_team",
    "label_kueue_x_k8s_io_queue_name",
    meaning="Needs --metric-labels-allowlist=pods=[team,kueue.x-k8s.io/queue-name].",
    source=_SOURCE,
)
POD_PHASE = gauge("kube_pod_status_phase", *_POD, "phase", source=_SOURCE)
POD_CREATED = gauge("kube_pod_created", *_POD, unit=Unit.SECONDS, source=_SOURCE)
POD_SCHEDULED = gauge("kube_pod_status_scheduled_time", *_POD, unit=Unit.SECONDS, source=_SOURCE)
POD_READY = gauge("kube_pod_status_ready_time", *_POD, unit=Unit.SECONDS, source=_SOURCE)

CONTAINER_RESTARTS = counter("kube_pod_container_status_restarts_total", *_POD, "container", source=_SOURCE)
CONTAINER_WAITING = gauge("kube_pod_container_status_waiting_reason", *_POD, "container", "reason", source=_SOURCE)
CONTAINER_EXIT_REASON = gauge(
    "kube_pod_container_status_last_terminated_reason", *_POD, "container", "reason", source=_SOURCE
)
CONTAINER_EXIT_CODE = gauge("kube_pod_container_status_last_terminated_exitcode", *_POD, "container", source=_SOURCE)
CONTAINER_REQUEST = gauge(
    "kube_pod_container_resource_requests", *_POD, "container", "node", *_QUANTITY, source=_SOURCE
)
CONTAINER_LIMIT = gauge("kube_pod_container_resource_limits", *_POD, "container", "node", *_QUANTITY, source=_SOURCE)

_NODE = ("node", "exported_node")
NODE_INFO = info("kube_node_info", *_NODE, "kubelet_version", source=_SOURCE)
NODE_LABELS = info(
    "kube_node_labels",
    *_NODE,
    "label_node_kubernetes_io_instance_type",
    "label_karpenter_sh_nodepool",
    "label_eks_amazonaws_com_nodegroup",
    "label_cloud_google_com_gke_nodepool",
    "label_kubernetes_azure_com_agentpool",
    "label_sagemaker_amazonaws_com_instance_group_name",
    "label_node_pool",
    meaning="Only those labels are there that --metric-labels-allowlist names.",
    source=_SOURCE,
)
NODE_CONDITION = gauge("kube_node_status_condition", *_NODE, "condition", "status", source=_SOURCE)
NODE_UNSCHEDULABLE = gauge("kube_node_spec_unschedulable", *_NODE, source=_SOURCE)
NODE_TAINT = info("kube_node_spec_taint", *_NODE, "key", "value", "effect", source=_SOURCE)
NODE_CAPACITY = gauge("kube_node_status_capacity", *_NODE, *_QUANTITY, source=_SOURCE)
NODE_ALLOCATABLE = gauge("kube_node_status_allocatable", *_NODE, *_QUANTITY, source=_SOURCE)
