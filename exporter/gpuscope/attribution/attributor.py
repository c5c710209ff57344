"""Finds out, every few seconds and in a thread of its own, who holds which device.

Output::

    gpuscope_pod_allocation_info{gpu="0",uuid="GPU-…",mig_uuid="",namespace="team-a",pod="train-0",…} 1
    gpuscope_allocations{gpu="0",uuid="GPU-…",mig_uuid=""} 1
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpuscope.attribution.allocation import Allocation, Job
from gpuscope.attribution.devices import Devices
from gpuscope.attribution.job_facts import JobFacts
from gpuscope.attribution.kubelet import Kubelet, KubeletError
from gpuscope.attribution.look import Look
from gpuscope.attribution.merge import merge, samples
from gpuscope.attribution.pod_names import PodNames
from gpuscope.attribution.pod_resources import Holds, holds
from gpuscope.attribution.problems import Problem
from gpuscope.attribution.process_memory import MemoryByOwner, memory_by_owner
from gpuscope.attribution.process_owner import Owner, ProcessOwners, Unknown
from gpuscope.attribution.slurm import JobFiles, assign_jobs, read_job_files, unclear_devices
from gpuscope.attribution.sources import SourceState
from gpuscope.catalogue import attribution as m
from gpuscope.catalogue.metric import Sample

if TYPE_CHECKING:
    from gpuscope.podresources import ListPodResourcesResponse

__all__ = ["AttributionOptions", "Attributor"]

log = logging.getLogger("gpuscope.attribution")

_TICK_S = 1.0
_ORDINARY = "gone"
_NOTHING = Holds({}, (), frozenset())


@dataclass(frozen=True, slots=True)
class AttributionOptions:
    """Settings of attribution.

    Attributes:
        kubelet_socket: kubelet's pod-resources socket; ``None`` asks no kubelet.
        kubelet_wanted: whether a missing socket is a fault, rather than a machine without kubelet.
        job_files: folder that a prolog writes; ``None`` for none.
        procfs: root of the proc file system.
        pod_logs: kubelet's folder of pod logs.
        container_logs: kubelet's folder of links to container logs.
        visible: whether this process sees the host's processes.
        interval_s: seconds between two looks.
        keep_s: how long kubelet's last answer holds while it does not answer.
    """

    kubelet_socket: Path | None = None
    kubelet_wanted: bool = False
    job_files: Path | None = None
    procfs: Path = Path("/proc")
    pod_logs: Path = Path("/var/log/pods")
    container_logs: Path = Path("/var/log/containers")
    visible: bool = False
    interval_s: float = 10.0
    keep_s: float = 60.0


class Attributor:
    """Attribution of one machine; a ``NodeSource``.

    Args:
        options: settings.
        looks: gives what is known of the GPUs now.
        changed: called when the allocation changed.

    Attributes:
        name: the subject.
        allocation: who holds what; replaced whole.
    """

    name = "attribution"

    def __init__(
        self,
        options: AttributionOptions,
        looks: Callable[[], Sequence[Look]],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._options = options
        self._looks = looks
        self._changed = changed
        self.allocation = Allocation()
        self._samples: tuple[Sample, ...] = ()
        self._names = PodNames(options.pod_logs, options.container_logs)
        self._owners = ProcessOwners(options.procfs, self._names)
        self._kubelet = None if options.kubelet_socket is None else Kubelet(options.kubelet_socket)
        self._answer: ListPodResourcesResponse | None = None
        self._of_kubelet = SourceState("kubelet", "a pod needs its folder mounted, and user id 0")
        self._of_files = SourceState("job_files")
        self._of_processes = SourceState("processes")
        self._failures = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="attribution", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; one that waits for kubelet ends by itself."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(0.4)

    def samples(self) -> tuple[Sample, ...]:
        """The series of the last look."""
        return self._samples

    def refresh(self) -> None:
        """Looks once. What a source does not tell is absent; the others go on."""
        looks = self._looks()
        if not looks and not self.allocation.devices.gpus:
            return  # no GPU was seen yet: what kubelet says could not be understood
        devices = self.allocation.devices.updated(looks)
        files = self._job_files()
        asked = self._pods(devices)
        jobs = self._jobs(files, devices)
        memory = self._memory(looks, files)
        allocation = merge(
            devices,
            asked.held,
            jobs,
            memory,
            in_use=self._in_use(looks),
            complete=self._complete(looks),
            doubtful=asked.doubtful | unclear_devices(files, devices.gpus),
        )
        self._samples = (*samples(allocation, memory), *self._own_samples())
        self.allocation = allocation
        self._changed()

    def _run(self) -> None:
        due = 0.0
        try:
            while not self._stop.is_set():
                now = time.monotonic()
                try:
                    # MIG devices that have come or gone are looked up at once: their pods start right after.
                    if now >= due or self.allocation.devices.updated(self._looks()) is not self.allocation.devices:
                        due = now + self._options.interval_s
                        self.refresh()
                except Exception:  # the boundary: whatever a source says, the next look is tried
                    self._forget()
                    if self._failures in {1, 10, 100} or self._failures % 1000 == 0:
                        log.exception("attribution failed")
                self._stop.wait(min(_TICK_S, self._options.interval_s))
        finally:
            if self._kubelet is not None:
                self._kubelet.close()

    def _forget(self) -> None:
        """After a look that failed nothing is known, rather than what was known before."""
        self._failures += 1
        self._samples = ()
        self.allocation = Allocation(self.allocation.devices)
        self._changed()

    def _pods(self, devices: Devices) -> Holds:
        if self._kubelet is None:
            return _NOTHING
        state = self._of_kubelet
        try:
            self._answer = self._kubelet.list()
            state.success()
        except KubeletError as error:
            ordinary = error.code == "missing" and not self._options.kubelet_wanted and state.answered is None
            state.failure(error.code, str(error), logging.INFO if ordinary else logging.WARNING)
            if self._stale():
                self._answer = None
        if self._answer is None:
            return _NOTHING
        found = holds(self._answer, devices, self._names.uid)
        state.problems.report(found.problems)
        return found

    def _stale(self) -> bool:
        answered = self._of_kubelet.answered_at
        return answered is None or time.monotonic() - answered > self._options.keep_s

    def _job_files(self) -> JobFiles:
        if self._options.job_files is None:
            return JobFiles({}, {})
        files = read_job_files(self._options.job_files)
        if files.readable:
            self._of_files.success()
        else:
            problem = next(one for one in files.problems if one.name == str(self._options.job_files))
            self._of_files.failure(problem.reason, f"{problem.name}: {problem.reason}")
        return files

    def _jobs(self, files: JobFiles, devices: Devices) -> Mapping[str, Sequence[Job]]:
        if self._options.job_files is None:
            return {}
        assigned, problems = assign_jobs(files, devices.gpus)
        self._of_files.problems.report((*(files.problems if files.readable or files.jobs else ()), *problems))
        return {
            uuid: [Job(job_id, files.facts.get(job_id, JobFacts()).user) for job_id in ids]
            for uuid, ids in assigned.items()
        }

    def _memory(self, looks: Sequence[Look], files: JobFiles) -> list[MemoryByOwner]:
        if not self._options.visible:
            return []
        found: list[MemoryByOwner] = []
        problems: list[Problem] = []
        known: dict[tuple[int, float], Owner | Unknown] = {}
        for look in looks:
            listed = look.listed
            if not look.up or listed is None:
                continue

            def owner(pid: int, at: float = listed.at) -> Owner | Unknown:
                key = (pid, at)
                if key not in known:
                    known[key] = self._owners.find(pid, listed_at=at, jobs=files)
                return known[key]

            gpu = look.identity.uuid
            one = memory_by_owner(
                listed.processes, owner, gpu_uuid=gpu, instances=look.mig, used=listed.used, visible=True
            )
            found.append(one)
            problems += [Problem(f"processes of {gpu}", reason) for reason in one.problems if reason != _ORDINARY]
            self._of_processes.problems.counts[_ORDINARY] += one.problems[_ORDINARY]
        self._of_processes.success()
        self._of_processes.problems.report(problems)
        return found

    def _in_use(self, looks: Sequence[Look]) -> frozenset[str]:
        """Devices that have a process, also where its owner cannot be told."""
        if not self._options.visible:
            return frozenset()
        used: set[str] = set()
        for look in looks:
            for process in look.listed.processes if look.up and look.listed is not None else ():
                inside = [one.uuid for one in look.mig if one.gi == process.gi and process.ci in {one.ci, None}]
                used.update([look.identity.uuid] if process.gi is None else inside)
        return frozenset(used)

    def _complete(self, looks: Sequence[Look]) -> bool:
        """Whether a device that nobody is known to hold is free."""
        kubelet, files = self._of_kubelet, self._of_files
        if self._kubelet is not None and not kubelet.ok:
            missing = kubelet.reason == "missing" and kubelet.answered is None and not self._options.kubelet_wanted
            if self._answer is None and not missing:
                return False
        if self._options.job_files is not None and not files.ok:
            return False
        if self._answer is not None or files.ok:
            return True
        return self._options.visible and all(look.listed is not None for look in looks if look.up)

    def _own_samples(self) -> list[Sample]:
        own = [*self._of_kubelet.samples(), *self._of_files.samples(), *self._of_processes.samples()]
        for reason, count in sorted(self._names.problems.counts.items()):
            own.append(Sample(m.PROBLEMS, ("pod_logs", reason), float(count)))
        for code, count in sorted(self._of_kubelet.failures.items()):
            own.append(Sample(m.PODRESOURCES_ERRORS, (code,), float(count)))
        return own
