"""Reliability of training over a day, a week and a month: sums first, and one division at the end.

What ends in ``increase10m`` is what came in ten minutes; the windows are sums of these. Definitions: docs/collector.md,
"Reliability and efficiency".
"""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge

__all__ = [
    "DOWNTIME",
    "ENDED",
    "ENDED_GAINED",
    "ETTR",
    "FAULTS",
    "FAULTS_GAINED",
    "GOODPUT",
    "GPU_SECONDS",
    "GPU_SECONDS_GAINED",
    "INTERRUPTIONS",
    "INTERRUPTIONS_GAINED",
    "MTBF",
    "MTBF_BOUND",
    "MTTR",
    "MTTR_P90",
    "RECOVERIES",
    "RECOVERIES_GAINED",
    "RECOVERY_BUCKETS_GAINED",
    "RECOVERY_SECONDS_GAINED",
    "RESTARTS",
    "RESTARTS_GAINED",
    "SUCCESS",
    "UNKNOWN_FAULTS",
    "UPTIME",
    "WALL_GPU_SECONDS_GAINED",
    "WALL_SECONDS_GAINED",
    "WINDOWS",
]

WINDOWS = ("1d", "7d", "30d")
"""Values of the label ``window``."""
_IN = ("cluster", "window")

ENDED_GAINED = gauge("cluster:training_jobs_ended:increase10m", "cluster", "outcome", meaning="Jobs that ended.")
ENDED = gauge("cluster:training_jobs_ended:increase", *_IN, "outcome", meaning="Jobs that ended within the window.")
INTERRUPTIONS_GAINED = gauge(
    "cluster:training_interruptions:increase10m", "cluster", "domain", meaning="Interruptions by whose doing."
)
INTERRUPTIONS = gauge(
    "cluster:training_interruptions:increase", *_IN, "domain", meaning="Interruptions within the window."
)
FAULTS_GAINED = gauge(
    "cluster:training_faults:increase10m", "cluster", "fault_type", "domain", meaning="Faults by what they were."
)
FAULTS = gauge("cluster:training_faults:increase", *_IN, "domain", meaning="Faults within the window.")
RESTARTS_GAINED = gauge("cluster:training_restarts:increase10m", "cluster", "trigger", meaning="Restarts by who.")
RESTARTS = gauge(
    "cluster:training_restarts:increase",
    *_IN,
    "trigger",
    meaning="Restarts within the window: automatic, manual, and unknown, as schedulers mostly do not tell.",
)
GPU_SECONDS_GAINED = gauge(
    "cluster:training_gpu_seconds:increase10m",
    "cluster",
    "state",
    unit=Unit.SECONDS,
    meaning="GPU-time that jobs held, by what they did.",
)
GPU_SECONDS = gauge(
    "cluster:training_gpu_seconds:increase", *_IN, "state", unit=Unit.SECONDS, meaning="The same within the window."
)
WALL_GPU_SECONDS_GAINED = gauge(
    "cluster:training_wall_gpu_seconds:increase10m",
    "cluster",
    "state",
    unit=Unit.SECONDS,
    meaning="Time of jobs times the GPUs that they asked for, waiting included.",
)
WALL_SECONDS_GAINED = gauge(
    "cluster:training_wall_seconds:increase10m", "cluster", "state", unit=Unit.SECONDS, meaning="Time of jobs."
)
DOWNTIME = gauge(
    "cluster:training_downtime_seconds:increase",
    *_IN,
    "kind",
    unit=Unit.SECONDS,
    meaning="Time of jobs within the window that was lost: recovering, suspended and stalled; automatic and manual "
    "where HyperPod's operator tells.",
)
RECOVERIES_GAINED = gauge(
    "cluster:training_recoveries:increase10m", "cluster", "until", meaning="Recoveries from what was not planned."
)
RECOVERY_SECONDS_GAINED = gauge(
    "cluster:training_recovery_seconds:increase10m", "cluster", "until", unit=Unit.SECONDS, meaning="Their duration."
)
RECOVERY_BUCKETS_GAINED = gauge(
    "cluster:training_recovery_seconds_bucket:increase10m", "cluster", "until", "le", meaning="The same by bound."
)
RECOVERIES = gauge("cluster:training_recoveries:increase", *_IN, "until", meaning="The n of the means below.")

SUCCESS = gauge(
    "cluster:training_success:ratio",
    *_IN,
    unit=Unit.RATIO,
    meaning="Jobs that succeeded, of those that succeeded, failed, timed out or were interrupted.",
)
UNKNOWN_FAULTS = gauge(
    "cluster:training_unknown_faults:ratio", *_IN, unit=Unit.RATIO, meaning="Share of faults that nobody can explain."
)
MTBF = gauge(
    "cluster:training_mtbf_gpu_seconds:ratio",
    *_IN,
    unit=Unit.SECONDS,
    meaning="GPU-time that jobs held, by interruption of the infrastructure.",
)
MTBF_BOUND = gauge(
    "cluster:training_mtbf_gpu_seconds:lower_bound",
    *_IN,
    unit=Unit.SECONDS,
    meaning="Without any interruption: with 95 % confidence the mean is at least this, a third of the GPU-time.",
)
MTTR = gauge(
    "cluster:training_mttr_seconds:mean", *_IN, "until", unit=Unit.SECONDS, meaning="Mean duration of a recovery."
)
MTTR_P90 = gauge(
    "cluster:training_mttr_seconds:p90", *_IN, "until", unit=Unit.SECONDS, meaning="Nine of ten are below."
)
GOODPUT = gauge(
    "cluster:training_goodput:ratio",
    *_IN,
    unit=Unit.RATIO,
    meaning="Productive GPU-time of the GPU-time that jobs held; an upper bound.",
)
ETTR = gauge(
    "cluster:training_ettr:ratio",
    *_IN,
    unit=Unit.RATIO,
    meaning="Productive time of all time of jobs, queue and restarts included, weighted by GPUs; an upper bound.",
)
UPTIME = gauge(
    "cluster:training_uptime:ratio",
    *_IN,
    unit=Unit.RATIO,
    meaning="Time in which jobs trained, of the time after they had left the queue.",
)
