"""Alerts about jobs that start again and again, that the infrastructure ended, and that are not saved."""

from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.story import Story
from tests.generator.rules.jobs import of_job

RULES = ("training", "jobs")
MINUTE = "1m"


def firing(name: str, workload: str = "llama", job_id: str = "1", severity: str = "warning") -> str:
    job = f'cluster="c", scheduler="kubernetes", namespace="ml", workload="{workload}", job_id="{job_id}", team="nlp"'
    return f'{name}{{{job}, severity="{severity}"}}'


def attempts(story: Story, count: int, minutes: int, *, step: float, back_to: float | None) -> Story:
    """So many attempts that each are interrupted."""
    for _ in range(count):
        story.phase("recovering", 1).phase("initializing", 1)
        story.phase("training", minutes - 2, step=step, back_to=back_to)
    return story


def test_three_restarts_in_an_hour_that_lead_nowhere(tmp_path: Path) -> None:
    story = attempts(Story().phase("training", 61, step=1), 3, 15, step=1, back_to=40)
    story.phase("training", 120, step=1)
    # The third begins at 92 minutes; an hour after it was seen the count is down, and it goes on for one more.
    loop = [firing("JobRestartLoop")]
    fires(tmp_path, story.samples(), {"91m": [], "93m": loop, "150m": loop, "225m": []}, every=MINUTE, only=RULES)


def test_two_restarts_or_three_that_get_further_are_no_loop(tmp_path: Path) -> None:
    two = attempts(Story(workload="two", job_id="2").phase("training", 61, step=1), 2, 15, step=1, back_to=40)
    on = attempts(Story(workload="on", job_id="3").phase("training", 61, step=1), 3, 15, step=5, back_to=None)
    times = {f"{minute}m": [] for minute in range(60, 106, 5)}
    fires(tmp_path, two.samples() | on.samples(), times, every=MINUTE, only=RULES)


def test_a_collector_that_starts_anew_makes_no_loop_of_old_restarts(tmp_path: Path) -> None:
    samples = {of_job("job_restarts_total"): "_x30 7x60", of_job("job_info", team="nlp"): "_x30 1x60"}
    fires(tmp_path, samples, {"31m": [], "60m": [], "90m": []}, every=MINUTE, only=RULES)


def end(name: str, number: int, outcome: str, fault_type: str = "", domain: str = "", gpus: int = 8) -> dict[str, str]:
    """A job that ended at ten minutes, as the collector tells it from then on."""
    met = {"fault_type": fault_type, "domain": domain}
    told = of_job("job_end_timestamp_seconds", name, str(number), outcome=outcome, **met)
    return {
        of_job("job_info", name, str(number), team="nlp"): "1x100",
        of_job("job_gpus", name, str(number)): f"{gpus}x100",
        told: "_x10 600x90",
    }


def test_jobs_that_the_infrastructure_ended(tmp_path: Path) -> None:
    samples = (
        end("lost", 1, "interrupted", "node_down", "infrastructure")
        | end("fault", 2, "failed", "mem_uncorrectable", "infrastructure", gpus=256)
        | end("nobody-knows", 3, "interrupted")
        | end("own-fault", 4, "failed", "app_error", "workload")
        | end("drained", 5, "interrupted", "maintenance", "planned")
        | end("stopped", 6, "cancelled")
        | end("done", 7, "succeeded")
        | end("crashed", 8, "failed", "unknown", "unknown")
    )
    found = [
        firing("JobFailedInfra", "lost", "1"),
        firing("JobFailedInfra", "fault", "2", "critical"),
        firing("JobFailedInfra", "nobody-knows", "3"),
    ]
    expected = {"9m": [], "11m": found, "69m": found, "71m": []}
    fires(tmp_path, samples, expected, every=MINUTE, only=RULES)


def test_a_verdict_that_changes_is_the_same_alert(tmp_path: Path) -> None:
    at_first = end("lost", 1, "interrupted", "unknown", "unknown")
    later = end("lost", 1, "interrupted", "node_down", "infrastructure")
    samples = {key: values.replace("600x90", "600x5 stale") for key, values in at_first.items()}
    samples |= {key: values.replace("_x10", "_x16") for key, values in later.items() if "end_timestamp" in key}
    times = {f"{minute}m": [firing("JobFailedInfra", "lost")] for minute in range(11, 25)}
    fires(tmp_path, samples, times, every=MINUTE, only=RULES)


def saving(every: int, times: int, **facts: object) -> Story:
    """A job that saves its state every so many minutes, and then no more."""
    story = Story(**facts)  # type: ignore[arg-type]
    for _ in range(times):
        story.phase("training", every - 1, step=1).phase("training", 1, step=1, saves=True)
    return story


def test_a_checkpoint_that_is_older_than_twice_the_usual(tmp_path: Path) -> None:
    # Every 20 minutes until 180; two intervals and ten minutes more are over at 229, and five minutes later it fires.
    story = saving(20, 9).phase("training", 120, step=1)
    stale = [firing("JobCheckpointStale")]
    fires(tmp_path, story.samples(), {"200m": [], "233m": [], "236m": stale}, every=MINUTE, only=RULES)


def test_where_no_interval_is_known_two_hours_count(tmp_path: Path) -> None:
    story = saving(150, 1).phase("training", 150, step=1)
    stale = [firing("JobCheckpointStale")]
    fires(tmp_path, story.samples(), {"273m": [], "276m": stale}, every=MINUTE, only=RULES)


def test_rare_checkpoints_a_queue_and_a_job_that_saves_nothing(tmp_path: Path) -> None:
    rare = saving(100, 3, workload="rare", job_id="1").phase("training", 150, step=1)
    waits = saving(20, 9, workload="waits", job_id="2").phase("recovering", 150).phase("training", 100, step=1)
    nothing = Story(workload="nothing", job_id="3").phase("training", 400, step=1)
    samples = rare.samples() | waits.samples() | nothing.samples()
    fires(tmp_path, samples, {f"{minute}m": [] for minute in range(200, 430, 10)}, every=MINUTE, only=RULES)
