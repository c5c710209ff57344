"""Jobs in the text of ``scontrol --details show job``, for a Slurm that was built without JSON."""

import logging
import re
from collections.abc import Iterator, Mapping

from gpuscope.workloads.slurm.job_json import requested_gpus
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow, uid_of
from gpuscope.workloads.slurm.tres import gpus_in_gres, gpus_in_tres, names_gpus
from gpuscope.workloads.slurm.value import exit_of, moment, number, text, words

__all__ = ["jobs_of_text", "names_of"]

log = logging.getLogger(__name__)

_FREE = frozenset(
    {
        "AdminComment", "SystemComment", "Comment", "Command", "WorkDir", "StdErr", "StdIn", "StdOut", "SubmitLine",
        "Extra", "Container", "BurstBuffer", "MailUser", "Features", "Switches", "Licenses",
    }
)  # fmt: skip
"""Lines whose value goes on to their end, whatever is in it."""

_DECIDING = frozenset({"JobState", "Restarts", "ExitCode", "SubmitTime", "StartTime", "EndTime", "NodeList", "Account"})
_PAIR = re.compile(r"(?:^|\s)([A-Za-z_:/]+)=(\S*)")
_HEAD = re.compile(r"JobId=(?P<id>[0-9]{1,10})(?: \w+=\S*)*? JobName=")
_NEXT = re.compile(r"\n\s*\n(?=JobId=)")
_USER = re.compile(r"(?P<name>.*)\((?P<uid>[0-9]+)\)")


def names_of(output: str, mark: str) -> dict[int, str]:
    """Number -> name of each record, from ``squeue`` with a mark after each that nobody can guess.

    Args:
        output: what ``--format=%A<mark>%j<mark>`` wrote.
        mark: as given.
    """
    records = (record.split(mark) for record in output.split(f"{mark}\n"))
    return {int(record[0]): record[1] for record in records if len(record) == 2 and record[0].strip().isdigit()}


def jobs_of_text(output: str, problems: Problems, names: Mapping[int, str] | None = None) -> list[JobRow]:
    """Rows of all blocks.

    A job's name may hold line breaks, words of Slurm's and whole further jobs. Where names are known each is passed
    over where it stands, and a block of a job that is none is left out. Paths and accounts may lie as well: a job with
    two opinions on what decides, or with two blocks, is counted as ``ambiguous_job``, and only that job is left out.

    Args:
        output: what ``scontrol`` wrote.
        problems: gets what could not be understood; ``hidden`` gets the jobs that it is about.
        names: number -> name of all jobs; ``None`` where nobody tells, so that a lie may hide any job.
    """
    rows: dict[int, JobRow] = {}
    twice: set[int] = set()
    for job_id, fields, block in _blocks(output, names):
        if fields is None:
            problems.add("ambiguous_job" if job_id else "malformed_job", block)
            _hide(job_id, problems, names)
            continue
        row = _row(fields)
        if row is None:
            problems.add("malformed_job", block)
        elif row.job_id in rows:
            twice.add(row.job_id)
        else:
            rows[row.job_id] = row
    for job_id in twice:
        problems.add("ambiguous_job", f"JobId={job_id}")
        problems.hidden.add(uid_of(rows.pop(job_id)))
    return list(rows.values())


def _hide(job_id: int, problems: Problems, names: Mapping[int, str] | None) -> None:
    if job_id and names is not None:
        problems.hidden.add(str(job_id))


def _blocks(output: str, names: Mapping[int, str] | None) -> Iterator[tuple[int, dict[str, str] | None, str]]:
    """Number, fields and text of each block; no fields where they are ambiguous, no number where it is no job."""
    if not output.strip() or output.lstrip().startswith("No jobs in the system"):
        return
    at = len(output) - len(output.lstrip())
    while at < len(output):
        head = _HEAD.match(output, at)
        job_id = int(head["id"]) if head else 0
        name = names.get(job_id) if names is not None else None
        known = head is not None and name is not None and output.startswith(f"{name}\n", head.end())
        begin = head.end() + len(name) if head is not None and name is not None and known else at
        following = _NEXT.search(output, begin)
        end = following.end() if following else len(output)
        block, at = output[at:end], end
        if head is None:
            yield 0, None, block
        elif known:
            yield job_id, _fields(head[0], name or "", output[begin:end]), block
        elif names is None:
            first, _, rest = block[head.end() - head.start() :].partition("\n")
            yield job_id, _fields(head[0], first, rest), block
        elif job_id in names:
            yield job_id, None, block
        else:
            log.debug("a name or a path holds a job that is none: %.160r", block)


def _fields(head: str, name: str, rest: str) -> dict[str, str] | None:
    """Fields of a block; ``None`` where two say what decides."""
    fields = dict(_PAIR.findall(head)) | {"JobName": name}
    for line in rest.splitlines():
        key, _, value = line.strip().partition("=")
        for one, said in [(key, value)] if key in _FREE else _PAIR.findall(line):
            if one in _DECIDING and one in fields:
                return None
            fields.setdefault(one, said)
    return fields


def _row(fields: Mapping[str, str]) -> JobRow | None:
    job_id, states = number(fields.get("JobId")), words(fields.get("JobState"))
    submitted = moment(fields.get("SubmitTime"))
    if not job_id or not states or submitted is None:
        return None
    task = fields.get("ArrayTaskId", "")
    user = _USER.fullmatch(fields.get("UserId", ""))
    return JobRow(
        job_id=job_id,
        states=states,
        array_job=number(fields.get("ArrayJobId")),
        array_task=number(task),
        array_tasks="" if task.isdigit() else text(task),
        het_job=number(fields.get("HetJobId")),
        het_offset=number(fields.get("HetJobOffset")),
        name=text(fields.get("JobName")),
        user=user["name"] if user else "",
        uid=int(user["uid"]) if user else None,
        account=text(fields.get("Account")),
        partition=text(fields.get("Partition")),
        qos=text(fields.get("QOS")),
        reason=text(fields.get("Reason")),
        detail=text(fields.get("Reason")).replace("_", " "),  # so it writes blanks
        restarts=number(fields.get("Restarts")),
        submitted=submitted,
        started=moment(fields.get("StartTime")),
        ended=moment(fields.get("EndTime")),
        nodes=text(fields.get("NodeList")),
        exit=exit_of(fields.get("ExitCode")),
        derived_exit=exit_of(fields.get("DerivedExitCode")),
        gpus=_gpus(fields),
        failed_node=text(fields.get("FailedNode")),
        comment=text(fields.get("SystemComment")),
        preempted=moment(fields.get("PreemptTime")),
    )


def _gpus(fields: Mapping[str, str]) -> int | None:
    for key in ("AllocTRES", "TRES", "ReqTRES"):
        found = gpus_in_tres(fields.get(key, ""))
        if found is not None or names_gpus(fields.get(key, "")):
            return found
    found = gpus_in_gres(fields.get("JOB_GRES", ""))
    if found is not None:
        return found
    nodes, tasks = (number(fields.get(key, "").partition("-")[0]) for key in ("NumNodes", "NumTasks"))
    requests = [text(fields.get(f"TresPer{per}")) for per in ("Job", "Node", "Task", "Socket")]
    return requested_gpus(requests, nodes, tasks)
