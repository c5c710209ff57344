"""What slurmctld knows: jobs that wait, run, or ended minutes ago (``MinJobAge``), nodes, and partitions."""

import contextlib
import json
import re
import secrets
from collections.abc import Mapping

from gpuscope.errors import SourceError
from gpuscope.workloads.observation import ObservedPartition
from gpuscope.workloads.plausible import mended
from gpuscope.workloads.scheduler_clock import SchedulerClock
from gpuscope.workloads.slurm.command import SlurmCommands
from gpuscope.workloads.slurm.job_json import job_rows
from gpuscope.workloads.slurm.job_text import jobs_of_text, names_of
from gpuscope.workloads.slurm.node_record import nodes_of_json, nodes_of_text
from gpuscope.workloads.slurm.partitions import partitions_of_json, partitions_of_text
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow, NodeRow
from gpuscope.workloads.slurm.value import moment, number

__all__ = ["Controller"]

_RELEASE = re.compile(r"slurm(?:-\S+)?\s+(\d+)\.(\d+)")
_AS_OF = re.compile(r"Configuration data as of (\S+)")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_JSON_OF_SQUEUE = (21, 8)
_JSON_OF_SCONTROL = (23, 2)
_FATAL = frozenset({"unreachable", "timeout", "missing", "permission"})
"""Reasons for which the text form would fail as well."""


class Controller:
    """Asks slurmctld through its clients.

    Args:
        commands: how they are run.
        clock: learns what time it is there.
        use_json: whether JSON is preferred.
    """

    def __init__(self, commands: SlurmCommands, clock: SchedulerClock, *, use_json: bool = True) -> None:
        self._commands = commands
        self._clock = clock
        self._clock_was_heard = False
        self._mark = f"\x1f{secrets.token_hex(8)}\x1f"
        self._use_json = use_json
        self.release = ""
        self._number = (0, 0)

    def read(self, problems: Problems) -> tuple[list[JobRow], list[NodeRow]]:
        """Rows of all jobs and all nodes; the clock learns of slurmctld's.

        Args:
            problems: gets ``json_unusable`` where text had to do, and what could not be understood.

        Raises:
            SourceError: as of ``SlurmCommands.run``. slurmctld that does not answer is ``unreachable``, also where the
                client says "no jobs" and calls that a success.
        """
        rows = self._read(problems)
        if not self._clock_was_heard:
            self._ask_the_time()
        return rows

    def _read(self, problems: Problems) -> tuple[list[JobRow], list[NodeRow]]:
        self._clock_was_heard = False
        answer = self._commands.run("scontrol", "--version")
        match = _RELEASE.match(answer.strip())
        release = self._number = (int(match[1]), int(match[2])) if match else (0, 0)
        self.release = answer.strip()
        if self._use_json and release >= _JSON_OF_SQUEUE:
            by_scontrol = release >= _JSON_OF_SCONTROL
            try:
                jobs = self._json("jobs", by_scontrol, problems)
                nodes = self._json("nodes", by_scontrol, problems)
            except SourceError as error:
                if str(error) in _FATAL:
                    raise
                problems.add("json_unusable", str(error))
            else:
                return job_rows(jobs, problems), nodes_of_json(nodes, problems)
        jobs = self._commands.run("scontrol", "--all", "--details", "show", "job")
        names = self._names(problems)  # afterwards, so that it has all jobs of that list
        nodes = self._commands.run("scontrol", "--all", "--details", "show", "node")
        return jobs_of_text(jobs, problems, names), nodes_of_text(nodes, problems)

    def partitions(self, problems: Problems) -> list[ObservedPartition]:
        """All partitions; asked after ``read``.

        Args:
            problems: gets ``json_unusable`` where text had to do, and what could not be understood.

        Raises:
            SourceError: as of ``SlurmCommands.run``.
        """
        if self._use_json and self._number >= _JSON_OF_SCONTROL:
            try:
                return partitions_of_json(self._json("partitions", True, problems), problems)
            except SourceError as error:
                if str(error) in _FATAL:
                    raise
                problems.add("json_unusable", str(error))
        output = self._commands.run("scontrol", "--all", "--oneliner", "show", "partition")
        return partitions_of_text(output, problems)

    def _names(self, problems: Problems) -> Mapping[int, str] | None:
        """Names of all jobs, between which no name can stand; ``None`` where squeue does not tell them."""
        try:
            told = self._commands.run(
                "squeue", "--all", "--noheader", "--states=all", f"--format=%A{self._mark}%j{self._mark}"
            )
        except SourceError as error:
            if str(error) in _FATAL:
                raise
            problems.add("names_unknown", str(error))
            return None
        return names_of(told, self._mark)

    def _ask_the_time(self) -> None:
        """Before 23.02, and in text, only the head of the configuration tells it. Without it the clock is unknown."""
        asked = self._clock.now()
        with contextlib.suppress(SourceError):
            match = _AS_OF.match(self._commands.run("scontrol", "show", "config"))
            told = moment(match[1]) if match else None
            if told is not None:
                self._clock.heard(told, asked)

    def _json(self, what: str, by_scontrol: bool, problems: Problems) -> object:
        asked = self._clock.now()
        if by_scontrol:
            output = self._commands.run("scontrol", "--all", "--json", "show", what)
        else:
            output = self._commands.run("squeue" if what == "jobs" else "sinfo", "--all", "--json")
        try:
            answer = json.loads(output)
        except ValueError as error:
            raise SourceError("not_json") from error
        if _SURROGATE.search(output):
            answer = _written(answer, problems)
        if not isinstance(answer, Mapping) or not isinstance(answer.get(what), list):
            raise SourceError("not_json")
        # With slurmctld away squeue and sinfo of 21.08 and 22.05 exit with 0 and tell an error in the document, and
        # scontrol of 24.11 to 26.05 does so with no error at all: an empty list that was never updated.
        if answer.get("errors") or (not answer[what] and number(answer.get("last_update")) == 0):
            raise SourceError("unreachable")
        told = number(answer.get("last_update"))
        if told and what == "jobs":  # the second in which slurmctld put the list together
            self._clock.heard(float(told), asked)
            self._clock_was_heard = True
        return answer[what]


def _written(value: object, problems: Problems) -> object:
    """An answer whose texts can all be written: JSON may escape half of a surrogate pair, which is no character."""
    if isinstance(value, str):
        found = mended(value)
        if found != value:
            problems.add("malformed_text", value)
        return found
    if isinstance(value, Mapping):
        return {key: _written(one, problems) for key, one in value.items()}
    return [_written(one, problems) for one in value] if isinstance(value, list) else value
