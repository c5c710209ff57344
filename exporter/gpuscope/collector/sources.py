"""The schedulers that the settings ask for, and the ways to agree on the collector that follows them."""

import os
import socket
from typing import TYPE_CHECKING

from gpuscope.collector.election import Election, FileLock, Together
from gpuscope.collector.follower import SchedulerSource
from gpuscope.collector.settings_check import check
from gpuscope.collector.state_claim import StateClaim
from gpuscope.collector.term import KnownJobs, OpenSources
from gpuscope.config import Settings
from gpuscope.errors import ConfigError
from gpuscope.workloads.observation import JobKey, KnownAttempts, Observation

if TYPE_CHECKING:
    from gpuscope.workloads.kubernetes import Session

__all__ = ["election", "sources"]

_STOP_S = 1.5


def sources(settings: Settings) -> OpenSources:
    """What makes them; nothing is asked yet.

    Raises:
        ConfigError: a setting cannot work, a library is missing, or there is no way to the scheduler.
    """
    check(settings)
    if settings["kubernetes"]:
        session(settings).close()

    def open_sources(known: KnownJobs) -> list[SchedulerSource]:
        found: list[SchedulerSource] = []
        if settings["slurm"]:
            found.append(_Slurm(settings, known))
        if settings["kubernetes"]:
            found.append(_Kubernetes(settings, known))
        return found

    return open_sources


def election(settings: Settings) -> Together:
    """Who counts: whoever has the Lease, if one is set, and the lock beside the state file, if there is one.

    Raises:
        ConfigError: the lock cannot be had.
    """
    found: list[Election] = []
    state_file = settings.file("state-file")
    lease = settings["kubernetes.lease"]
    if lease:
        opened = session(settings)
        from gpuscope.workloads.kubernetes.lease import Lease

        namespace, _, name = lease.partition("/")
        identity = f"{socket.gethostname()}_{os.urandom(4).hex()}"
        found.append(Lease(opened, namespace, name, identity, claim=StateClaim(state_file)))
    if state_file is not None:
        found.append(FileLock(state_file))
    return Together(found)


def session(settings: Settings) -> "Session":
    """Connections to the Kubernetes API; nothing is asked yet.

    Raises:
        ConfigError: the client library is missing, or the kubeconfig does not work.
    """
    try:
        from gpuscope.workloads.kubernetes import Session
    except ImportError as error:
        raise ConfigError(f"--kubernetes: {error.name} is missing; pip install 'gpuscope[collector]'") from error
    return Session(settings["kubernetes.config"])


class _Slurm:
    """Slurm, asked by its own commands; between two looks nothing runs."""

    name = "slurm"

    def __init__(self, settings: Settings, known: KnownJobs) -> None:
        from gpuscope.workloads.slurm import KnownNumber, SlurmSource

        told = {
            key.uid: KnownNumber(key.submitted, record.seen_at, record.restarts)
            for key, record in sorted(known.items(), key=lambda one: one[0].submitted)
            if key.scheduler == self.name
        }
        log = settings.file("slurm.completion-log")
        self._source = SlurmSource(settings.file("slurm.commands"), completion_log=log, known=told)

    def start(self) -> None:
        """Nothing has to be begun."""

    def observe(self, now: float) -> Observation:
        """All jobs and nodes."""
        return self._source.observe(now)

    def interrupt(self) -> None:
        """Ends the command that runs."""
        self._source.stop()

    def stop(self) -> None:
        """Nothing runs."""


class _Kubernetes:
    """Kubernetes, watched all the time."""

    name = "kubernetes"

    def __init__(self, settings: Settings, known: KnownJobs) -> None:
        opened = session(settings)
        from gpuscope.workloads.kubernetes import FactLabels, KubernetesSource

        def told(key: JobKey) -> KnownAttempts | None:
            record = known.get(key)
            if record is None:
                return None
            number = max(record.opened | record.closed, default=0)
            return KnownAttempts(number, number in record.closed, record.seen_at)

        self._source = KubernetesSource(
            opened, FactLabels(team=settings["kubernetes.team-label"]), told,
            dra=settings["kubernetes.resource-claims"], namespaces=settings["kubernetes.namespace"],
        )  # fmt: skip

    def start(self) -> None:
        """Begins to watch."""
        self._source.start()

    def observe(self, now: float) -> Observation:
        """All jobs, nodes and pods, as far as they are known by now."""
        return self._source.observe(now)

    def interrupt(self) -> None:
        """A look waits for nothing: watches go on beside it."""

    def stop(self) -> None:
        """Ends all watches."""
        self._source.stop(_STOP_S)
