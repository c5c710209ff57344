"""Jobs in the text of ``scontrol --details show job``, for a Slurm that was built without JSON."""

import re
from collections.abc import Mapping

from gpuscope.workloads.slurm.job_json import requested_gpus
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow
from gpuscope.workloads.slurm.tres import gpus_in_gres, gpus_in_tres, names_gpus
from gpuscope.workloads.slurm.value import exit_of, moment, number, text, words

__all__ = ["jobs_of_text"]

_FREE = frozenset(
    {
        "AdminComment", "SystemComment", "Comment", "Command", "WorkDir", "StdErr", "StdIn", "StdOut", "SubmitLine",
        "Extra", "Container", "BurstBuffer", "MailUser", "Features", "Switches", "Licenses",
    }
)  # fmt: skip
"""Lines whose value goes on to their end, whatever is in it."""

_DECIDING = frozenset({"JobState", "Restarts", "ExitCode", "SubmitTime", "StartTime", "EndTime", "NodeList", "Account"})
_PAIR = re.compile(r"(?:^|\s)([A-Za-z_:/]+)=(\S*)")
_USER = re.compile(r"(?P<name>.*)\((?P<uid>[0-9]+)\)")


def jobs_of_text(output: str, problems: Problems) -> list[JobRow]:
    """Rows of all blocks.

    A job's name may hold line breaks and ``JobState=COMPLETED``. A job with two opinions on what decides is counted as
    ``ambiguous_job`` and left out; that a name invents a whole further job cannot be told here, but in JSON it cannot
    happen.
    """
    rows: list[JobRow] = []
    for block in re.split(r"\n\s*\n(?=JobId=)", output):
        if not block.strip() or block.lstrip().startswith("No jobs in the system"):
            continue
        fields, clash = _fields(block)
        if clash:
            problems.add("ambiguous_job", block)
            continue
        row = _row(fields)
        if row is None:
            problems.add("malformed_job", block)
        else:
            rows.append(row)
    return rows


def _fields(block: str) -> tuple[dict[str, str], bool]:
    first, _, rest = block.strip().partition("\n")
    head, _, name = first.partition(" JobName=")
    fields = dict(_PAIR.findall(head)) | {"JobName": name}
    clash = False
    for line in rest.splitlines():
        key, _, value = line.strip().partition("=")
        for one, said in [(key, value)] if key in _FREE else _PAIR.findall(line):
            clash = clash or (one in _DECIDING and one in fields)
            fields.setdefault(one, said)
    return fields, clash


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
