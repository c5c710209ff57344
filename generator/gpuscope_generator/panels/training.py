"""Training jobs: how many began and how they ended, and where each one stands."""

from __future__ import annotations

from gpuscope_generator.normalized import training
from gpuscope_generator.panels.training_choice import (
    JOB_KEYS,
    JOB_LINE_LINKS,
    chosen_jobs,
    happened,
    job_columns,
    of_chosen,
    of_team,
)
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import (
    RANGE,
    Gauge,
    Matcher,
    Vector,
    deriv,
    increase,
    max_by,
    now,
    ratio,
    select,
    sum_by,
    topk,
    with_zero,
)
from gpuscope_generator.rules.sources.training import STATES
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    LineStyle,
    Query,
    Stat,
    StateTimeline,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    ValueText,
    palette,
)

__all__ = [
    "JUDGED",
    "SOURCE",
    "STATE_COLORS",
    "gpus_by_state",
    "job_states",
    "jobs",
    "jobs_by_state",
    "jobs_created",
    "jobs_failed",
    "jobs_removed",
    "jobs_succeeded",
    "progress",
    "success_rate",
]

SOURCE = "the gpuscope collector; without it the operators of Kubeflow, JobSet and HyperPod, which name no team."
COLLECTOR = "the gpuscope collector."
NO_JOBS = "No job in this range, or nobody counts jobs: see Data health"
NO_COLLECTOR = "No job is chosen, or no gpuscope collector tells of single jobs"
NO_PROGRESS = "No job reports progress: on Kubernetes a TrainJob does so in its status"
JUDGED = Matcher("outcome", "=~", "succeeded|failed|timed_out|interrupted")
STATE_COLORS = {
    "queued": palette.IDLE,
    "scheduling": palette.SERIES[4],
    "pulling": palette.SERIES[6],
    "initializing": palette.VIOLET,
    "training": palette.OK,
    "checkpointing": palette.INFO,
    "stalled": palette.BAD,
    "recovering": palette.WARN,
    "suspended": palette.DIM,
    "unknown": palette.TEXT,
}
_TEXTS = {str(index): ValueText(state, STATE_COLORS[state]) for index, state in enumerate(STATES)}
_STYLES = {state: LineStyle(color=color) for state, color in STATE_COLORS.items()}


def _number(key: str, title: str, explanation: Explanation, count: Vector, color: str = palette.NEUTRAL) -> Stat:
    return Stat(
        key=key,
        title=title,
        explanation=explanation,
        queries=(Query(expression=count, instant=True),),
        unit=Unit.COUNT,
        decimals=0,
        width=5,
        thresholds=Thresholds(base=palette.NEUTRAL, steps=((0.5, color),) if color != palette.NEUTRAL else ()),
        no_value=NO_JOBS,
    )


def _ended(outcomes: str) -> Vector:
    """Ends of these kinds; 0 where jobs ended, and none so, or where jobs only began."""
    some = happened(training.JOBS_ENDED, "cluster", more=(Matcher("outcome", "=~", outcomes),))
    return with_zero(with_zero(some, happened(training.JOBS_ENDED, "cluster")), jobs_begun())


def jobs_begun() -> Vector:
    """Jobs that were submitted in the time range."""
    return happened(training.JOBS_CREATED, "cluster")


def jobs_created() -> Stat:
    """Jobs that were submitted."""
    return _number(
        "jobs_created",
        "Jobs created",
        Explanation(
            shows="Jobs that were submitted within the time range, of all chosen teams and queues. A requeue is the "
            "same job.",
            source=SOURCE,
            good="What is usual for your teams.",
            do="Far more than usual: somebody submits in a loop, see the table. None: submission may be broken.",
        ),
        jobs_begun(),
    )


def jobs_succeeded() -> Stat:
    """Jobs that reached their goal."""
    return _number(
        "jobs_succeeded",
        "Succeeded",
        Explanation(
            shows="Jobs that ended with success within the time range.",
            source=SOURCE,
            good="Most of those that ended.",
            do="See the success rate beside, and what failed.",
        ),
        _ended("succeeded"),
    )


def jobs_failed() -> Stat:
    """Jobs that did not."""
    return _number(
        "jobs_failed",
        "Failed",
        Explanation(
            shows="Jobs that ended for good without success within the time range: failed, out of time, or interrupted "
            "and never restarted.",
            source=SOURCE,
            good="0.",
            do="Open the row Faults: its pie says whether it was the program or the machines.",
        ),
        _ended("failed|timed_out|interrupted"),
        palette.WARN,
    )


