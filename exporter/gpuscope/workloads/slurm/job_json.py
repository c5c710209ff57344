"""Jobs in the JSON of ``squeue --json`` (21.08, 22.05) and ``scontrol --json show jobs`` (23.02 and later)."""

from collections.abc import Mapping, Sequence

from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import JobRow
from gpuscope.workloads.slurm.tres import gpus_in_gres, gpus_in_tres, names_gpus
from gpuscope.workloads.slurm.value import exit_of, moment, number, text, words

__all__ = ["job_row", "job_rows", "requested_gpus"]


def job_rows(records: object, problems: Problems) -> list[JobRow]:
    """Rows of the list ``jobs``; what is no job is counted as ``malformed_job``."""
    rows: list[JobRow] = []
    for record in records if isinstance(records, list) else []:
        row = job_row(record) if isinstance(record, Mapping) else None
        if row is None:
            problems.add("malformed_job", str(record))
        else:
            rows.append(row)
    return rows


def job_row(record: Mapping[str, object]) -> JobRow | None:
    """One job; ``None`` without a number, a state and a time of submission.

    Releases differ: a state is a word up to 23.02 and a list from 23.11, a number is plain up to 22.05, an exit code is
    a wait status up to 23.02, and "none" is 0, null or not set.
    """
    job_id, states, submitted = (
        number(record.get("job_id")),
        words(record.get("job_state")),
        moment(record.get("submit_time")),
    )
    if not job_id or not states or submitted is None:
        return None
    return JobRow(
        job_id=job_id,
        states=states,
        array_job=number(record.get("array_job_id")) or None,
        array_task=number(record.get("array_task_id")),
        array_tasks=text(record.get("array_task_string")),
        het_job=number(record.get("het_job_id")) or None,
        het_offset=number(record.get("het_job_offset")),
        name=text(record.get("name")),
        user=text(record.get("user_name")),
        uid=number(record.get("user_id")),
        account=text(record.get("account")),
        partition=text(record.get("partition")),
        qos=text(record.get("qos")),
        reason=text(record.get("state_reason")),
        detail=text(record.get("state_description")),
        restarts=number(record.get("restart_cnt")),
        submitted=submitted,
        started=moment(record.get("start_time")),
        ended=moment(record.get("end_time")),
        nodes=text(record.get("nodes")),
        exit=exit_of(record.get("exit_code")),
        derived_exit=exit_of(record.get("derived_exit_code")),
        gpus=_gpus(record),
        failed_node=text(record.get("failed_node")),
        comment=text(record.get("system_comment")),
        preempted=moment(record.get("preempt_time")),
    )


def _gpus(record: Mapping[str, object]) -> int | None:
    """The first that tells: what it got, by node what it got, what it asks for. Silence everywhere means none, and what
    names GPUs without a number that can be read leaves it unknown.

    Without slurmdbd the TRES name no GPUs even while a job holds some, so that they cannot say "none".
    """
    for key in ("tres_alloc_str", "tres_req_str"):
        found = gpus_in_tres(text(record.get(key)))
        if found is not None or names_gpus(text(record.get(key))):
            return found
    details = record.get("gres_detail")
    per_node = [gpus_in_gres(text(one)) for one in details] if isinstance(details, list) else []
    if any(found is not None for found in per_node):
        return sum(found for found in per_node if found is not None)
    requests = [text(record.get(f"tres_per_{per}")) for per in ("job", "node", "task", "socket")]
    return requested_gpus(requests, number(record.get("node_count")), number(record.get("tasks")))


def requested_gpus(requests: Sequence[str], nodes: int | None, tasks: int | None) -> int | None:
    """GPUs of a request; ``None`` where it counts by something whose number is not known.

    Args:
        requests: what is asked for by job, by node, by task and by socket.
        nodes: number of nodes.
        tasks: number of tasks.
    """
    for request, times in zip(requests, (1, nodes, tasks, None), strict=True):
        each = gpus_in_gres(request)
        if each is not None:
            return None if times is None else each * times
        if names_gpus(request):
            return None
    return 0
