"""Alerts about training jobs that stand still: pauses of other kinds stay silent."""

from pathlib import Path

from tests.generator.alerting import fires, says
from tests.generator.alerts.story import Story, tensor

from gpuscope_generator.settings import Settings, Thresholds

RULES = ("training", "jobs")
JOB = 'cluster="c", scheduler="kubernetes", namespace="ml", workload="llama", job_id="1", team="nlp"'
MINUTE = "1m"


def stalled(severity: str = "warning") -> list[str]:
    return [f'JobStalled{{{JOB}, severity="{severity}"}}']


def hang(**facts: object) -> Story:
    """An hour of a step a minute, and then none."""
    return Story(**facts).phase("training", 61, step=1).phase("training", 10).phase("stalled", 80)  # type: ignore[arg-type]


def test_a_job_without_steps_fires_after_ten_minutes_and_five(tmp_path: Path) -> None:
    samples = hang().samples() | tensor(0, 150)
    # The last step was at 60 minutes; more than ten are over at 71.
    fires(tmp_path, samples, {"75m": [], "76m": stalled(), "140m": stalled()}, every=MINUTE, only=RULES)


def test_where_nobody_measures_tensor_cores_it_takes_half_an_hour(tmp_path: Path) -> None:
    fires(tmp_path, hang().samples(), {"95m": [], "96m": stalled()}, every=MINUTE, only=RULES)


def test_a_large_job_wakes_somebody(tmp_path: Path) -> None:
    large, small = hang(gpus=64), hang(gpus=63, workload="small")
    other = f'JobStalled{{{JOB.replace("llama", "small")}, severity="warning"}}'
    samples = large.samples() | small.samples() | tensor(0, 150) | tensor(0, 150, workload="small")
    fires(tmp_path, samples, {"80m": [*stalled("critical"), other]}, every=MINUTE, only=RULES)


def pauses() -> dict[str, Story]:
    """Whatever takes long and is no hang."""
    return {
        "checkpoint-that-nothing-tells": Story()
        .phase("training", 60, step=1)
        .phase("training", 10)
        .phase("stalled", 3)
        .phase("training", 40, step=1),
        "checkpoint": Story()
        .phase("training", 60, step=1)
        .phase("checkpointing", 12, saves=True)
        .phase("training", 40, step=1),
        "first-step-compiles": Story()
        .phase("queued", 5)
        .phase("initializing", 2)
        .phase("training", 20)
        .phase("training", 40, step=1),
        "compiles-after-a-restart": Story()
        .phase("training", 60, step=1)
        .phase("recovering", 2)
        .phase("initializing", 2)
        .phase("training", 20, back_to=40)
        .phase("training", 40, step=1),
        "waits": Story().phase("queued", 180),
        "reports-nothing": Story(reports=False).phase("training", 180),
        "healthy": Story().phase("training", 180, step=1),
    }


def test_other_pauses_are_silent(tmp_path: Path) -> None:
    samples: dict[str, str] = {}
    for number, (name, story) in enumerate(pauses().items()):
        story.workload, story.job_id = name, str(number)
        samples |= story.samples() | tensor(0, 200, workload=name)
    fires(tmp_path, samples, {f"{minute}m": [] for minute in range(0, 180, 3)}, every=MINUTE, only=RULES)


def test_an_evaluation_works_with_tensor_cores(tmp_path: Path) -> None:
    times = {f"{minute}m": [] for minute in range(60, 150, 5)}
    fires(tmp_path, hang().samples() | tensor(0.3, 150), times, every=MINUTE, only=RULES)


def test_slow_steps_have_their_time(tmp_path: Path) -> None:
    """A step takes 15 minutes: five of them are an hour and a quarter."""
    story = Story()
    for _ in range(8):
        story.phase("training", 1, step=1).phase("training", 9).phase("stalled", 5)
    story.phase("training", 10).phase("stalled", 120)
    silent = {f"{minute}m": [] for minute in range(40, 150, 10)}
    fires(tmp_path, story.samples() | tensor(0, 300), silent | {"220m": stalled()}, every=MINUTE, only=RULES)


def test_a_checkpoint_and_a_start_have_limits_of_their_own(tmp_path: Path) -> None:
    saving = Story().phase("training", 60, step=1).phase("checkpointing", 60)
    fires(tmp_path, saving.samples(), {"92m": [], "97m": stalled()}, every=MINUTE, only=RULES)


