"""Who a process belongs to: its pod and container, its Slurm job and user.

Sources: ``/proc/<pid>/cgroup``, ``/proc/<pid>/stat`` (start time), ``/proc/<pid>/status`` (user id).
"""

import enum
import os
import re
from dataclasses import dataclass
from pathlib import Path

from gpuscope.attribution.cgroup import CgroupOwner, parse_cgroup
from gpuscope.attribution.job_facts import JobFacts
from gpuscope.attribution.pod_names import PodNames
from gpuscope.attribution.slurm import JobFiles
from gpuscope.attribution.users import UserNames

__all__ = ["Owner", "ProcessOwners", "Unknown"]

_MAX_BYTES = 1 << 16
_PROC_ROOT_INODE = 1
_UID_LINE = re.compile(r"^Uid:\s+([0-9]{1,10})\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Owner:
    """A pod's container, a job, both, or neither: a program of the host.

    Attributes:
        pod_uid: set when a pod owns the process, also when its names are not known.
        namespace: empty when not known, like ``pod`` and ``container``.
        job_id: Slurm's job id; the SLUID where nobody tells the number.
        user: who runs the job: a name, else a number.
    """

    pod_uid: str = ""
    namespace: str = ""
    pod: str = ""
    container: str = ""
    job_id: str = ""
    user: str = ""


class Unknown(enum.Enum):
    """Why a process has no owner that could be told.

    ``GONE``: it ended, or its number belongs to a newer process, so it holds nothing any more.
    ``UNREADABLE``: it is there, and whose it is cannot be read or is hidden.
    """

    GONE = "gone"
    UNREADABLE = "unreadable"


class ProcessOwners:
    """Finds the owners of processes. It makes sense in the host's PID namespace only.

    Args:
        procfs: root of the host's proc file system.
        pods: names of pods; without them an owner has its pod's uid only.
        users: names of users.
    """

    def __init__(
        self, procfs: Path = Path("/proc"), pods: PodNames | None = None, users: UserNames | None = None
    ) -> None:
        self._procfs = procfs
        self._pods = pods
        self._users = users or UserNames()
        self._ticks = os.sysconf("SC_CLK_TCK")
        self._is_proc = _is_proc(procfs)

    def find(self, pid: int, *, listed_at: float | None = None, jobs: JobFiles | None = None) -> Owner | Unknown:
        """The owner of a process; it raises nothing.

        Args:
            pid: as NVML tells it.
            listed_at: when NVML had answered, in seconds of ``CLOCK_BOOTTIME``: a process that started later is not
                the one of the list. ``None`` looks at no start time.
            jobs: what the prolog's files say of jobs.
        """
        try:
            cgroup = parse_cgroup(self._read(pid, "cgroup"))
            # Read last: had the number changed hands before, the new process would be seen here.
            if listed_at is not None and self._started(pid) > listed_at + 1 / self._ticks:
                return Unknown.GONE
            uid = cgroup.uid
            if uid is None and (cgroup.job_id or cgroup.sluid):
                uid = self._uid(pid)
        except (FileNotFoundError, ProcessLookupError):
            return Unknown.UNREADABLE if self._hidden(pid) else Unknown.GONE
        except (OSError, ValueError):
            return Unknown.UNREADABLE
        job_id, user = self._job(cgroup, uid, jobs or JobFiles({}, {}))
        if cgroup.pod_uid is None:
            return Owner(job_id=job_id, user=user)
        names = None if self._pods is None else self._pods.find(cgroup.pod_uid, cgroup.container_id)
        if names is None:
            return Owner(cgroup.pod_uid, job_id=job_id, user=user)
        return Owner(cgroup.pod_uid, names.namespace, names.pod, names.container, job_id, user)

    def _hidden(self, pid: int) -> bool:
        """Whether a process that /proc does not show is there all the same, as with the mount option ``hidepid``."""
        if not self._is_proc or pid <= 0:
            return False
        try:
            os.kill(pid, 0)  # sends nothing
        except ProcessLookupError:
            return False
        except OSError:
            return True  # not permitted
        return True

    def _job(self, cgroup: CgroupOwner, uid: int | None, jobs: JobFiles) -> tuple[str, str]:
        job_id = cgroup.job_id or (cgroup.sluid and (jobs.job_of(cgroup.sluid) or cgroup.sluid))
        if not job_id:
            return "", ""
        facts = jobs.facts.get(job_id, JobFacts())
        if facts.user:
            return job_id, facts.user
        uid = uid if facts.uid is None else facts.uid
        return job_id, "" if uid is None else self._users.name(uid)

    def _started(self, pid: int) -> float:
        # The command, in parentheses, may hold spaces and parentheses itself; the start time is field 22.
        fields = self._read(pid, "stat").rpartition(")")[2].split()
        if len(fields) < 20:
            raise ValueError("a stat without a start time")
        return int(fields[19]) / self._ticks

    def _uid(self, pid: int) -> int | None:
        found = _UID_LINE.search(self._read(pid, "status"))
        return int(found[1]) if found else None

    def _read(self, pid: int, name: str) -> str:
        with (self._procfs / str(pid) / name).open("rb") as file:
            return file.read(_MAX_BYTES).decode(errors="replace")


def _is_proc(folder: Path) -> bool:
    """Whether this is the kernel's file system and no copy; its root has the inode number 1."""
    try:
        return os.stat(folder).st_ino == _PROC_ROOT_INODE
    except OSError:
        return False
