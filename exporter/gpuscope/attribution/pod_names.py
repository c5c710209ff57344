"""Names of pods and containers from kubelet's log folders; the Kubernetes API is not asked.

``/var/log/pods/<namespace>_<pod>_<uid>/<container>/`` tells a pod's name. Which container has which id stands only in
the names of kubelet's links ``/var/log/containers/<pod>_<namespace>_<container>-<id>.log``; nothing is read but names.
Source: ``pkg/kubelet/kuberuntime/{helpers,legacy}.go`` of Kubernetes.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpuscope.attribution.problems import Problem, Problems, reason_of

__all__ = ["PodContainer", "PodNames"]

_NAME = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_POD = rf"{_NAME}(?:\.{_NAME})*"
_UID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}"
_FOLDER = re.compile(rf"({_NAME})_({_POD})_({_UID})")
_LINK = re.compile(rf"({_POD})_({_NAME})_({_NAME})-([0-9a-f]{{64}})\.log")


@dataclass(frozen=True, slots=True)
class PodContainer:
    """A container by its names; ``container`` is empty when only the pod is known."""

    namespace: str
    pod: str
    container: str = ""


class PodNames:
    """Finds the names that belong to a pod's uid and a container's id.

    Both folders are listed when an id is asked for that is not known, and at most every ``min_interval_s`` seconds.
    It raises nothing: what cannot be read is in ``problems``.

    Args:
        pods: kubelet's folder of pod logs.
        containers: kubelet's folder of links; it may be missing, then a container has a name only where its pod has
            no other.
        clock: seconds that never go back.
        min_interval_s: the shortest time between two listings.
        max_names: so many entries of a folder are looked at.

    Attributes:
        problems: what could not be used, by reason: ``missing``, ``no_permission``, ``odd_name``, ``too_many``, …
    """

    def __init__(
        self,
        pods: Path = Path("/var/log/pods"),
        containers: Path = Path("/var/log/containers"),
        *,
        clock: Callable[[], float] = time.monotonic,
        min_interval_s: float = 5.0,
        max_names: int = 20_000,
    ) -> None:
        self._pods_folder = pods
        self._containers_folder = containers
        self._clock = clock
        self._min_interval_s = min_interval_s
        self._max_names = max_names
        self._listed_at: float | None = None
        self._pods: dict[str, PodContainer] = {}
        self._uids: dict[tuple[str, str], list[str]] = {}
        self._containers: dict[str, PodContainer] = {}
        self.problems = Problems(logging.getLogger(__name__))

    def find(self, pod_uid: str, container_id: str | None = None) -> PodContainer | None:
        """Namespace, pod and container of a process, ``None`` when the pod is not known.

        Args:
            pod_uid: as ``CgroupOwner.pod_uid``.
            container_id: as ``CgroupOwner.container_id``.
        """
        new_pod = pod_uid not in self._pods
        if new_pod or (container_id is not None and container_id not in self._containers):
            self._list_when_due()
        pod, linked = self._pods.get(pod_uid), self._containers.get(container_id or "")
        if pod is None:
            return linked
        if linked is not None and (linked.namespace, linked.pod) == (pod.namespace, pod.pod):
            return linked
        return PodContainer(pod.namespace, pod.pod, self._only_container(pod_uid, pod) if container_id else "")

    def uid(self, namespace: str, pod: str) -> str:
        """The uid of a pod, empty when it is not known, or when a pod of the same name has left its logs there."""
        if (namespace, pod) not in self._uids:
            self._list_when_due()
        uids = self._uids.get((namespace, pod), ())
        return uids[0] if len(uids) == 1 else ""

    def _list_when_due(self) -> None:
        now = self._clock()
        if self._listed_at is not None and now - self._listed_at < self._min_interval_s:
            return
        self._listed_at = now
        found: list[Problem] = []
        # Names change less often than folders fail: what was known stays until the next listing that works.
        with suppress(OSError):
            pods = {}
            uids: dict[tuple[str, str], list[str]] = {}
            for name in self._names(self._pods_folder, found, required=True):
                match = _FOLDER.fullmatch(name)
                if match:
                    pods[match[3]] = PodContainer(match[1], match[2])
                    uids.setdefault((match[1], match[2]), []).append(match[3])
                elif not name.startswith("."):
                    found.append(Problem(str(self._pods_folder / name), "odd_name"))
            self._pods, self._uids = pods, uids
        with suppress(OSError):
            containers = {}
            for name in self._names(self._containers_folder, found, required=False):
                match = _LINK.fullmatch(name)
                if match:
                    containers[match[4]] = PodContainer(match[2], match[1], match[3])
                elif name.endswith(".log"):
                    found.append(Problem(str(self._containers_folder / name), "odd_name"))
            self._containers = containers
        self.problems.report(found)

    def _names(self, folder: Path, found: list[Problem], *, required: bool) -> Iterator[str]:
        try:
            with os.scandir(folder) as entries:
                for number, entry in enumerate(entries):
                    if number == self._max_names:
                        found.append(Problem(str(folder), "too_many"))
                        return
                    yield entry.name
        except OSError as error:
            if required or reason_of(error) != "missing":
                found.append(Problem(str(folder), reason_of(error)))
            raise

    def _only_container(self, uid: str, pod: PodContainer) -> str:
        """The pod's container if it has one only, init containers counted, else empty.

        It looks each time: kubelet makes the next container's folder just before that one starts.
        """
        names: list[str] = []
        with suppress(OSError), os.scandir(self._pods_folder / f"{pod.namespace}_{pod.pod}_{uid}") as entries:
            names = [entry.name for entry in entries if entry.is_dir() and re.fullmatch(_NAME, entry.name)]
        return names[0] if len(names) == 1 else ""