def test_a_start_that_never_ends(tmp_path: Path) -> None:
    starting = Story().phase("queued", 10).phase("initializing", 60)
    fires(tmp_path, starting.samples(), {"42m": [], "47m": stalled()}, every=MINUTE, only=RULES)


def test_a_first_step_that_never_comes(tmp_path: Path) -> None:
    starting = Story().phase("queued", 10).phase("training", 80)
    fires(tmp_path, starting.samples() | tensor(0, 100), {"43m": [], "46m": stalled()}, every=MINUTE, only=RULES)


def test_one_that_goes_on_is_silent_at_once(tmp_path: Path) -> None:
    story = hang().phase("training", 20, step=1)
    fires(tmp_path, story.samples() | tensor(0, 200), {"150m": stalled(), "152m": []}, every=MINUTE, only=RULES)


def test_a_collector_that_goes_away_leaves_nothing_behind(tmp_path: Path) -> None:
    samples = hang().samples(after="stale") | tensor(0, 200)
    fires(tmp_path, samples, {"150m": stalled(), "153m": []}, every=MINUTE, only=RULES)


def test_steps_on_and_off_are_no_storm(tmp_path: Path) -> None:
    story = Story().phase("training", 60, step=1)
    for _ in range(30):
        story.phase("training", 1).phase("training", 1, step=1)
    fires(tmp_path, story.samples(), {f"{at}m": [] for at in range(60, 120)}, every=MINUTE, only=RULES)


def test_a_clock_that_is_ahead_hides_no_job_that_stands_still(tmp_path: Path) -> None:
    """Its last progress lies an hour in our future: an hour would pass before it seemed to be old at all."""
    samples = hang(ahead=3600).samples() | tensor(0, 150)
    fires(tmp_path, samples, {"70m": [], "75m": [], "77m": stalled(), "140m": stalled()}, every=MINUTE, only=RULES)


def test_no_clock_makes_a_job_stand_still_that_moves(tmp_path: Path) -> None:
    samples: dict[str, str] = {}
    for number, ahead in enumerate((3600, 120, -1800, -86_400)):
        story = Story(workload=f"j{number}", job_id=str(number), ahead=ahead).phase("training", 150, step=1)
        samples |= story.samples() | tensor(0, 150, workload=f"j{number}")
    corrected = Story(workload="set", job_id="9").phase("training", 150, step=1)
    corrected.moved = [at if at is None or index > 60 else at + 3600 for index, at in enumerate(corrected.moved)]
    samples |= corrected.samples() | tensor(0, 150, workload="set")
    fires(tmp_path, samples, {f"{at}m": [] for at in range(20, 150, 10)}, every=MINUTE, only=RULES)


def test_limits_are_settings(tmp_path: Path) -> None:
    settings = Settings(thresholds=Thresholds(stall_minutes=20))
    samples = hang().samples() | tensor(0, 150)
    fires(tmp_path, samples, {"85m": [], "86m": stalled()}, every=MINUTE, only=RULES, settings=settings)


def test_what_it_says(tmp_path: Path) -> None:
    runbook = "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/JobStalled.md"
    labels = dict(part.split("=") for part in JOB.replace('"', "").split(", "))
    says(
        tmp_path,
        hang().samples() | tensor(0, 150),
        "JobStalled",
        [
            {
                "labels": labels
                | {
                    "severity": "warning",
                    "scope": "job",
                    "component": "training",
                    "audience": "owner",
                    "fault_class": "no_progress",
                },
                "annotations": {
                    "summary": "A training job holds its GPUs and makes no progress.",
                    "description": "Job ml/llama has made no progress for 20m 0s. While it trains more than 10 "
                    "minutes or "
                    "five of its steps are too long, after a start 30 minutes, and for a checkpoint 30 minutes. Its "
                    "GPUs "
                    "do not evaluate either, as far as that is measured.",
                    "location": "namespace ml, workload llama",
                    "owner": "ml/llama, team nlp",
                    "measured": "20m 0s without progress",
                    "recommended_action": "Take the stacks of all ranks before you restart it; compare the ranks, then "
                    "look at links, storage and GPU faults of its nodes.",
                    "runbook_url": runbook,
                    "dashboard_url": "/d/gpuscope-task/task?var-cluster=c&var-namespace=ml&var-workload=llama",
                },
            }
        ],
        at="80m",
        every=MINUTE,
        only=RULES,
    )
