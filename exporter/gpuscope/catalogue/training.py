"""Training jobs of a whole cluster: their life, interruptions and recovery. The collector publishes these."""

from gpuscope.catalogue.metric import Kind, Level, Metric, Tier, Unit

__all__ = [
    "AGENTS",
    "AGENT_FAILURES",
    "ARRAY_TASKS",
    "ATTEMPTS",
    "CHECKPOINT_TIME",
    "FAULTS",
    "FORGOTTEN",
    "GPUS",
    "INTERRUPTIONS",
    "JOBS",
    "JOBS_CREATED",
    "JOBS_ENDED",
    "JOB_ENDED",
    "JOB_INFO",
    "JOB_RESTARTS",
    "LEFT_OUT",
    "METRICS",
    "PHASE_SECONDS",
    "PROGRESS",
    "PROGRESS_TIME",
    "RECOVERY_SECONDS",
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
PHASES = ("detection", "action", "start", "first_step")
UNTIL = ("resources", "running", "first_step")
RECOVERY_BUCKETS = tuple(map(float, (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600)))
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
INTERRUPTIONS = Metric(
    name="gpuscope_training_interruptions_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("scheduler", "namespace", "team", "domain"),
    help="Attempts that ended without success, by whose doing that was, planned ends included.",
    tier=Tier.SELF,
    source=f"{_SOURCE}; XIDs of the agents",
    values=((), (), (), DOMAINS),
    note="0 for every domain as soon as a team has a job, so that increase() sees the first one. The denominator of MTBF.",
)
PHASE_SECONDS = Metric(
    name="gpuscope_training_recovery_phase_seconds",
    kind=Kind.HISTOGRAM,
    level=Level.NODE,
    extra=("scheduler", "phase", "domain"),
    unit=Unit.SECONDS,
    help="Duration of each phase between a fault and the first step after it, by whose fault it was.",
    tier=Tier.SELF,
    source=f"{_SOURCE}; time stamps of XIDs; what the job reports",
    values=((), PHASES, DOMAINS),
    buckets=RECOVERY_BUCKETS,
    note="A phase is counted only where both of its ends are known: detection for XIDs only, start only where the "
    "scheduler tells when all ranks run, first_step only where the job reports progress.",
)
RECOVERY_SECONDS = Metric(
    name="gpuscope_training_recovery_seconds",
    kind=Kind.HISTOGRAM,
    level=Level.NODE,
    extra=("scheduler", "until", "domain"),
    unit=Unit.SECONDS,
    help="Time from the end of an attempt until the job has resources again, all its ranks run, or it makes progress.",
    tier=Tier.SELF,
    source=f"{_SOURCE}; what the job reports",
    values=((), UNTIL, DOMAINS),
    buckets=RECOVERY_BUCKETS,
    note="Choose one until: the three are the same recoveries, as far as each can be known. Jobs that never came back are in none.",
)
AGENTS = Metric(
    name="gpuscope_collector_agents",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("state",),
    help="Agents whose faults the collector reads, by whether they answered last time.",
    tier=Tier.SELF,
    source="the collector itself",
    values=(("answering", "failed"),),
)
AGENT_FAILURES = Metric(
    name="gpuscope_collector_agent_failures_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=("reason",),
    help="Answers of agents that did not come or could not be used, by why.",
    tier=Tier.SELF,
    source="the collector itself",
    values=(
        (
            "address",
            "connection",
            "tls",
            "unauthorized",
            "status",
            "timeout",
            "too_large",
            "malformed",
            "stale",
            "busy",
        ),
    ),
    note="stale: the answer is of another time than the collector's, because the agent is stuck or a clock is wrong.",
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
ARRAY_TASKS = Metric(
    name="gpuscope_training_array_tasks_waiting",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_JOB,
    help="Tasks of the array that have not begun; each has series of its own once it does.",
    tier=Tier.SELF,
    source="Slurm's sacct, squeue and scontrol",
    note="job_id is that of the array. Each task is a job, created and ended like any other, and in gpuscope_training_jobs.",
)
LEFT_OUT = Metric(
    name="gpuscope_collector_left_out",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=("kind",),
    help="What is followed and has no series of its own for want of room: jobs, and owners, which are counted as other.",
    tier=Tier.SELF,
    source="the collector",
    values=(("jobs", "owners"),),
    note="Above 0 raise --max-jobs or --max-owners, or sum over fewer labels. Owners: namespace, team, queue and kind of workload of the jobs that are known now.",
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
    note="A gap of more than five minutes between two looks, in which the collector did not run or the scheduler did not answer, is unknown; a shorter one counts to the state that was seen before it.",
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
PROGRESS_TIME = Metric(
    name="gpuscope_training_job_progress_timestamp_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=_JOB,
    unit=Unit.SECONDS,
    help="Unix time at which the job's step, ratio or checkpoint last moved, or at which all its ranks began to run, if that is later.",
    tier=Tier.SELF,
    source="TrainJob status.trainerStatus, as the collector saw it",
    note="Only of jobs that ever reported progress, and while all ranks run.",
)
JOB_RESTARTS = Metric(
    name="gpuscope_training_job_restarts_total",
    kind=Kind.COUNTER,
    level=Level.NODE,
    extra=_JOB,
    help="Attempts of the job that began after an earlier one.",
    tier=Tier.SELF,
    source=_SOURCE,
)
JOB_ENDED = Metric(
    name="gpuscope_training_job_end_timestamp_seconds",
    kind=Kind.GAUGE,
    level=Level.NODE,
    extra=(*_JOB, "outcome", "fault_type", "domain"),
    unit=Unit.SECONDS,
    help="Unix time at which the job ended for good, by how, and by what its last attempt met; for 24 hours.",
    tier=Tier.SELF,
    source=f"{_SOURCE}; XIDs of the agents",
    values=((), (), (), (), OUTCOMES, (), ("", *DOMAINS)),
    note="fault_type and domain are empty where the last attempt met nothing, and may change until the verdict is final.",
)

METRICS = (
    JOBS_CREATED,
    JOBS_ENDED,
    FORGOTTEN,
    ATTEMPTS,
    RESTARTS,
    FAULTS,
    INTERRUPTIONS,
    PHASE_SECONDS,
    RECOVERY_SECONDS,
    AGENTS,
    AGENT_FAILURES,
    JOBS,
    ARRAY_TASKS,
    LEFT_OUT,
    JOB_INFO,
    STATE,
    STATE_SECONDS,
    STATE_GPU_SECONDS,
    GPUS,
    PROGRESS,
    REMAINING,
    STEP,
    CHECKPOINT_TIME,
    PROGRESS_TIME,
    JOB_RESTARTS,
    JOB_ENDED,
)
