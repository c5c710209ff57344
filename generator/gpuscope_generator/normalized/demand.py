"""GPUs that work waits for, and the places where it would fit."""

from gpuscope_generator.normalized.workload import WORKLOAD
from gpuscope_generator.promql import gauge

__all__ = ["CLUSTER_WAITED_FOR", "FREE", "SLOTS", "TEAM_WAITED_FOR", "WAITING_PODS"]

WAITING_PODS = gauge(
    "workload:pods_waiting:count",
    *WORKLOAD,
    "size",
    meaning="Pods of a workload that ask for so many whole GPUs each (size), and have no node yet.",
)
TEAM_WAITED_FOR = gauge(
    "team:gpus_waited_for:sum",
    "cluster",
    "namespace",
    "team",
    "told_by",
    meaning="Whole GPUs that waiting work of a team asks for: told by its pods without a node, or by jobs that its "
    "scheduler keeps waiting. The same work may be told by both.",
)
CLUSTER_WAITED_FOR = gauge(
    "cluster:gpus_waited_for:sum",
    "cluster",
    "told_by",
    meaning="GPUs that waiting work asks for, as pods, jobs and queues tell it; the same work may be told by several.",
)
FREE = gauge(
    "cluster:gpus_free:sum",
    "cluster",
    meaning="Whole GPUs that new work could get: healthy, held by nobody, not in MIG mode, on nodes that take work.",
)
SLOTS = gauge(
    "cluster:gpu_slots:count",
    "cluster",
    "size",
    meaning="Pods that would fit if each asks for so many GPUs (size) of one node: free GPUs of each node over size.",
)
