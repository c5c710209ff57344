"""Queues: Kueue 0.10 to 0.14 and Volcano 1.9 to 1.12."""

from __future__ import annotations

from gpuscope_generator.promql import counter, gauge, histogram

__all__ = [
    "KUEUE_ADMITTED",
    "KUEUE_ADMITTED_ACTIVE",
    "KUEUE_EVICTED",
    "KUEUE_PENDING",
    "KUEUE_PREEMPTED",
    "KUEUE_QUOTA",
    "KUEUE_WAITS",
    "VOLCANO_GROUPS",
    "VOLCANO_QUOTA",
]

_QUEUE = ("cluster_queue", "replica_role")
_RESOURCE = ("cohort", *_QUEUE, "flavor", "resource")

KUEUE_PENDING = gauge("kueue_pending_workloads", *_QUEUE, "status", source="kueue")
KUEUE_ADMITTED_ACTIVE = gauge("kueue_admitted_active_workloads", *_QUEUE, source="kueue")
KUEUE_ADMITTED = counter("kueue_admitted_workloads_total", *_QUEUE, "priority_class", source="kueue")
KUEUE_EVICTED = counter(
    "kueue_evicted_workloads_total", *_QUEUE, "reason", "underlying_cause", "priority_class", source="kueue"
)
KUEUE_PREEMPTED = counter(
    "kueue_preempted_workloads_total", "preempting_cluster_queue", "replica_role", "reason", source="kueue"
)
KUEUE_WAITS = {
    "admitted": histogram("kueue_admission_wait_time_seconds", *_QUEUE, "priority_class", source="kueue"),
    "ready": histogram("kueue_ready_wait_time_seconds", *_QUEUE, "priority_class", source="kueue"),
}
"""By what is waited for."""
KUEUE_QUOTA = {
    "nominal": gauge("kueue_cluster_queue_nominal_quota", *_RESOURCE, source="kueue"),
    "used": gauge("kueue_cluster_queue_resource_usage", *_RESOURCE, source="kueue"),
    "pending": gauge("kueue_cluster_queue_resource_pending", *_RESOURCE, source="kueue"),
}
"""By state; needs ``metrics.enableClusterQueueResources: true``. The borrowing limit is infinite where none is set."""

VOLCANO_GROUPS = {
    "pending": gauge("volcano_queue_pod_group_pending_count", "queue_name", source="volcano"),
    "inqueue": gauge("volcano_queue_pod_group_inqueue_count", "queue_name", source="volcano"),
    "running": gauge("volcano_queue_pod_group_running_count", "queue_name", source="volcano"),
}
"""Pod groups by phase; one that is in the queue was admitted, and waits for nodes."""
VOLCANO_QUOTA = {
    "nominal": gauge("volcano_queue_deserved_scalar_resources", "queue_name", "resource", source="volcano"),
    "used": gauge("volcano_queue_allocated_scalar_resources", "queue_name", "resource", source="volcano"),
}
"""By state; GPUs are scalar resources, in thousandths."""
