"""The collector in the demo: it follows a simulated Slurm, as a cluster of its own beside the fleet of GPUs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpuscope.demo.checks import Check
from gpuscope.demo.children import Children, free_port
from gpuscope.demo.prometheus import Prometheus
from gpuscope.simulate.slurm import SimulatedSlurm
from gpuscope.table.jobs import JobsLook
from gpuscope.table.web import ask_jobs, open_session

__all__ = ["DemoJobs", "job_checks", "start_collector"]

_INTERVAL = "2s"
_COUNTER_HOLD = "4s"
_JOB = 'job="gpuscope-collector"'


class DemoJobs:
    """The running collector.

    Args:
        address: ``host:port``.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.url = f"http://{address}"
        self._session = open_session()

    def look(self) -> JobsLook:
        """What it says now."""
        return ask_jobs(self._session, self.url)


@contextmanager
def start_collector(children: Children, folder: Path) -> Iterator[DemoJobs]:
    """Starts the simulated Slurm, whose clock runs in this process until the end, and the collector.

    Args:
        children: gets the collector.
        folder: gets Slurm's commands and the collector's state.
    """
    slurm = SimulatedSlurm(folder / "slurm")
    address = f"127.0.0.1:{free_port()}"
    children.start(
        "collector",
        [
            sys.executable, "-m", "gpuscope", "collector", "--slurm", "--slurm.commands", str(folder / "slurm"),
            "--interval", _INTERVAL, "--counter-hold", _COUNTER_HOLD, "--state-file", str(folder / "jobs.sqlite"),
            "--web.listen-address", address,
        ],
    )  # fmt: skip
    slurm.start()
    try:
        yield DemoJobs(address)
    finally:
        slurm.stop()


def job_checks(jobs: DemoJobs, prometheus: Prometheus) -> list[Check]:
    """Checks the collector, and what Prometheus has of it."""
    look = jobs.look()
    up = sum(point.value for point in prometheus.query(f"up{{{_JOB}}}"))
    answers = sum(point.value for point in prometheus.query(f"gpuscope_collector_source_up{{{_JOB}}}"))
    alive = sum(point.value for point in prometheus.query(f"gpuscope_training_jobs{{{_JOB}}}"))
    ended = sum(point.value for point in prometheus.query(f"gpuscope_training_jobs_ended_total{{{_JOB}}}"))
    return [
        Check(
            "the collector answers and is scraped", look.answered and up == 1, look.problem or f"{len(look.jobs)} jobs"
        ),
        Check("its Slurm answers", answers == 1 and not look.problem, look.problem or "yes"),
        Check("jobs are counted", alive > 0 and ended > 0, f"{alive:.0f} live, {ended:.0f} ended since it looks"),
    ]