def jobs_removed() -> Stat:
    """Jobs that somebody took away."""
    return _number(
        "jobs_removed",
        "Cancelled, preempted",
        Explanation(
            shows="Jobs that a user cancelled or the scheduler preempted within the time range, and those that "
            "went away before anybody learned how they ended. Operators only "
            "count objects that were deleted, finished ones too.",
            source=SOURCE,
            good="Few. They count on neither side of the success rate.",
            do="Many preempted: see evictions in the row Queueing. Many cancelled: ask whether jobs hang.",
        ),
        _ended("cancelled|preempted|deleted|forgotten"),
    )


def success_rate() -> Stat:
    """Share of jobs that succeeded."""
    good = happened(training.JOBS_ENDED, "cluster", more=(Matcher("outcome", "=", "succeeded"),))
    judged = happened(training.JOBS_ENDED, "cluster", more=(JUDGED,))
    return Stat(
        key="success_rate",
        title="Success rate",
        explanation=Explanation(
            shows="Jobs that succeeded, of those that succeeded, failed, ran out of time or were interrupted, within "
            "the time range. Cancelled and preempted jobs are in neither number.",
            source=SOURCE,
            good="Above 90 %. With fewer than five ends it means little.",
            do="Low: open the row Faults, and there the faults by what they were.",
        ),
        queries=(Query(expression=ratio(with_zero(good, judged), judged), instant=True),),
        unit=Unit.RATIO,
        width=4,
        decimals=1,
        low=0,
        high=1,
        thresholds=Thresholds(base=palette.BAD, steps=((0.7, palette.WARN), (0.9, palette.OK))),
        no_value="No job ended in this range",
    )


def jobs(settings: Settings) -> Table:
    """One line a job."""
    fine = ("scheduler", *JOB_KEYS)

    live = select(training.JOB_STATE_CODE, IN_CLUSTER)

    def of_live(found: Vector) -> Vector:
        return of_chosen(found.and_(live, on=training.JOB))

    def of_job(series: Gauge) -> Vector:
        return max_by(of_live(select(series, IN_CLUSTER)), *fine)

    def spent(*states: Matcher) -> Vector:
        rose = increase(select(training.JOB_STATE_SECONDS, IN_CLUSTER, *states), RANGE)
        return sum_by(of_live(rose), *fine)

    share = ratio(spent(Matcher("state", "=~", "training|checkpointing")), spent())
    facts = max_by(
        chosen_jobs().and_(live, on=training.JOB), *fine, "team", "queue", "user", "workload_kind", "held_by"
    )
    age = max_by(of_live(select(training.JOB_CHECKPOINT_TIME, IN_CLUSTER) * -1 + now()), *fine)
    limit = settings.thresholds.checkpoint_age_seconds
    return Table(
        key="jobs",
        title="Jobs",
        explanation=Explanation(
            shows="Every chosen job that waits or runs: what it does now, how far it is, and which share of its time "
            "within the range of the board it trained. Cells that nobody can fill stay empty. Jobs that ended are in "
            "the graph below.",
            source="the gpuscope collector; progress, remaining time and checkpoints as the job itself reports.",
            good="Training, with a productive share near 100 % and a young checkpoint.",
            do="Stalled: its steps stand still, look at its GPUs and at NCCL below. Recovering for long: see Recovery. "
            "Queued: see Queueing. Click the job for its own view.",
        ),
        columns=(
            *job_columns(),
            LabelColumn(label="team", title="Team"),
            LabelColumn(label="queue", title="Queue"),
            LabelColumn(label="workload_kind", title="Kind"),
            LabelColumn(label="user", title="User"),
            ValueColumn(title="Known", expression=facts, hidden=True),
            ValueColumn(
                title="State", expression=of_job(training.JOB_STATE_CODE), texts=_TEXTS, cell=Cell.COLORED_TEXT
            ),
            ValueColumn(title="GPUs", expression=of_job(training.JOB_GPUS), unit=Unit.COUNT),
            ValueColumn(
                title="Done",
                expression=of_job(training.JOB_PROGRESS),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
                decimals=1,
            ),
            ValueColumn(title="Remaining", expression=of_job(training.JOB_REMAINING), unit=Unit.SECONDS, decimals=0),
            ValueColumn(
                title="Productive share",
                expression=share,
                unit=Unit.RATIO,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.WARN, steps=((0.8, palette.OK),)),
                decimals=0,
            ),
            ValueColumn(
                title="Checkpoint age",
                expression=age,
                unit=Unit.SECONDS,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.OK, steps=((limit, palette.WARN),)),
                decimals=0,
            ),
        ),
        sort_by="GPUs",
        paginate=True,
        height=11,
        no_value=NO_COLLECTOR,
    )


