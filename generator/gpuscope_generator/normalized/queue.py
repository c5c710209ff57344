"""Queues: ClusterQueues of Kueue, queues of Volcano, partitions of Slurm; and how long work waits in them."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge

__all__ = ["ADMITTED", "EVICTED", "PENDING", "PREEMPTED", "QUEUE", "QUOTA", "WAIT_BUCKETS", "WORKLOADS"]

QUEUE = ("cluster", "source", "queue")
"""``source`` says whose queue it is: kueue, volcano, collector, or the exporter of Slurm."""

WORKLOADS = gauge(
    "queue:workloads:count", *QUEUE, "state", meaning="Workloads or jobs: pending, and running (or about to)."
)
PENDING = gauge(
    "queue:pending:count", *QUEUE, "reason", meaning="Workloads or jobs that wait, by why; as far as a source tells."
)
WAIT_BUCKETS = counter(
    "queue:wait_seconds_bucket_total:union",
    *QUEUE,
    "instance",
    "until",
    "le",
    meaning="How long workloads waited until they were admitted, and until all their pods were ready, as a histogram.",
)
ADMITTED = counter("queue:admitted_total:union", *QUEUE, "instance", meaning="Workloads that were admitted.")
EVICTED = counter(
    "queue:evicted_total:union", *QUEUE, "instance", "reason", "cause", meaning="Workloads that were put out again."
)
PREEMPTED = counter(
    "queue:preempted_total:union",
    *QUEUE,
    "instance",
    "reason",
    meaning="Workloads that were put out for one of this queue.",
)
QUOTA = gauge(
    "queue:quota:sum",
    *QUEUE,
    "resource",
    "state",
    unit=Unit.NONE,
    meaning="What a queue may have (nominal), has given out (used), and is asked for beyond that (pending).",
)
