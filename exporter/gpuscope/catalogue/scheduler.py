"""Nodes and pods as schedulers tell of them, and the collector about itself. The collector publishes these."""

from gpuscope.catalogue.metric import Kind, Level, Metric, Tier, Unit

__all__ = [
    "CLOCK_OFFSET",
    "LAST_SUCCESS",
    "LEADER",
    "LOOK_SECONDS",
    "METRICS",
    "NODE_GPUS",
    "NODE_REASON",
    "NODE_STATE",
    "PARTITION_GPUS",
    "PARTITION_NODES",
    "PARTITION_STATE",
    "POD_WORKLOAD",
    "PROBLEMS",
    "SAVED",
    "SOURCE_FAILURE",
    "SOURCE_UP",
]

PARTITION_STATES = ("up", "down", "drain", "inactive", "unknown")
NODE_STATES = ("ready", "draining", "drained", "down", "maintenance", "unknown")
SCHEDULERS = ("kubernetes", "slurm")
_SOURCE = "the Kubernetes API, or Slurm's scontrol"

NODE_STATE = Metric(
    name="gpuscope_scheduler_node_state",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler", "node", "state"),
    help="1 for what the node is good for now, as its scheduler sees it.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=(SCHEDULERS, (), NODE_STATES),
    high=1,
)
NODE_REASON = Metric(
    name="gpuscope_scheduler_node_reason_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("scheduler", "node", "reason"),
    help="Why the node takes no work, in the words of whoever took it away.",
    tier=Tier.SELF,
    source=_SOURCE,
)
NODE_GPUS = Metric(
    name="gpuscope_scheduler_node_gpus",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler", "node", "kind"),
    help="GPUs that the scheduler knows on the node, and those of them that jobs hold.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=(SCHEDULERS, (), ("total", "allocated")),
)
PARTITION_STATE = Metric(
    name="gpuscope_scheduler_partition_state",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler", "partition", "state"),
    help="1 for the state of a partition of Slurm: up, down (jobs come and wait), drain (no new jobs), inactive (neither), unknown.",
    tier=Tier.SELF,
    source="Slurm's scontrol show partition",
    values=(("slurm",), (), PARTITION_STATES),
    high=1,
)
PARTITION_NODES = Metric(
    name="gpuscope_scheduler_partition_nodes",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler", "partition", "state"),
    help="Nodes of the partition, by what they are good for; a node may belong to several partitions.",
    tier=Tier.SELF,
    source="Slurm's scontrol show node",
    values=(("slurm",), (), NODE_STATES),
)
PARTITION_GPUS = Metric(
    name="gpuscope_scheduler_partition_gpus",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler", "partition", "kind"),
    help="GPUs of the partition's nodes, and those of them that jobs of any partition hold; absent where one node does not tell.",
    tier=Tier.SELF,
    source="Slurm's scontrol show node",
    values=(("slurm",), (), ("total", "allocated")),
)
POD_WORKLOAD = Metric(
    name="gpuscope_pod_workload_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("namespace", "pod", "workload_kind", "workload", "job_id", "team", "queue"),
    help="The workload that the pod belongs to, at the top of its chain of owners.",
    tier=Tier.SELF,
    source="the Kubernetes API",
)
LEADER = Metric(
    name="gpuscope_collector_leader",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 when this collector counts, 0 while it waits for another one that does.",
    tier=Tier.SELF,
    source="the lock beside the state file; the Lease of the Kubernetes API",
    high=1,
)
SAVED = Metric(
    name="gpuscope_collector_state_saved",
    kind=Kind.GAUGE,
    level=Level.NODE,
    help="1 when all that was counted stands in the state file; 0 while it cannot be written and is in memory only.",
    tier=Tier.SELF,
    source="the collector",
    high=1,
    note="1 too without a state file, where nothing is to be written. The reason stands in the log and in the answer of /-/ready.",
)
SOURCE_UP = Metric(
    name="gpuscope_collector_source_up",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler",),
    help="1 when the scheduler answered the last time, and completely.",
    tier=Tier.SELF,
    source="the collector",
    values=(SCHEDULERS,),
    high=1,
)
SOURCE_FAILURE = Metric(
    name="gpuscope_collector_source_failure_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=("scheduler", "reason"),
    help="Why the scheduler does not answer, or not completely; absent while it does.",
    tier=Tier.SELF,
    source="the collector",
)
LAST_SUCCESS = Metric(
    name="gpuscope_collector_last_success_timestamp_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler",),
    unit=Unit.SECONDS,
    help="Unix time of the scheduler's last complete answer.",
    tier=Tier.SELF,
    source="the collector",
    values=(SCHEDULERS,),
)
LOOK_SECONDS = Metric(
    name="gpuscope_collector_look_duration_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler",),
    unit=Unit.SECONDS,
    help="How long the last look at the scheduler took.",
    tier=Tier.SELF,
    source="the collector",
    values=(SCHEDULERS,),
)
CLOCK_OFFSET = Metric(
    name="gpuscope_collector_clock_offset_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler",),
    unit=Unit.SECONDS,
    help="How far the scheduler's clock is ahead of the collector's, negative where it is behind; 0 while the two cannot be told apart.",
    tier=Tier.SELF,
    source="the Date header of the Kubernetes API; Slurm's own times",
    values=(SCHEDULERS,),
    note="Times of the scheduler are corrected by it. Beyond a minute it is also counted as the problem `clock_skew` and logged, once each time it begins.",
)
PROBLEMS = Metric(
    name="gpuscope_collector_problems_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("scheduler", "reason"),
    help="What a scheduler said that could not be read or understood, each time that it was seen.",
    tier=Tier.SELF,
    source="the collector",
)

METRICS = (
    NODE_STATE,
    NODE_REASON,
    NODE_GPUS,
    PARTITION_STATE,
    PARTITION_NODES,
    PARTITION_GPUS,
    POD_WORKLOAD,
    LEADER,
    SAVED,
    SOURCE_UP,
    SOURCE_FAILURE,
    LAST_SUCCESS,
    LOOK_SECONDS,
    CLOCK_OFFSET,
    PROBLEMS,
)
