"""What the simulated Slurm's commands answer, in the form of release 22.05: recorded records with other values."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from gpuscope.simulate.slurm.cluster import Record, Story, uid_of
from gpuscope.simulate.slurm.story import Host

__all__ = ["COLUMNS", "Forms", "accounting", "host_list", "partitions"]

COLUMNS = (
    "JobIDRaw", "JobID", "JobName", "User", "UID", "Account", "Partition", "QOS", "State", "Submit", "Eligible",
    "Start", "End", "Reason", "ExitCode", "DerivedExitCode", "NodeList", "AllocTRES", "ReqTRES",
)  # fmt: skip


class Forms:
    """Records as Slurm writes them."""

    def __init__(self) -> None:
        forms: dict[str, Any] = json.loads(Path(__file__).with_name("forms.json").read_text(encoding="utf-8"))
        self.release: str = forms["release"]
        self.fields: list[str] = forms["accounting"]
        self._forms = forms

    def jobs(self, cluster: Story) -> str:
        """``squeue --all --json``."""
        return self._document("jobs", [self._job(cluster, job) for job in cluster.jobs.values()])

    def nodes(self, cluster: Story) -> str:
        """``sinfo --all --json``."""
        return self._document("nodes", [self._node(cluster, host) for host in cluster.hosts])

    def _document(self, what: str, records: list[dict[str, Any]]) -> str:
        return json.dumps({"meta": self._forms["meta"], "errors": [], what: records})

    def _job(self, cluster: Story, job: Record) -> dict[str, Any]:
        plan = job.plan
        waits = job.state == "PENDING"
        end = 0 if waits else job.ended or job.started + job.limit_s
        host = _host_of(cluster, job)
        cpus = plan.nodes * plan.gpus * host.cpus_per_gpu
        request = f"gres:gpu:{plan.gpus}"
        return {
            **self._forms["job"],
            "job_id": job.job_id,
            "name": plan.name,
            "user_name": plan.user,
            "user_id": uid_of(plan.user),
            "group_name": plan.account,
            "account": plan.account,
            "partition": plan.partition,
            "job_state": job.state,
            "state_reason": job.reason,
            "submit_time": job.submitted,
            "accrue_time": job.submitted,
            "eligible_time": job.eligible,
            "start_time": job.eligible if job.reason == "BeginTime" else job.started,
            "end_time": end,
            "time_limit": job.limit_s,
            "restart_cnt": job.restarts,
            "exit_code": job.status,
            "nodes": host_list(job.nodes),
            "batch_host": job.nodes[0].name if job.nodes else "",
            "node_count": plan.nodes,
            "tasks": plan.nodes * plan.gpus,
            "cpus": cpus,
            "tres_per_node": request,
            "gres_detail": [f"gpu:{host.gpu_type}:{plan.gpus}(IDX:0-{plan.gpus - 1})" for host in job.nodes],
            "tres_req_str": _tres(host, job, typed=False),
            "tres_alloc_str": "" if waits else _tres(host, job, typed=True),
        }

    def _node(self, cluster: Story, host: Host) -> dict[str, Any]:
        trouble, since = cluster.troubles.get(host.name, (None, 0))
        used = host.gpus - cluster.free(host)
        down = trouble is not None and trouble.state == "down"
        flags = {"down": ["NOT_RESPONDING"], "drain": ["DRAIN"], "maint": ["MAINTENANCE"]}
        state = "down" if down else "idle" if used == 0 else "allocated" if used == host.gpus else "mixed"
        kind = f"gpu:{host.gpu_type}"
        cpus = min(host.cpus, used * host.cpus_per_gpu)
        size = f"cpu={host.cpus},mem={host.memory_mib}M,billing={host.cpus}"
        return {
            **self._forms["node"],
            "name": host.name,
            "hostname": host.name,
            "address": host.name,
            "partitions": [host.partition],
            "state": state,
            "state_flags": flags[trouble.state] if trouble else [],
            "reason": trouble.reason if trouble else "",
            "reason_changed_at": since,
            "reason_set_by_user": trouble.by if trouble else None,
            "gres": f"{kind}:{host.gpus}",
            "gres_used": f"{kind}:{used}(IDX:{f'0-{used - 1}' if used else 'N/A'})",
            "tres": f"{size},gres/gpu={host.gpus},gres/gpu:{host.gpu_type}={host.gpus}",
            "tres_used": f"cpu={cpus},gres/gpu={used},gres/gpu:{host.gpu_type}={used}" if used else None,
            "cpus": host.cpus,
            "alloc_cpus": cpus,
            "idle_cpus": host.cpus - cpus,
        }


def accounting(cluster: Story) -> str:
    """slurmdbd's table: names of columns, then a line for each attempt, ``|`` between values."""
    alive = [job for job in cluster.jobs.values() if not job.ended]
    return "\n".join(["|".join(COLUMNS), *("|".join(_line(cluster, one)) for one in (*cluster.past, *alive)), ""])


