"""Attempts that slurmdbd knows: ``sacct --duplicates``.

Its text is read and not its JSON, as the JSON of 21.08 and 22.05 lacks restarts and reasons, and that of later releases
is ten times as long.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from gpuscope.errors import SourceError
from gpuscope.workloads.slurm.command import SlurmCommands
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow
from gpuscope.workloads.slurm.tres import gpus_in_tres
from gpuscope.workloads.slurm.value import exit_of, moment, number, text, words

__all__ = ["Accounting"]

_FIELDS = (
    "JobID", "JobIDRaw", "State", "Submit", "Start", "End", "Restarts", "NodeList", "FailedNode", "Reason", "ExitCode",
    "DerivedExitCode", "AllocTRES", "ReqTRES", "Account", "Partition", "QOS", "User", "UID", "SystemComment", "JobName",
)  # fmt: skip
"""``FailedNode`` came with 23.02 and ``Restarts`` with 24.11; a release is asked only for what it knows."""

_JOB_ID = re.compile(r"(?P<job>[0-9]+)(?:_(?:(?P<task>[0-9]+)|\[(?P<tasks>[^]]+)])|\+(?P<component>[0-9]+))?")
_STATE = re.compile(r"(?P<state>[A-Z_]+)(?: by (?P<uid>[0-9]+))?.*")


class Accounting:
    """Reads ``sacct``.

    Args:
        commands: how it is run.
        history_s: how far back; jobs that ended earlier are not told.
    """

    def __init__(self, commands: SlurmCommands, history_s: float) -> None:
        self._commands = commands
        self._history_s = history_s
        self._fields: dict[str, Sequence[str]] = {}
        # A job's name may hold line breaks and whatever parts fields; it cannot hold what nobody can guess.
        self._mark = f"\x1f{secrets.token_hex(8)}\x1f"

    def read(self, release: str, now: float, problems: Problems) -> list[JobRow]:
        """Rows of all attempts that ran, waited or ended in the time asked for.

        Args:
            release: of Slurm; its fields are asked for once.
            now: unix time by Slurm's clock.
            problems: gets ``malformed_accounting``.

        Raises:
            SourceError: as of ``SlurmCommands.run``; ``no_accounting`` where the cluster has none.
        """
        if release not in self._fields:
            known = set(self._commands.run("sacct", "--helpformat").split())
            self._fields = {release: [field for field in _FIELDS if field in known]}
        fields = self._fields[release]
        if not {"JobID", "JobIDRaw", "State", "Submit"} <= set(fields):
            raise SourceError("error")
        since = datetime.fromtimestamp(max(0.0, now - self._history_s), UTC).strftime("%Y-%m-%dT%H:%M:%S")
        output = self._commands.run(
            "sacct", "--allusers", "--duplicates", "--allocations", "--noheader", "--parsable",
            f"--delimiter={self._mark}", f"--starttime={since}", f"--format={','.join(fields)}",
        )  # fmt: skip
        rows: list[JobRow] = []
        for record in filter(str.strip, output.split(f"{self._mark}\n")):
            values = record.split(self._mark)
            row = _row(dict(zip(fields, values, strict=True))) if len(values) == len(fields) else None
            if row is None:
                problems.add("malformed_accounting", record.replace(self._mark, "|"))
            else:
                rows.append(row)
        return rows


def _row(fields: dict[str, str]) -> JobRow | None:
    job, state = _JOB_ID.fullmatch(fields["JobID"].strip()), _STATE.fullmatch(fields["State"].strip())
    job_id, submitted = number(fields["JobIDRaw"].partition("+")[0].partition("_")[0]), moment(fields["Submit"])
    if job is None or state is None or not job_id or submitted is None:
        return None
    component = number(job["component"])
    in_array = job["task"] is not None or job["tasks"] is not None
    allocated = gpus_in_tres(fields.get("AllocTRES", ""))
    return JobRow(
        job_id=job_id,
        states=words(state["state"]),
        array_job=int(job["job"]) if in_array else None,
        array_task=number(job["task"]),
        array_tasks=job["tasks"] or "",
        het_job=None if component is None else int(job["job"]),
        het_offset=component,
        name=text(fields.get("JobName")),
        user=text(fields.get("User")),
        uid=number(fields.get("UID")),
        account=text(fields.get("Account")),
        partition=text(fields.get("Partition")),
        qos=text(fields.get("QOS")),
        reason=text(fields.get("Reason")),
        restarts=number(fields.get("Restarts")),
        submitted=submitted,
        started=moment(fields.get("Start")),
        ended=moment(fields.get("End")),
        nodes=text(fields.get("NodeList")),
        exit=exit_of(fields.get("ExitCode")),
        derived_exit=exit_of(fields.get("DerivedExitCode")),
        gpus=gpus_in_tres(fields.get("ReqTRES", "")) if allocated is None else allocated,
        failed_node=text(fields.get("FailedNode")),
        comment=text(fields.get("SystemComment")),
        killed_by=None if state["uid"] is None else int(state["uid"]),
    )
