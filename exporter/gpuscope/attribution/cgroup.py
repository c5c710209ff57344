"""Who a process belongs to, from the text of ``/proc/<pid>/cgroup``.

Pods are found in every form that kubelet and the runtimes write: the cgroupfs and the systemd driver, cgroup v1, v2 and
hybrid, with and without a QoS part, below a ``kubelet.slice`` or inside another container (kind), and relative to
another cgroup namespace (``/../..``). Slurm jobs are found in the trees of its cgroup/v1 and cgroup/v2 plugins.

Sources: cgroups(7); kubelet ``pkg/kubelet/cm``; runc ``docs/systemd.md``; https://slurm.schedmd.com/cgroup_v2.html and
``CgroupJobIdPaths`` in https://slurm.schedmd.com/cgroup.conf.html.
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["CgroupOwner", "parse_cgroup"]

_T = TypeVar("_T")
_MAX_TEXT = 1 << 16
_UID = r"[0-9a-f]{8}([-_])[0-9a-f]{4}\2[0-9a-f]{4}\2[0-9a-f]{4}\2[0-9a-f]{12}|[0-9a-f]{32}"
_POD = re.compile(rf"(?:.*-)?pod({_UID})(?:\.slice)?")
_CONTAINER = re.compile(r"(?:(cri-containerd|containerd|nerdctl|crio|docker|libpod)-)?([0-9a-f]{64})(?:\.scope)?")
_RUNTIMES = {
    "cri-containerd": "containerd",
    "containerd": "containerd",
    "nerdctl": "containerd",
    "crio": "cri-o",
    "docker": "docker",
    "libpod": "podman",
}
# containerd with the cgroupfs driver under a systemd kubelet: one folder "….slice:cri-containerd:<id>".
_COLONS = re.compile(r"\.slice:([a-z-]+):")
_SLURM_V1 = re.compile(r"slurm(?:_.+)?")
_SLURM_V2 = re.compile(r"(?:.+_)?slurmstepd\.scope")
_USER = re.compile(r"uid_([0-9]{1,10})")
_JOB = re.compile(r"job_([0-9]{1,10})")
# Slurm 26.05 names a job's folder by its SLUID, unless cgroup.conf says CgroupJobIdPaths=yes.
_SLUID = re.compile(r"s[0-9A-HJKMNP-TV-Z]{13}")
_STEP = re.compile(r"step_([0-9A-Za-z.+_-]{1,64})")


@dataclass(frozen=True, slots=True)
class CgroupOwner:
    """What the cgroup of a process says; every field is ``None`` where it says nothing.

    A process can have a pod and a job: Slurm runs inside pods too.

    Attributes:
        pod_uid: as in the Kubernetes API, with dashes; a static pod has a hash of 32 digits without.
        container_id: 64 hexadecimal digits; ``None`` for a runtime's helper such as conmon.
        runtime: ``containerd``, ``cri-o``, ``docker`` or ``podman``, where the path tells.
        job_id: Slurm's number of the job; each task of an array and each part of a heterogeneous job has its own.
        sluid: Slurm's other name of the job, the only one in the path since 26.05; see ``CgroupJobIdPaths``.
        step: ``0``, ``batch``, ``extern``, ``interactive``, …
        uid: user id of the job; only cgroup v1 tells it.
    """

    pod_uid: str | None = None
    container_id: str | None = None
    runtime: str | None = None
    job_id: str | None = None
    sluid: str | None = None
    step: str | None = None
    uid: int | None = None

    @property
    def known(self) -> bool:
        """Whether a pod or a job owns the process."""
        return bool(self.pod_uid or self.job_id or self.sluid)


def parse_cgroup(text: str) -> CgroupOwner:
    """The owner of the process whose ``/proc/<pid>/cgroup`` this is.

    Where the lines of cgroup v1 disagree, as they do while a process is moved, nothing is said about that part.

    Args:
        text: the whole file, any text: what is not understood is skipped.
    """
    # The kernel keeps "\n" out of names, and nothing else that splitlines() takes for the end of a line.
    paths = {fields[2] for line in text[:_MAX_TEXT].split("\n") if len(fields := line.split(":", 2)) == 3}
    found = [_parse_path(path) for path in paths]
    pod = _only(owner.pod_uid for owner in found)
    jobs = _only((owner.job_id, owner.sluid) for owner in found if owner.job_id or owner.sluid)
    container = _only((owner.container_id, owner.runtime) for owner in found if owner.container_id)
    container_id, runtime = container or (None, None)
    job_id, sluid = jobs or (None, None)
    return CgroupOwner(
        pod_uid=pod,
        container_id=container_id,
        runtime=runtime,
        job_id=job_id,
        sluid=sluid,
        step=_only(owner.step for owner in found) if jobs else None,
        uid=_only(owner.uid for owner in found) if jobs else None,
    )


def _only(values: Iterable[_T | None]) -> _T | None:
    """The one value that is said, ``None`` when there is none or more than one."""
    said = {value for value in values if value is not None}
    return said.pop() if len(said) == 1 else None


def _parse_path(path: str) -> CgroupOwner:
    segments = _COLONS.sub(r".slice/\1-", path.removesuffix(" (deleted)")).split("/")
    pod_uid, container_id, runtime = _pod(segments)
    job_id, sluid, step, uid = _job(segments)
    return CgroupOwner(pod_uid, container_id, runtime, job_id, sluid, step, uid)


def _pod(segments: list[str]) -> tuple[str | None, str | None, str | None]:
    for place, segment in enumerate(segments):
        pod = _POD.fullmatch(segment)
        if pod:
            # The outermost pod is the one that this node's kubelet knows; what it starts inside itself is its own.
            below = segments[place + 1] if place + 1 < len(segments) else ""
            return pod[1].replace("_", "-"), *_container(below)
    for before, segment in itertools.pairwise(segments):
        container_id, runtime = _container(segment)
        # Without a pod a bare number is a container only in Docker's own folder.
        if container_id and (runtime or before == "docker"):
            return None, container_id, runtime or before
    return None, None, None


def _container(segment: str) -> tuple[str | None, str | None]:
    found = _CONTAINER.fullmatch(segment)
    return (found[2], _RUNTIMES.get(found[1])) if found else (None, None)


def _job(segments: list[str]) -> tuple[str | None, str | None, str | None, int | None]:
    for place, segment in enumerate(segments):
        below = segments[place + 1 :]
        if segment == "user.slice":
            # A user may name folders of their own session as they like; Slurm's never lie there.
            break
        if _SLURM_V2.fullmatch(segment):
            return _job_below(below, None)
        user = _USER.fullmatch(below[0]) if below and _SLURM_V1.fullmatch(segment) else None
        if user:
            return _job_below(below[1:], int(user[1]))
        if segment == ".." and len(below) > 1 and _STEP.fullmatch(below[1]):
            # Seen from a namespace inside Slurm's own folder, its name is cut off.
            return _job_below(below, None)
    return None, None, None, None


def _job_below(segments: list[str], uid: int | None) -> tuple[str | None, str | None, str | None, int | None]:
    job = _JOB.fullmatch(segments[0]) if segments else None
    sluid = segments[0] if segments and _SLUID.fullmatch(segments[0]) else None
    if job is None and sluid is None:
        return None, None, None, None
    step = _STEP.fullmatch(segments[1]) if len(segments) > 1 else None
    return job and job[1], sluid, step and step[1], uid
