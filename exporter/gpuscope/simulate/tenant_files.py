"""What a simulated machine's files tell of its pods, jobs and processes.

::

    proc/<pid>/{cgroup,comm,stat,status}
    log/pods/<namespace>_<pod>_<uid>/<container>/0.log
    log/containers/<pod>_<namespace>_<container>-<container id>.log -> ../pods/…
    job-mapping/<gpu>[.<GPU instance>]      the ids of the jobs that hold it
    job-mapping/jobs/<job id>               user, account, partition
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from gpuscope.simulate.node import Node
from gpuscope.simulate.pods import PodPlan
from gpuscope.simulate.procfs import write_whole
from gpuscope.simulate.tenancy import Held, Run

__all__ = ["TenantFiles"]

log = logging.getLogger(__name__)

_HOST_CGROUP = "/user.slice/user-1000.slice/session-3.scope"
_HOST_USER = "1000"
_STARTED_BEFORE_S = 5


class TenantFiles:
    """Keeps files in step with who is on the machine, from now until ``close``.

    Args:
        node: the machine.
        procfs: its proc file system.
        pod_logs: kubelet's folder of pod logs; that of containers lies beside it. ``None`` writes none.
        job_mapping: folder of job files; ``None`` writes none.

    Raises:
        OSError: the files cannot be written.
    """

    def __init__(self, node: Node, procfs: Path, pod_logs: Path | None = None, job_mapping: Path | None = None) -> None:
        self._node = node
        self._procfs = procfs
        self._pod_logs = pod_logs
        self._job_mapping = job_mapping
        self._written: dict[Path, str] = {}
        for folder in (pod_logs, pod_logs and pod_logs.with_name("containers"), job_mapping):
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
        self._write(node.runs())
        node.watchers.append(self._update)

    def close(self) -> None:
        """Leaves the files as they are."""
        with suppress(ValueError):
            self._node.watchers.remove(self._update)

    def _update(self) -> None:
        try:
            self._write(self._node.runs())
        except OSError as error:
            log.warning("files of simulated pods and jobs: %s", error)

    def _write(self, runs: Sequence[Run]) -> None:
        wanted = dict(self._files(runs))
        for path in self._written.keys() - wanted.keys():
            path.unlink(missing_ok=True)
            self._remove_empty(path.parent)
            del self._written[path]
        for path, content in wanted.items():
            if self._written.get(path) != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.suffix == ".log" and content:
                    path.unlink(missing_ok=True)
                    path.symlink_to(content)
                else:
                    write_whole(path, content)
                self._written[path] = content

    def _remove_empty(self, folder: Path) -> None:
        roots = {self._procfs, self._pod_logs, self._pod_logs and self._pod_logs.with_name("containers")}
        while folder not in roots and folder != self._job_mapping:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _files(self, runs: Sequence[Run]) -> Iterator[tuple[Path, str]]:
        """Path -> content of every file; of a link in ``containers`` its target."""
        for run in runs:
            for one in run.held:
                cgroup, user = _owner(run, one)
                for pid in one.pids:
                    yield from self._process(pid, cgroup, user)
            if isinstance(run.plan, PodPlan):
                yield from self._logs(run, run.plan)
        for pid in self._unheld():
            yield from self._process(pid, _HOST_CGROUP, _HOST_USER)
        if self._job_mapping is not None:
            yield from _job_files(self._job_mapping, runs)

    def _unheld(self) -> Iterator[int]:
        """Numbers of processes that programs outside of pods and jobs may have."""
        for gpu in self._node.gpus:
            with gpu.lock:
                if gpu.mig_mode:
                    places = [place for place, one in enumerate(gpu.mig) if not one.tenants and one.kind != "idle"]
                    yield from (gpu.pid_of(place) for place in places)
                elif not gpu.tenants and gpu.kind != "idle":
                    yield from (gpu.pid_of(), gpu.pid_of() + 3)

    def _process(self, pid: int, cgroup: str, user: str) -> Iterator[tuple[Path, str]]:
        folder = self._procfs / str(pid)
        known = self._written.get(folder / "cgroup") == f"0::{cgroup}\n"
        stat = self._written.get(folder / "stat") if known else None
        yield folder / "cgroup", f"0::{cgroup}\n"
        yield folder / "comm", "python3\n"
        yield (
            folder / "status",
            f"Name:\tpython3\nState:\tS (sleeping)\nPid:\t{pid}\nUid:\t{user}\t{user}\t{user}\t{user}\n",
        )
        yield folder / "stat", stat or _stat(pid)

    def _logs(self, run: Run, plan: PodPlan) -> Iterator[tuple[Path, str]]:
        if self._pod_logs is None:
            return
        pod = f"{plan.namespace}_{run.name}_{run.uid}"
        for container in plan.containers:
            yield self._pod_logs / pod / container.name / "0.log", ""
            name = f"{run.name}_{plan.namespace}_{container.name}-{run.container_id(container.name)}.log"
            target = f"../{self._pod_logs.name}/{pod}/{container.name}/0.log"
            yield self._pod_logs.with_name("containers") / name, target


def _owner(run: Run, held: Held) -> tuple[str, str]:
    """cgroup and user id of a process."""
    if held.container is None:
        return f"/system.slice/slurmstepd.scope/job_{run.name}/step_0/user/task_0", run.uid
    uid = run.uid.replace("-", "_")
    container = f"cri-containerd-{run.container_id(held.container.name)}.scope"
    return f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{uid}.slice/{container}", "0"


def _stat(pid: int) -> str:
    # It began a while ago, so that no list of processes is older than it.
    started = max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - _STARTED_BEFORE_S)
    return f"{pid} (python3) S 1 {pid} {pid} 0 -1 4194560 {'0 ' * 12}{int(started * 100)} 0 0\n"


def _job_files(folder: Path, runs: Sequence[Run]) -> Iterator[tuple[Path, str]]:
    lines: dict[str, list[str]] = {}
    for run in runs:
        plan = run.plan
        if isinstance(plan, PodPlan):
            continue
        for one in run.held:
            name = str(one.gpu.index) if one.mig is None else f"{one.gpu.index}.{one.mig.gi}"
            lines.setdefault(name, []).append(f"{run.name}\n")
        facts = {"user": plan.user, "uid": run.uid, "account": plan.account, "partition": plan.partition}
        yield folder / "jobs" / run.name, "".join(f"{key}={value}\n" for key, value in facts.items() if value)
    for name, found in lines.items():
        yield folder / name, "".join(dict.fromkeys(found))
