"""Training jobs of a whole cluster: their life, interruptions and recovery. The collector publishes these."""

from gpuscope.catalogue.metric import Kind, Level, Metric, Tier, Unit

__all__ = [
    "ATTEMPTS",
    "CHECKPOINT_TIME",
    "FAULTS",
    "FORGOTTEN",
    "GPUS",
    "JOBS",
    "JOBS_CREATED",
    "JOBS_ENDED",
    "JOB_INFO",
    "METRICS",
    "PROGRESS",
    "REMAINING",
    "RESTARTS",
    "STATE",
    "STATE_GPU_SECONDS",
    "STATE_SECONDS",
    "STEP",
]

OUTCOMES = ("succeeded", "failed", "cancelled", "preempted", "timed_out", "interrupted", "unknown")
DOMAINS = ("workload", "infrastructure", "platform", "planned", "unknown")
STATES = (
    "queued",
    "scheduling",
    "pulling",
    "initializing",
    "training",
    "checkpointing",
    "stalled",
    "recovering",
    "suspended",
    "unknown",
)
TRIGGERS = ("automatic", "manual", "unknown")
_OWNER = ("scheduler", "namespace", "team", "queue", "workload_kind")
_JOB = ("scheduler", "namespace", "workload", "job_id")
_SOURCE = "the Kubernetes API, or Slurm's sacct, squeue and scontrol"

JOBS_CREATED = Metric(
    name="gpuscope_training_jobs_created_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=_OWNER,
    help="Jobs that were submitted since the collector first looked at this scheduler.",
    tier=Tier.SELF,
    source=_SOURCE,
)
JOBS_ENDED = Metric(
    name="gpuscope_training_jobs_ended_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=(*_OWNER, "outcome"),
    help="Jobs that ended for good, by how.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=((), (), (), (), (), OUTCOMES),
    note="Success rate: succeeded over succeeded, failed, timed_out and interrupted. Jobs that a user cancelled or the scheduler preempted count on neither side.",
)
FORGOTTEN = Metric(
    name="gpuscope_training_jobs_forgotten_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=_OWNER,
    help="Jobs that went away in the scheduler before anybody learned how they ended.",
    tier=Tier.SELF,
    source=_SOURCE,
)
ATTEMPTS = Metric(
    name="gpuscope_training_attempts_ended_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=(*_OWNER, "outcome"),
    help="Attempts that ended, by how; a job that is restarted makes several.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=((), (), (), (), (), OUTCOMES),
)
RESTARTS = Metric(
    name="gpuscope_training_restarts_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=(*_OWNER, "trigger", "fault_type"),
    help="Attempts that began after an interrupted one of the same job, by who started them and by what had happened.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=((), (), (), (), (), TRIGGERS, ()),
)
FAULTS = Metric(
    name="gpuscope_training_faults_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("scheduler", "namespace", "team", "fault_type", "domain", "scope"),
    help="Interruptions of attempts, by what they were; what nobody can tell is unknown.",
    tier=Tier.SELF,
    source=f"{_SOURCE}; XIDs of the agents",
    values=((), (), (), (), DOMAINS, ()),
    note="Where more than 30 % are unknown, the shares of the others mean little.",
)
JOBS = Metric(
    name="gpuscope_training_jobs",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("scheduler", "namespace", "team", "queue", "state"),
    help="Jobs that live, by what they do.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=((), (), (), (), STATES),
)
JOB_INFO = Metric(
    name="gpuscope_training_job_info",
    kind=Kind.INFO,
    level=Level.NODE,
    extra=(*_JOB, "team", "queue", "user", "workload_kind", "priority"),
    help="A job that lives or ended within the last 24 hours.",
    tier=Tier.SELF,
    source=_SOURCE,
)
STATE = Metric(
    name="gpuscope_training_job_state",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=(*_JOB, "state"),
    help="1 for what the job does now; a job that ended has none.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=((), (), (), (), STATES),
    high=1,
)
STATE_SECONDS = Metric(
    name="gpuscope_training_state_seconds_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=(*_JOB, "state"),
    unit=Unit.SECONDS,
    help="Time that the job spent in each state.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=((), (), (), (), STATES),
    note="Time in which the collector did not run, or the scheduler did not answer, is unknown.",
)
STATE_GPU_SECONDS = Metric(
    name="gpuscope_training_gpu_seconds_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("scheduler", "namespace", "team", "queue", "state"),
    unit=Unit.SECONDS,
    help="GPU-time that jobs held, by what they did with it.",
    tier=Tier.SELF,
    source=_SOURCE,
    values=((), (), (), (), STATES),
    note="Jobs whose number of GPUs is not known are left out; so is time without GPUs, as in the queue.",
)
GPUS = Metric(
    name="gpuscope_training_job_gpus",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_JOB,
    help="GPUs that the job asked for.",
    tier=Tier.SELF,
    source=_SOURCE,
)
PROGRESS = Metric(
    name="gpuscope_training_job_progress_ratio",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_JOB,
    unit=Unit.RATIO,
    help="Share of the training that is done, as the job itself reports.",
    tier=Tier.SELF,
    source="TrainJob status.trainerStatus",
    high=1,
)
REMAINING = Metric(
    name="gpuscope_training_job_remaining_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_JOB,
    unit=Unit.SECONDS,
    help="Time until the training is done, as the job itself expects.",
    tier=Tier.SELF,
    source="TrainJob status.trainerStatus",
)
STEP = Metric(
    name="gpuscope_training_job_step",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_JOB,
    help="Number of the last step that the job reported.",
    tier=Tier.SELF,
    source="TrainJob status.trainerStatus",
)
CHECKPOINT_TIME = Metric(
    name="gpuscope_training_job_checkpoint_timestamp_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_JOB,
    unit=Unit.SECONDS,
    help="Unix time of the last complete checkpoint that the job reported.",
    tier=Tier.SELF,
    source="TrainJob status.trainerStatus",
)

METRICS = (
    JOBS_CREATED,
    JOBS_ENDED,
    FORGOTTEN,
    ATTEMPTS,
    RESTARTS,
    FAULTS,
    JOBS,
    JOB_INFO,
    STATE,
    STATE_SECONDS,
    STATE_GPU_SECONDS,
    GPUS,
    PROGRESS,
    REMAINING,
    STEP,
    CHECKPOINT_TIME,
)
