"""A job with everything around it at one moment, which its state and its attempts are told from."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpuscope.workloads.kubernetes.records import NodeRecord, PodRecord, QueueRecord, WorkloadRecord
from gpuscope.workloads.observation import Outcome

__all__ = ["JobView"]


@dataclass(frozen=True, slots=True)
class JobView:
    """One job.

    Attributes:
        job: the workload that somebody submitted.
        parts: workloads below it.
        pods: its pods.
        gone: its pods that went away since the last look.
        queue: what Kueue says of it.
        pulling: uids of pods for which kubelet pulls an image.
        claimed: GPUs that its pods hold by dynamic resource allocation.
        nodes: all nodes by name.
        nodes_known: whether nodes can be read, so that a missing one is really gone.
        deleted: whether the job itself was deleted.
        witnessed: whether that was seen, and with it the job's last state.
        now: unix time.
    """

    job: WorkloadRecord
    parts: tuple[WorkloadRecord, ...]
    pods: tuple[PodRecord, ...]
    gone: tuple[PodRecord, ...]
    queue: QueueRecord | None
    pulling: frozenset[str]
    claimed: int
    nodes: Mapping[str, NodeRecord]
    nodes_known: bool
    deleted: bool
    witnessed: bool
    now: float

    @property
    def deletion_outcome(self) -> Outcome:
        """How a job ended that was deleted alive. Unseen, it may have come to its own end before."""
        return Outcome.CANCELLED if self.witnessed else Outcome.UNKNOWN

    @property
    def rank_pods(self) -> tuple[PodRecord, ...]:
        """Pods that do the job's work: not those that only submit it to Ray."""
        if self.job.kind != "RayJob":
            return self.pods
        return tuple(pod for pod in self.pods if pod.owner is None or pod.owner.kind != "Job")

    @property
    def live_pods(self) -> list[PodRecord]:
        """Pods that do its work, or are to do it."""
        return [pod for pod in self.rank_pods if pod.phase not in {"Succeeded", "Failed"} and pod.deleting is None]

    @property
    def ranks(self) -> int | None:
        """Pods that it wants at once, by its own word or that of its parts; ``None`` where nobody says."""
        if self.job.ranks is not None:
            return self.job.ranks
        return self._of_part("ranks")

    @property
    def gpus(self) -> int | None:
        """GPUs that it asks for: by its own word, by its parts, or by its pods."""
        own = self.job.gpus
        if own is None:
            own = self._of_part("gpus")
        if own:
            return own
        held = self.claimed + sum(pod.gpus for pod in self.rank_pods if pod.phase not in {"Succeeded", "Failed"})
        return held or own

    @property
    def queued(self) -> bool:
        """Whether it waits for quota."""
        if any(pod.gated for pod in self.pods):
            return True
        if self.queue is not None:
            return self.queue.active and not self.queue.admitted
        return self.job.suspended and bool(self.job.queue)

    @property
    def suspended(self) -> bool:
        """Whether somebody holds it back for another reason."""
        return self.job.suspended or (self.queue is not None and not self.queue.active)

    @property
    def restarts(self) -> int | None:
        """Restarts that its controller, or that of its only part, counts."""
        return self.job.restarts if self.job.restarts is not None else self._of_part("restarts")

    def ready_ranks(self) -> int:
        """Ranks that run, and those that are done where these still count."""
        ready = sum(pod.ready is not None and pod.deleting is None for pod in self.rank_pods)
        if not self.job.finished_ranks_count:
            return ready
        return ready + sum(pod.phase == "Succeeded" for pod in self.rank_pods)

    def all_ranks_ready(self) -> bool:
        """Whether every rank runs."""
        ready, ranks = self.ready_ranks(), self.ranks
        if ranks is None:
            ranks = sum(pod.phase not in {"Succeeded", "Failed"} for pod in self.rank_pods)
            return 0 < ranks <= ready
        return ready >= ranks and bool(self.rank_pods)

    def _of_part(self, field: str) -> int | None:
        """Of the only part directly below, such as the JobSet of a TrainJob."""
        below = [part for part in self.parts if part.owner is not None and part.owner.uid == self.job.uid]
        values: list[int | None] = [getattr(part, field) for part in below if part.kind in {"JobSet", "RayCluster"}]
        return values[0] if len(values) == 1 else None