def job_states() -> StateTimeline:
    """What each job did."""
    largest = topk(30, max_by(of_chosen(select(training.JOB_GPUS, IN_CLUSTER)), *JOB_KEYS))
    states = max_by(of_chosen(select(training.JOB_STATE_CODE, IN_CLUSTER)), *JOB_KEYS)
    return StateTimeline(
        key="job_states",
        title="What each job did (up to 30, the largest)",
        explanation=Explanation(
            shows="A bar for each job, with what it did: queued, scheduling, pulling, initializing, training, "
            "checkpointing, stalled, recovering, suspended; unknown while nobody looked.",
            source=COLLECTOR,
            good="Long bars of training, short ones between them.",
            do="Many short bars of training: it is interrupted again and again, see Faults. Choose one job to see it "
            "alone.",
        ),
        queries=(
            Query(
                expression=states.and_(largest, on=JOB_KEYS),
                legend="{{namespace}} {{workload}} {{job_id}}",
            ),
        ),
        texts=_TEXTS,
        width=24,
        height=14,
        links=JOB_LINE_LINKS,
        no_value=NO_COLLECTOR,
    )


def jobs_by_state() -> TimeSeries:
    """How many jobs do what."""
    return TimeSeries(
        key="jobs_by_state",
        title="Jobs by what they do",
        explanation=Explanation(
            shows="Jobs of the chosen teams and queues, by what they do.",
            source=COLLECTOR,
            good="Few that are stalled, recovering or unknown.",
            do="Many at once that recover: a fault of the whole cluster, such as its network or file system.",
        ),
        queries=(Query(expression=sum_by(of_team(training.JOBS), "cluster", "state"), legend="{{state}}"),),
        unit=Unit.COUNT,
        low=0,
        stacked=True,
        styles=_STYLES,
        width=12,
        no_value="No job lives, or there is no gpuscope collector",
    )


def gpus_by_state() -> TimeSeries:
    """How many GPUs are held by jobs that do what."""
    return TimeSeries(
        key="gpus_by_state",
        title="GPUs by what their jobs do",
        explanation=Explanation(
            shows="GPUs that jobs held over the last five minutes, by what the jobs did with them. Jobs whose number "
            "of GPUs is not known are left out.",
            source=COLLECTOR,
            good="All of it is training and checkpointing.",
            do="Initializing and pulling: cache images and data. Stalled or recovering: GPUs wait for a repair.",
        ),
        queries=(Query(expression=sum_by(of_team(training.GPUS), "cluster", "state"), legend="{{state}}"),),
        unit=Unit.COUNT,
        low=0,
        stacked=True,
        styles=_STYLES,
        width=12,
        no_value="No job holds GPUs, or there is no gpuscope collector",
    )


def progress() -> TimeSeries:
    """How far jobs are, and how fast."""
    done = topk(20, max_by(of_chosen(select(training.JOB_PROGRESS, IN_CLUSTER)), *JOB_KEYS))
    slope = max_by(of_chosen(deriv(select(training.JOB_STEP, IN_CLUSTER), "10m")), *JOB_KEYS)
    return TimeSeries(
        key="progress",
        title="Progress, and steps a second",
        explanation=Explanation(
            shows="Share of the training that is done, as each job itself reports; where it counts its steps, also how "
            "many it makes a second, on the axis at the right.",
            source=f"{COLLECTOR} It reads the status of TrainJobs (Kubeflow Trainer 2), where steps are not told yet.",
            good="A steady rise; even steps over days.",
            do="A step down: work since the last checkpoint was lost. A flat line: the job is stalled. Slower steps: "
            "look at throttled clocks, NCCL and file systems of its nodes.",
        ),
        queries=(
            Query(expression=done, legend="{{workload}}"),
            Query(expression=topk(20, slope.compare(">=", 0)), legend="steps of {{workload}}"),
        ),
        unit=Unit.RATIO,
        low=0,
        width=12,
        styles={"/^steps of /": LineStyle(unit=Unit.COUNT_PER_SECOND, dashed=True)},
        links=JOB_LINE_LINKS,
        no_value=NO_PROGRESS,
    )
