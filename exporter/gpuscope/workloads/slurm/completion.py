"""Attempts that ended, from the file of ``JobCompType=jobcomp/filetxt``.

On a cluster without slurmdbd it is the only record of attempts that a requeue overwrote in slurmctld.
"""

import os
import re
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path

from gpuscope.errors import SourceError
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow
from gpuscope.workloads.slurm.tres import gpus_in_tres
from gpuscope.workloads.slurm.value import exit_of, moment, number, text

__all__ = ["CompletionLog"]

_MAX_BYTES = 8 << 20
# The last of each word counts: what comes before it may stand in the job's name.
_LINE = re.compile(
    r"JobId=(?P<JobId>[0-9]+) UserId=(?P<user>[^ ]*)\((?P<uid>[0-9]+)\) GroupId=[^ ]* Name=(?P<name>.*)"
    r" JobState=(?P<state>[A-Z_]+) (?P<rest>Partition=.*)"
)
_PAIR = re.compile(r"(?:^|\s)([A-Za-z]+)=(\S*)")


class CompletionLog:
    """Reads the end of the file.

    Args:
        path: ``JobCompLoc``.
        zone: zone of its times, which are slurmctld's local ones; ``None`` is that of this machine.
        max_bytes: how much of its end is read.
    """

    def __init__(self, path: Path, zone: tzinfo | None = None, max_bytes: int = _MAX_BYTES) -> None:
        self._path = path
        self._zone = zone
        self._max_bytes = max_bytes

    def read(self, since: float, problems: Problems) -> list[JobRow]:
        """Rows of what ended after ``since`` (unix time), in the order of the file.

        Raises:
            SourceError: ``completion_log``, it cannot be read.
        """
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - self._max_bytes))
                lines = file.read(self._max_bytes).decode("utf-8", "backslashreplace").split("\n")
        except OSError as error:
            raise SourceError("completion_log") from error
        if size > self._max_bytes:
            del lines[0]
        del lines[-1:]  # empty, or a line that is still being written
        rows: list[JobRow] = []
        for line in filter(None, lines):
            match = _LINE.fullmatch(line.rstrip())
            row = self._row(match) if match else None
            if row is None:
                problems.add("malformed_completion", line)
            elif row.ended is not None and row.ended >= since:
                rows.append(row)
        return rows

    def _row(self, match: "re.Match[str]") -> JobRow | None:
        fields: Mapping[str, str] = dict(reversed(_PAIR.findall(match["rest"])))
        submitted, ended = (moment(fields.get(key), self._zone) for key in ("SubmitTime", "EndTime"))
        if submitted is None or ended is None:
            return None
        # A job that was requeued is already pending again when its attempt is written down.
        state = "REQUEUED" if match["state"] == "PENDING" else match["state"]
        return JobRow(
            job_id=int(match["JobId"]),
            states=(state,),
            array_job=number(fields.get("ArrayJobId")),
            array_task=number(fields.get("ArrayTaskId")),
            het_job=number(fields.get("HetJobId")),
            het_offset=number(fields.get("HetJobOffset")),
            name=text(match["name"]),
            user=match["user"],
            uid=int(match["uid"]),
            account=text(fields.get("Account")),
            partition=text(fields.get("Partition")),
            qos=text(fields.get("QOS")),
            submitted=submitted,
            started=moment(fields.get("StartTime"), self._zone),
            ended=ended,
            nodes=text(fields.get("NodeList")),
            exit=exit_of(fields.get("ExitCode")),
            derived_exit=exit_of(fields.get("DerivedExitCode")),
            gpus=gpus_in_tres(fields.get("Tres", "")),
        )
