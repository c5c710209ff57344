"""The life of one training job, minute by minute, as our collector publishes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.generator.rules.jobs import of_job

GPUS = 8
ABSENT = "_"
STATES = ("queued", "initializing", "training", "checkpointing", "stalled", "recovering")
RUNS = ("training", "stalled")
"""States in which all ranks run."""


@dataclass
class Story:
    """Add phases one after the other; each says what the job does for so many minutes.

    Attributes:
        gpus: that it asked for.
        workload: its name.
        job_id: its id.
        reports: whether it reports progress at all.
        ahead: seconds by which the clock that tells its progress is ahead of ours.
        lives: the state of each minute.
        steps: its step at each minute.
        moved: when its progress last moved, as the collector tells it: absent while not all ranks run.
        saved: when its newest checkpoint was complete.
        restarts: attempts that began after another one.
    """

    gpus: int = GPUS
    workload: str = "llama"
    job_id: str = "1"
    reports: bool = True
    ahead: float = 0.0
    lives: list[str] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    moved: list[float | None] = field(default_factory=list)
    saved: list[float | None] = field(default_factory=list)
    restarts: list[int] = field(default_factory=list)

    def phase(
        self, state: str, minutes: int, *, step: float = 0, back_to: float | None = None, saves: bool = False
    ) -> "Story":
        """Goes on.

        Args:
            state: what it does.
            minutes: for so long.
            step: steps a minute.
            back_to: step at which it begins anew.
            saves: whether a checkpoint is complete in its last minute.
        """
        for index in range(minutes):
            now = 60.0 * len(self.lives)
            before = self.steps[-1] if self.steps else 0.0
            if index == 0 and back_to is not None:
                before = back_to
            begun = not self.lives or self.lives[-1] not in RUNS
            last = None if begun else self.moved[-1]
            self.steps.append(before + step)
            moves = bool(step) or last is None
            self.moved.append((now if moves else last) if state in RUNS else None)
            known = self.saved[-1] if self.saved else None
            self.saved.append(now if saves and index == minutes - 1 else known)
            again = state == "initializing" and bool(self.lives) and self.lives[-1] == "recovering"
            self.restarts.append((self.restarts[-1] if self.restarts else 0) + again)
            self.lives.append(state)
        return self

    def samples(self, after: str = "") -> dict[str, str]:
        """Its series; ``after`` stands behind each of them, such as ``stale``."""

        def told(values: list[float | None] | list[float] | list[int]) -> str:
            texts = [ABSENT if value is None else f"{value:g}" for value in values]
            return " ".join([*texts, after]).strip()

        def series(name: str, **labels: str) -> str:
            return of_job(name, self.workload, self.job_id, **labels)

        count = len(self.lives)
        found = {
            series("job_info", team="nlp", queue="q", user="ada", workload_kind="TrainJob", priority=""): told(
                [1] * count
            ),
            series("job_gpus"): told([self.gpus] * count),
            series("job_restarts_total"): told(self.restarts),
        }
        for state in STATES:
            at = [int(one == state) for one in self.lives]
            spent = [60 * sum(at[: index + 1]) for index in range(count)]
            found[series("job_state", state=state)] = told(at)
            found[series("state_seconds_total", state=state)] = told(spent)
        if self.reports:
            found[series("job_step")] = told(self.steps)
            found[series("job_progress_timestamp_seconds")] = told(
                [None if value is None else value + self.ahead for value in self.moved]
            )
        if any(value is not None for value in self.saved):
            found[series("job_checkpoint_timestamp_seconds")] = told(self.saved)
        return found


def tensor(activity: float, minutes: int, workload: str = "llama", gpus: int = GPUS) -> Mapping[str, str]:
    """What the tensor cores of a job's GPUs do, as the rules record it by workload."""
    at = f'cluster="c",namespace="ml",workload_kind="TrainJob",workload="{workload}",team="nlp",queue="q"'
    return {
        f"workload:tensor_active:sum{{{at}}}": f"{activity * gpus}x{minutes}",
        f'workload:gpus:count{{{at},state="allocated"}}': f"{gpus}x{minutes}",
    }
