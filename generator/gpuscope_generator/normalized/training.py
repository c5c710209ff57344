"""Training jobs: how they end, what interrupts them, how long they take to come back, and where each of them is.

Counters are taken over as they are, one a source and collector, so that any window can be cut out of them later.
"""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge, info

__all__ = [
    "COUNTED",
    "FAULTS",
    "GPUS",
    "GPU_SECONDS",
    "INTERRUPTIONS",
    "JOB",
    "JOBS",
    "JOBS_CREATED",
    "JOBS_ENDED",
    "JOB_BLOCKED",
    "JOB_CHECKPOINT_TIME",
    "JOB_CLOCK_AHEAD",
    "JOB_END_TIME",
    "JOB_GPUS",
    "JOB_INFO",
    "JOB_PROGRESS",
    "JOB_PROGRESS_TIME",
    "JOB_REMAINING",
    "JOB_RESTARTS",
    "JOB_STATE",
    "JOB_STATE_CODE",
    "JOB_STATE_SECONDS",
    "JOB_STEP",
    "NODE_REPAIR_BUCKETS",
    "NODE_REPAIR_COUNT",
    "NODE_REPAIR_SUM",
    "PHASE_BUCKETS",
    "PHASE_COUNT",
    "PHASE_SUM",
    "QUARANTINED",
    "RECOVERY_BUCKETS",
    "RECOVERY_COUNT",
    "RECOVERY_SUM",
    "RESTARTS",
]

COUNTED = (
    "cluster",
    "source",
    "instance",
    "scheduler",
    "namespace",
    "team",
    "queue",
    "workload_kind",
    "workload",
)
"""What a counter of jobs is kept by. ``workload`` is empty unless the source counts for each job on its own."""
JOB = ("cluster", "scheduler", "namespace", "workload", "job_id")
_PHASE = ("cluster", "source", "instance", "scheduler", "phase", "domain")
_RECOVERY = ("cluster", "source", "instance", "scheduler", "until", "domain")
_REPAIR = ("cluster", "source", "instance", "phase")

JOBS_CREATED = counter("team:training_jobs_created_total:union", *COUNTED, meaning="Jobs that were submitted.")
JOBS_ENDED = counter(
    "team:training_jobs_ended_total:union",
    *COUNTED,
    "outcome",
    meaning="Jobs that ended for good: succeeded, failed, timed_out, interrupted, cancelled, preempted, unknown; "
    "deleted "
    "where an operator counts objects that were removed, whatever had become of them; forgotten where the scheduler "
    "had "
    "lost them before anybody learned how they ended.",
)
RESTARTS = counter(
    "team:training_restarts_total:union",
    *COUNTED,
    "trigger",
    "fault_type",
    meaning="Attempts that began after an interrupted one of the same job, by who started them.",
)
FAULTS = counter(
    "team:training_faults_total:union",
    *COUNTED,
    "fault_type",
    "domain",
    "scope",
    meaning="Interruptions by what they were; what nobody can tell is unknown.",
)
INTERRUPTIONS = counter(
    "team:training_interruptions_total:union",
    *COUNTED,
    "domain",
    meaning="Attempts that ended without success, by whose doing that was, planned ends included.",
)
GPU_SECONDS = counter(
    "team:training_gpu_seconds_total:union",
    *COUNTED,
    "state",
    unit=Unit.SECONDS,
    meaning="GPU-time that jobs held, by what they did with it.",
)
JOBS = gauge(
    "team:training_jobs:count",
    "cluster",
    "scheduler",
    "namespace",
    "team",
    "queue",
    "state",
    meaning="Jobs that live, by what they do.",
)
GPUS = gauge(
    "team:training_gpus:rate5m",
    "cluster",
    "scheduler",
    "namespace",
    "team",
    "queue",
    "state",
    meaning="GPUs that jobs held over the last five minutes, by what the jobs did.",
)