def partitions(cluster: Story) -> str:
    """``scontrol --all --oneliner show partition``, as far as it matters."""
    lines: list[str] = []
    for name in dict.fromkeys(host.partition for host in cluster.hosts):
        hosts = [host for host in cluster.hosts if host.partition == name]
        gpus, cpus = sum(host.gpus for host in hosts), sum(host.cpus for host in hosts)
        lines.append(
            f"PartitionName={name} AllowGroups=ALL Default={'NO' if lines else 'YES'} Hidden=NO MaxTime=UNLIMITED "
            f"Nodes={host_list(hosts)} State={cluster.partition_state(name)} TotalCPUs={cpus} "
            f"TotalNodes={len(hosts)} TRES=cpu={cpus},node={len(hosts)},gres/gpu={gpus}"
        )
    return "\n".join(lines) + "\n"


def host_list(hosts: Iterable[Host]) -> str:
    """Names of nodes as Slurm writes them: ``train-[1,3-4]``, ``gpu-[001-002],login``."""
    parts: list[str] = []
    split = [re.fullmatch(r"(.*?)([0-9]*)", host.name) for host in hosts]
    named = [match.groups() for match in split if match]
    for (prefix, width), found in groupby(named, key=lambda pair: (pair[0], len(pair[1]))):
        if not width:
            parts += [prefix for _ in found]
            continue
        spans = list(_spans((int(number) for _, number in found), width))
        alone = len(spans) == 1 and spans[0].isdigit()
        parts.append(f"{prefix}{spans[0]}" if alone else f"{prefix}[{','.join(spans)}]")
    return ",".join(parts)


def _spans(numbers: Iterable[int], width: int) -> Iterator[str]:
    for _, group in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        yield f"{run[0]:0{width}}" if len(run) == 1 else f"{run[0]:0{width}}-{run[-1]:0{width}}"


def _line(cluster: Story, job: Record) -> tuple[str, ...]:
    plan, waits = job.plan, job.state == "PENDING"
    host = _host_of(cluster, job)
    # What is a flag to slurmctld slurmdbd does not know.
    known = "RUNNING" if job.state == "CONFIGURING" else job.state
    state = known if job.killed_by is None else f"CANCELLED by {job.killed_by}"
    status = f"{job.status >> 8}:{job.status & 0x7F}"
    return (
        str(job.job_id), str(job.job_id), plan.name, plan.user, str(uid_of(plan.user)), plan.account, plan.partition,
        "normal", state, _time(job.submitted), _time(job.eligible), _time(job.started), _time(job.ended), "None",
        "0:0" if waits else status, "0:0", host_list(job.nodes) or "None assigned",
        "" if waits else _tres(host, job, typed=True), _tres(host, job, typed=False),
    )  # fmt: skip


def _host_of(cluster: Story, job: Record) -> Host:
    """A node that it has or may have."""
    return job.nodes[0] if job.nodes else next(one for one in cluster.hosts if one.partition == job.plan.partition)


def _tres(host: Host, job: Record, *, typed: bool) -> str:
    total = job.plan.nodes * job.plan.gpus
    cpus = total * host.cpus_per_gpu
    text = f"cpu={cpus},mem={total * host.mib_per_gpu}M,node={job.plan.nodes},billing={cpus},gres/gpu={total}"
    return f"{text},gres/gpu:{host.gpu_type}={total}" if typed else text


def _time(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S") if moment else "Unknown"
