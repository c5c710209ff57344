"""The Slurm source: all jobs and nodes of one cluster, now."""

import time
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from pathlib import Path

from gpuscope.errors import SourceError
from gpuscope.workloads.observation import JobKey, Observation, ObservedJob, ObservedNode, ObservedPartition
from gpuscope.workloads.scheduler_clock import SchedulerClock
from gpuscope.workloads.slurm.accounting import Accounting
from gpuscope.workloads.slurm.arrays import Arrays
from gpuscope.workloads.slurm.command import SlurmCommands
from gpuscope.workloads.slurm.completion import CompletionLog
from gpuscope.workloads.slurm.controller import Controller
from gpuscope.workloads.slurm.identity import Identities, KnownNumber
from gpuscope.workloads.slurm.jobs import Memory, assemble
from gpuscope.workloads.slurm.nodes import observe_nodes
from gpuscope.workloads.slurm.partitions import partitions_of_nodes
from gpuscope.workloads.slurm.problems import ProblemLog, Problems, may_hide_a_job
from gpuscope.workloads.slurm.row import JobRow
from gpuscope.workloads.slurm.states import outcome

__all__ = ["SlurmSource"]

HISTORY_S = 24 * 3600.0
ACCOUNTING_EVERY_S = 120.0


class SlurmSource:
    """Reads a Slurm cluster with its own commands, as any user may; it changes nothing.

    Args:
        commands: folder of the programs ``scontrol``, ``squeue``, ``sinfo`` and ``sacct``; ``None`` looks in ``$PATH``.
        timeout_s: after this a command is killed.
        history_s: jobs that ended longer ago are not told.
        accounting_every_s: slurmdbd is asked at most so often, except when slurmctld no longer tells a job that lived.
        completion_log: file of ``jobcomp/filetxt``, of use where there is no slurmdbd.
        completion_zone: zone of its times; ``None`` is that of this machine.
        use_json: whether to prefer JSON. Text takes less memory, but in it a job's name can lie.
        known: id as in a job's key -> the job that had it before the collector restarted, by the collector's clock.
    """

    def __init__(
        self,
        commands: Path | None = None,
        *,
        timeout_s: float = 60.0,
        history_s: float = HISTORY_S,
        accounting_every_s: float = ACCOUNTING_EVERY_S,
        completion_log: Path | None = None,
        completion_zone: tzinfo | None = None,
        use_json: bool = True,
        known: Mapping[str, KnownNumber] | None = None,
    ) -> None:
        self._commands = SlurmCommands(commands, timeout_s)
        self._now, self._began = 0.0, time.monotonic()
        self._clock = SchedulerClock(lambda: self._now + time.monotonic() - self._began)
        self._controller = Controller(self._commands, self._clock, use_json=use_json)
        self._accounting = Accounting(self._commands, history_s)
        self._accounting_every_s = accounting_every_s
        self._completions = None if completion_log is None else CompletionLog(completion_log, completion_zone)
        self._history_s = history_s
        self._log = ProblemLog()
        self._arrays = Arrays()
        self._known = known or {}
        self._identities: Identities | None = None
        self._memory: dict[tuple[str, int], Memory] = {}
        self._accounted: Sequence[JobRow] = ()
        self._of_accounted: frozenset[str] = frozenset()
        self._accounted_at: float | None = None
        self._accounts = False
        self._alive: frozenset[int] = frozenset()

    def stop(self) -> None:
        """Ends the command that runs, from any thread; none is run any more, and looks are empty and incomplete."""
        self._commands.stop()

    def observe(self, now: float) -> Observation:
        """Everything that Slurm says now. It raises nothing.

        An answer that could not be had, or of which a part was not understood, makes the observation incomplete: what
        is missing in it is not gone. All of its times but ``at`` are by Slurm's clock.

        Args:
            now: unix time.
        """
        self._now, self._began = now, time.monotonic()
        problems = Problems()
        jobs: Sequence[ObservedJob] = ()
        nodes: Sequence[ObservedNode] = ()
        partitions: Sequence[ObservedPartition] = ()
        hidden: frozenset[JobKey] = frozenset()
        complete = False
        try:
            live, node_rows = self._controller.read(problems)
        except SourceError as error:
            problems.add(f"slurmctld_{error}")
            # Of what was wrong with its answers nothing is known now.
            problems.keep(reason for reason in self._log.open if not reason.startswith("slurmctld_"))
        else:
            nodes = observe_nodes(node_rows, problems)
            partitions = self._partitions(nodes, problems)
            there = now + (self._clock.offset or 0.0)
            history, complete = self._history(live, now, there, problems)
            by_name = {node.name: node for node in nodes}
            identities = self._identities_from(there - now)
            told_apart = self._arrays.apart(live, problems)
            jobs = assemble(told_apart, history, by_name, self._memory, identities, problems, there)
            hidden = identities.of_arrays(self._arrays.long, {job.key.uid for job in jobs})
            self._alive = frozenset(row.job_id for row in live if outcome(row.states) is None)
            hidden |= identities.of_numbers(problems.hidden)
            complete = complete and not may_hide_a_job(problems)
        if self._commands.stopped:
            return Observation("slurm", now, complete=False, reason="stopped")
        told = self._log.tell(problems)
        return Observation(
            "slurm",
            now,
            jobs,
            nodes,
            complete,
            told,
            partitions=partitions,
            hidden=hidden,
            clock_offset=self._clock.offset,
        )

    def _identities_from(self, offset: float) -> Identities:
        """What was known before, by Slurm's clock, which nobody knows before its first answer."""
        if self._identities is None:
            known = {uid: one._replace(seen_at=one.seen_at + offset) for uid, one in self._known.items()}
            self._identities = Identities(known)
        return self._identities

    def _partitions(self, nodes: Sequence[ObservedNode], problems: Problems) -> Sequence[ObservedPartition]:
        """Partitions; that they cannot be read makes no job uncertain."""
        try:
            return self._controller.partitions(problems)
        except SourceError as error:
            problems.add(f"partitions_{error}")
            return partitions_of_nodes(nodes)

    def _history(
        self, live: Sequence[JobRow], now: float, there: float, problems: Problems
    ) -> tuple[Sequence[JobRow], bool]:  # fmt: skip
        """Attempts that are on record, and whether that record could be read."""
        told = {row.job_id for row in live}
        rows, readable = self._of_accounting(now, there, not self._alive <= told, problems)
        if not self._accounts and self._completions is not None:
            try:
                rows = self._completions.read(there - self._history_s, problems)
            except SourceError as error:
                problems.add(str(error))
                readable = False
        return rows, readable

    def _of_accounting(
        self, now: float, there: float, at_once: bool, problems: Problems
    ) -> tuple[Sequence[JobRow], bool]:  # fmt: skip
        last = self._accounted_at
        if last is not None and not at_once and 0.0 <= now - last < self._accounting_every_s:
            problems.keep(self._of_accounted)
            return self._accounted, True
        found = Problems()
        try:
            self._accounted = self._accounting.read(self._controller.release, there, found)
        except SourceError as error:
            self._accounted_at = None
            if str(error) in {"no_accounting", "missing"} and not self._accounts:
                self._accounted_at = now
                return (), True
            problems.add(f"slurmdbd_{error}")
            problems.keep(self._of_accounted)
            return self._accounted, False
        problems.merge(found)
        self._of_accounted = frozenset(found.counts)
        self._accounted_at, self._accounts = now, True
        return self._accounted, True