PHASE_BUCKETS = counter(
    "cluster:training_phase_seconds_bucket_total:union",
    *_PHASE,
    "le",
    meaning="How long each phase between a fault and the first step after it took, as a histogram.",
)
PHASE_SUM = counter("cluster:training_phase_seconds_sum_total:union", *_PHASE, unit=Unit.SECONDS, meaning="Its sum.")
PHASE_COUNT = counter("cluster:training_phase_seconds_count_total:union", *_PHASE, meaning="Its number.")
RECOVERY_BUCKETS = counter(
    "cluster:training_recovery_seconds_bucket_total:union",
    *_RECOVERY,
    "le",
    meaning="Time from the end of an attempt until the job has resources, runs, or makes a step, as a histogram.",
)
RECOVERY_SUM = counter(
    "cluster:training_recovery_seconds_sum_total:union", *_RECOVERY, unit=Unit.SECONDS, meaning="Its sum."
)
RECOVERY_COUNT = counter("cluster:training_recovery_seconds_count_total:union", *_RECOVERY, meaning="Its number.")
NODE_REPAIR_BUCKETS = counter(
    "cluster:node_repair_seconds_bucket_total:union",
    *_REPAIR,
    "le",
    meaning="Time from a fault of a node until it is taken out (quarantine), its pods are gone (eviction), and it is "
    "used again (repair), as a histogram.",
)
NODE_REPAIR_SUM = counter(
    "cluster:node_repair_seconds_sum_total:union", *_REPAIR, unit=Unit.SECONDS, meaning="Its sum."
)
NODE_REPAIR_COUNT = counter("cluster:node_repair_seconds_count_total:union", *_REPAIR, meaning="Its number.")
QUARANTINED = gauge("node:quarantined:bool", "cluster", "node", meaning="1 while a health system keeps the node out.")

JOB_INFO = info(
    "job:training_info:union",
    *JOB,
    "team",
    "queue",
    "user",
    "workload_kind",
    "priority",
    "held_by",
    meaning="A job that lives or ended within a day. ``held_by`` is what it is called where GPUs have owners: the "
    "workload, or the id of a Slurm job.",
)
JOB_STATE = gauge("job:training_state:bool", *JOB, "state", meaning="1 for what the job does now.")
JOB_STATE_CODE = gauge(
    "job:training_state:enum",
    *JOB,
    meaning="What the job does as a number: 0 queued, 1 scheduling, 2 pulling, 3 initializing, 4 training, "
    "5 checkpointing, 6 stalled, 7 recovering, 8 suspended, 9 unknown.",
)
JOB_STATE_SECONDS = counter(
    "job:training_state_seconds_total:union",
    *JOB,
    "state",
    unit=Unit.SECONDS,
    meaning="Time that the job spent in each state.",
)
JOB_GPUS = gauge("job:training_gpus:union", *JOB, meaning="GPUs that the job asked for.")
JOB_PROGRESS = gauge(
    "job:training_progress:ratio_union", *JOB, unit=Unit.RATIO, meaning="Share that is done, as the job itself reports."
)
JOB_REMAINING = gauge(
    "job:training_remaining_seconds:union", *JOB, unit=Unit.SECONDS, meaning="Time until it is done, as it expects."
)
JOB_STEP = gauge("job:training_step:union", *JOB, meaning="Number of the last step that the job reported.")
JOB_CHECKPOINT_TIME = gauge(
    "job:checkpoint_timestamp_seconds:union", *JOB, unit=Unit.SECONDS, meaning="When its last checkpoint was complete."
)
JOB_PROGRESS_TIME = gauge(
    "job:training_progress_timestamp_seconds:union",
    *JOB,
    unit=Unit.SECONDS,
    meaning="When its step, ratio or checkpoint last moved, or all its ranks began to run, if that is later; only of "
    "jobs that report progress, and while all ranks run.",
)
JOB_CLOCK_AHEAD = gauge(
    "job:training_clock_ahead_seconds:max6h",
    *JOB,
    unit=Unit.SECONDS,
    meaning="How far the time of its last progress lay in our future, at most within six hours: so far is the clock "
    "ahead that told it. Only where it is.",
)
JOB_RESTARTS = counter(
    "job:training_restarts_total:union", *JOB, meaning="Attempts of the job that began after an earlier one."
)
JOB_END_TIME = gauge(
    "job:training_end_timestamp_seconds:union",
    *JOB,
    "outcome",
    "fault_type",
    "domain",
    unit=Unit.SECONDS,
    meaning="When the job ended for good, how, and what its last attempt met, by whose doing; for a day.",
)
JOB_BLOCKED = gauge(
    "job:training_blocked:ratio_rate5m",
    "cluster",
    "workload",
    "what",
    unit=Unit.RATIO,
    meaning="Share of time in which the slowest worker waited for what: checkpoint, or data.",
)
