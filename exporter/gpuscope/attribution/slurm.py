"""Which Slurm job holds which GPU, from files that a prolog writes and an epilog removes.

The format is that of dcgm-exporter's ``--hpc-job-mapping-dir``: a file per GPU, named by its index or by
``<gpu>.<GPU instance id>``, with one job id in each line; several lines are jobs that share the GPU. Besides, a file
may be named by a UUID (``GPU-…``, ``GPU-….<gi>``, ``MIG-…``), which no order of devices can make wrong, and a line may
have the job's user id after the job id, as jobstats writes it. A folder ``jobs/`` may tell more of each job; see
``docs/slurm.md``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from gpuscope.attribution.drop_folder import Unusable, list_names, read_text
from gpuscope.attribution.job_facts import JobFacts, read_job_facts
from gpuscope.attribution.problems import Problem, reason_of
from gpuscope.nvml.identity import GpuIdentity, MigInstance

__all__ = ["JobDevice", "JobFiles", "assign_jobs", "read_job_files", "unclear_devices"]

JobDevice: TypeAlias = tuple[str, int | None]
"""A GPU's index or UUID, or a MIG device's UUID; then a GPU instance id or ``None``."""

_MAX_LINES = 256
_FACTS_FOLDER = "jobs"
_HEX = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_NAME = re.compile(rf"(0|[1-9][0-9]{{0,3}}|GPU-{_HEX}|MIG-{_HEX})(?:\.([0-9]{{1,2}}))?")
_LINE = re.compile(r"([!-~]{1,128})(?:[ \t]+([0-9]{1,10}))?")


@dataclass(frozen=True, slots=True)
class JobFiles:
    """One look at the folder.

    Attributes:
        jobs: device -> the ids of the jobs that hold it, in the order of the file; a device without a job is absent.
        facts: job id -> what is known of it.
        problems: what could not be used; the rest is not touched by it.
        readable: false when the folder itself could not be read, or not to its end, so that a job may be there which is
            not known.
        unclear: devices with a file of which nothing could be used: some job may hold them.
    """

    jobs: Mapping[JobDevice, tuple[str, ...]]
    facts: Mapping[str, JobFacts]
    problems: tuple[Problem, ...] = ()
    readable: bool = True
    unclear: tuple[JobDevice, ...] = ()

    def job_of(self, sluid: str) -> str | None:
        """The job id behind a SLUID, ``None`` when no file tells it."""
        return next((job for job, facts in self.facts.items() if facts.sluid == sluid), None)


def read_job_files(folder: Path) -> JobFiles:
    """Reads all job files; it raises nothing, does not wait for a pipe and reads no more than it needs.

    Args:
        folder: where the prolog writes.
    """
    problems: list[Problem] = []
    try:
        names = list_names(folder, problems)
    except OSError as error:
        return JobFiles({}, {}, (Problem(str(folder), reason_of(error)),), readable=False)
    facts = read_job_facts(folder / _FACTS_FOLDER, problems)
    jobs: dict[JobDevice, tuple[str, ...]] = {}
    unclear: list[JobDevice] = []
    for name in names:
        if name == _FACTS_FOLDER:
            continue
        match = _NAME.fullmatch(name)
        if match is None or (match[1].startswith("MIG-") and match[2]):
            problems.append(Problem(str(folder / name), "odd_name"))
            continue
        device = match[1], int(match[2]) if match[2] else None
        before = len(problems)
        found: tuple[str, ...] = ()
        try:
            found = _jobs(read_text(folder / name), folder / name, facts, problems)
        except FileNotFoundError:
            continue  # its epilog ran meanwhile
        except OSError as error:
            problems.append(Problem(str(folder / name), reason_of(error)))
        except Unusable as error:
            problems.append(Problem(str(folder / name), error.reason))
        if found:
            jobs[device] = found
        elif len(problems) > before:
            unclear.append(device)
    whole = Problem(str(folder), "too_many_files") not in problems
    return JobFiles(jobs, facts, tuple(problems), whole, tuple(unclear))


def assign_jobs(
    files: JobFiles, gpus: Mapping[GpuIdentity, Sequence[MigInstance]]
) -> tuple[dict[str, tuple[str, ...]], tuple[Problem, ...]]:
    """Puts the jobs onto the GPUs and MIG devices that exist.

    Args:
        files: what was read.
        gpus: every GPU of the node with its MIG devices.

    Returns:
        UUID of a GPU or of a MIG device -> job ids, and a problem for each file that names no such device. A job on a
        whole GPU in MIG mode is told for the GPU only.
    """
    jobs: dict[str, tuple[str, ...]] = {}
    problems: list[Problem] = []
    for device, ids in files.jobs.items():
        uuids = list(_uuids(device, gpus))
        if not uuids:
            name, gi = device
            problems.append(Problem(name if gi is None else f"{name}.{gi}", "no_such_device"))
        for uuid in uuids:
            jobs[uuid] = tuple(dict.fromkeys((*jobs.get(uuid, ()), *ids)))
    return jobs, tuple(problems)


def unclear_devices(files: JobFiles, gpus: Mapping[GpuIdentity, Sequence[MigInstance]]) -> frozenset[str]:
    """UUIDs of the GPUs and MIG devices that some job may hold which could not be read."""
    return frozenset(uuid for device in files.unclear for uuid in _uuids(device, gpus))


def _uuids(device: JobDevice, gpus: Mapping[GpuIdentity, Sequence[MigInstance]]) -> Iterable[str]:
    name, gi = device
    for gpu, instances in gpus.items():
        if name not in {str(gpu.index), gpu.uuid}:
            yield from (one.uuid for one in instances if one.uuid == name)
        elif gi is None:
            yield gpu.uuid
        else:
            yield from (one.uuid for one in instances if one.gi == gi)


def _jobs(text: str, path: Path, facts: dict[str, JobFacts], problems: list[Problem]) -> tuple[str, ...]:
    lines = [line.strip() for line in text.splitlines()]
    if len(lines) > _MAX_LINES:
        raise Unusable("too_many_lines")
    ids: dict[str, None] = {}
    for line in filter(None, lines):
        match = _LINE.fullmatch(line)
        if match is None:
            problems.append(Problem(str(path), "odd_line"))
            continue
        ids[match[1]] = None
        if match[2] and match[1] not in facts:
            facts[match[1]] = JobFacts(uid=int(match[2]))
    return tuple(ids)
