"""The schedulers that the settings ask for."""

from gpuscope.collector.follower import SchedulerSource
from gpuscope.config import AgentSettings
from gpuscope.workloads.observation import Observation

__all__ = ["sources"]


def sources(settings: AgentSettings) -> list[SchedulerSource]:
    """Makes them; nothing is asked yet."""
    found: list[SchedulerSource] = []
    if settings["slurm"]:
        found.append(_Slurm(settings))
    return found


class _Slurm:
    """Slurm, asked by its own commands; between two looks nothing runs."""

    name = "slurm"

    def __init__(self, settings: AgentSettings) -> None:
        from gpuscope.workloads.slurm import SlurmSource

        self._source = SlurmSource(settings.file("slurm.commands"))

    def start(self) -> None:
        """Nothing has to be begun."""

    def observe(self, now: float) -> Observation:
        """All jobs and nodes."""
        return self._source.observe(now)

    def stop(self) -> None:
        """Nothing runs."""
