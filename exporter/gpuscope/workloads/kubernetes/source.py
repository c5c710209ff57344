"""Jobs of a Kubernetes cluster, as its API server tells of them."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import msgspec

from gpuscope.workloads.kubernetes.discovery import installed
from gpuscope.workloads.kubernetes.failure import ApiFailure
from gpuscope.workloads.kubernetes.present import Present, nodes
from gpuscope.workloads.kubernetes.read_pod import read_claim, read_event, read_node, read_pod
from gpuscope.workloads.kubernetes.read_workload import FactLabels, WorkloadReader, read_queue_workload
from gpuscope.workloads.kubernetes.records import Record
from gpuscope.workloads.kubernetes.reflector import Pace, Reflector
from gpuscope.workloads.kubernetes.resources import CLAIM, EVENT, NODE, POD, QUEUE_WORKLOAD, WORKLOADS, Place, Resource
from gpuscope.workloads.kubernetes.session import Session
from gpuscope.workloads.kubernetes.store import ObjectStore, Snapshot
from gpuscope.workloads.observation import NOT_YET, JobKey, KnownAttempts, Observation
from gpuscope.workloads.scheduler_clock import SchedulerClock

__all__ = ["KubernetesSource"]

log = logging.getLogger(__name__)

_KINDS = (POD, NODE, EVENT, QUEUE_WORKLOAD, *WORKLOADS)
_PATIENCE_S = 30.0
"""An interruption of the connection that is shorter makes no state unknown."""


class KubernetesSource:
    """Keeps a picture of all jobs, and tells it on request.

    One thread watches each kind that the cluster has; another looks for kinds that come and go. Needs ``get``, ``list``
    and ``watch`` on what it is to see, and nothing else; a kind that it may not read is left out and counted.

    Args:
        session: the way to the API; closed by ``stop``.
        labels: labels that say whose a job is.
        known: what was told of a job's attempts before the collector restarted, so that their numbers go on.
        pace: how often and how patiently the API is asked.
        clock: tells unix time, the same that ``observe`` is given.
        settle_s: the end of a job or an attempt is told so long after it was first seen, with its true time. Kinds are
            watched apart: a job's failure may be heard of before the exit codes of its pods.
        dra: whether GPUs that dynamic resource allocation gave to pods are to be counted; it watches ResourceClaims.
        namespaces: only these are watched, each for itself, so that Roles in them are enough; none watches all.
    """

    name = "kubernetes"

    def __init__(
        self, session: Session, labels: FactLabels | None = None,
        known: Callable[[JobKey], KnownAttempts | None] | None = None,
        pace: Pace | None = None, clock: Callable[[], float] = time.time, settle_s: float = 5.0, dra: bool = False,
        namespaces: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._session = session
        self._reader = WorkloadReader(labels or FactLabels())
        self._pace = pace or Pace()
        self._clock = clock
        self._kinds = (*_KINDS, CLAIM) if dra else _KINDS
        self._namespaces = tuple(dict.fromkeys(namespaces))
        self._store = ObjectStore()
        self._present = Present(partial(_on_their_clock, session.clock, known or (lambda _: None)), settle_s)
        self._reflectors: dict[Place, Reflector] = {}
        self._found: dict[Place, Resource] = {}
        self._discovered = False
        self._whole = False
        self._failure: ApiFailure | None = None
        self._stands, self._of_all = "", False
        self._stop = threading.Event()
        self._discovery = threading.Thread(target=self._look_for_kinds, name="kubernetes-discovery", daemon=True)

    def start(self) -> None:
        """Begins to watch; returns at once, whether the server answers or not."""
        self._discovery.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """Ends all watches and closes the connections."""
        self._stop.set()
        for reflector in list(self._reflectors.values()):
            reflector.stop()
        self._session.interrupt()
        until = time.monotonic() + timeout_s
        for thread in (self._discovery, *self._reflectors.values()):
            if thread.is_alive():
                thread.join(max(until - time.monotonic(), 0.0))
        self._session.close()

    def observe(self, now: float) -> Observation:
        """Everything that is known now. A job that was deleted since the last call is in it once more, as ended.

        Until everything was read once there is no job in it. While a kind cannot be read, its last known
        objects stay and the answer is not complete; after 30 s the states of its jobs, and when it is pods those of all
        jobs, are unknown. A kind that may not be read is no part of the answer, and does not make it incomplete.
        ``problems`` counts since the last call.
        """
        snapshot, offset = self._store.take(), self._session.clock.offset
        if not self._started_well(snapshot):
            reason = self._reason(snapshot, complete=False)
            return Observation(
                "kubernetes", now, complete=False, reason=reason, problems=snapshot.problems, clock_offset=offset
            )
        broken = {place for place, health in snapshot.health.items() if health.broken_since is not None}
        denied = {place for place, health in snapshot.health.items() if health.denied}
        lost = {place for place in broken if self._long_broken(snapshot, place, now)}
        there = now + (offset or 0.0)  # what objects tell is told by the cluster's clock
        jobs, pods = self._present.jobs(snapshot, there, frozenset(denied | lost | self._unlisted(snapshot)))
        complete = self._discovered and not (broken - denied) and not self._unlisted(snapshot) - denied
        return Observation(
            source="kubernetes",
            at=now,
            jobs=tuple(jobs),
            nodes=tuple(nodes(snapshot)),
            complete=complete,
            reason=self._reason(snapshot, complete=complete),
            problems=snapshot.problems,
            pods=pods,
            clock_offset=offset,
        )

    def _reason(self, snapshot: Snapshot, *, complete: bool) -> str:
        """Why something cannot be read that may be read; the first and most telling reason stays while that is so."""
        if complete:
            self._stands, self._of_all = "", False
            return ""
        reason, of_all = self._reason_now(snapshot)
        if reason and (not self._stands or (of_all and not self._of_all)):
            self._stands, self._of_all = reason, of_all
        if self._stands:
            return self._stands
        lists = ", ".join(sorted({place.kind for place in self._unlisted(snapshot)}))
        return f"{NOT_YET}: lists {lists}" if lists else NOT_YET

    def _reason_now(self, snapshot: Snapshot) -> tuple[str, bool]:
        """One line, whichever kind met it first, and whether it concerns all kinds."""
        failures = {place: one.failure for place, one in snapshot.health.items() if one.failure and not one.denied}
        every = [failure for failure in (self._failure, *failures.values()) if failure is not None and failure.of_all]
        if every:
            return min(f"{failure.reason}: {failure.detail}" for failure in every), True
        if self._failure is not None:
            return f"{self._failure.reason}: {self._failure.detail}", False
        return ", ".join(sorted({f"{place.kind}: {failure.reason}" for place, failure in failures.items()})), False

    def _started_well(self, snapshot: Snapshot) -> bool:
        """Whether every kind was listed once, or cannot be. Without its pods a job's attempts would be told wrong."""
        if not self._whole and self._discovered:
            tried = {place for place, health in snapshot.health.items() if health.denied or health.broken_since}
            waits = self._unlisted(snapshot) - tried
            pods = [snapshot.health.get(place) for place in self._found if place.kind == POD.name]
            self._whole = not waits and all(one is not None and (one.listed or one.denied) for one in pods)
        return self._whole

    @staticmethod
    def _long_broken(snapshot: Snapshot, place: Place, now: float) -> bool:
        since = snapshot.health[place].broken_since
        return since is not None and now - since >= _PATIENCE_S

    def _unlisted(self, snapshot: Snapshot) -> set[Place]:
        health = snapshot.health
        return {place for place in self._found if place not in health or not health[place].listed}

    def _look_for_kinds(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                known = {place.kind: resource for place, resource in self._found.items()}
                found = installed(self._session, self._kinds, known)
            except ApiFailure as failure:
                self._store.count(f"{failure.reason}:discovery")
                self._failure = failure
                self._stop.wait(min(self._pace.retry_limit_s, self._pace.retry_s * 2.0 ** min(failures, 10)))
                failures += 1
                continue
            failures, self._failure = 0, None
            self._adopt({one.place: one for resource in found.values() for one in self._places(resource)})
            self._discovered = True
            self._stop.wait(self._pace.discovery_s)

    def _places(self, resource: Resource) -> list[Resource]:
        if not resource.kind.namespaced or not self._namespaces:
            return [replace(resource, namespace="")]
        return [replace(resource, namespace=one) for one in self._namespaces]

    def _adopt(self, found: dict[Place, Resource]) -> None:
        before, self._found = self._found, found
        for place in before.keys() - found.keys():
            log.info("kubernetes: %s is not installed any more", place.kind)
            self._end(place)
            self._store.forget(place)
        for place, resource in found.items():
            if before.get(place) != resource and not self._stop.is_set():
                self._end(place)
                log.info("kubernetes: watches %s", resource.path)
                read = self._read(place.kind)
                reflector = Reflector(self._session, resource, read, self._store, self._pace, self._clock)
                self._reflectors[place] = reflector
                reflector.start()

    def _end(self, place: Place) -> None:
        reflector = self._reflectors.pop(place, None)
        if reflector is not None:
            reflector.stop()

    def _read(self, kind: str) -> Callable[[msgspec.Raw], Record | None]:
        known: dict[str, Callable[[msgspec.Raw], Record | None]] = {
            "Pod": read_pod, "Node": read_node, "Event": read_event, "Workload": read_queue_workload,
            "ResourceClaim": read_claim,
        }  # fmt: skip
        return known.get(kind) or (lambda raw: self._reader.read(kind, raw))


def _on_their_clock(
    clock: SchedulerClock, known: Callable[[JobKey], KnownAttempts | None], key: JobKey
) -> KnownAttempts | None:  # fmt: skip
    """What was told of a job's attempts, with the time of the last look on the cluster's clock."""
    told = known(key)
    if told is None or told.seen_at is None:
        return told
    return told._replace(seen_at=told.seen_at + (clock.offset or 0.0))
