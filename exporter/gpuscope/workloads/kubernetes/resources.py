"""The kinds that are watched, and the versions of them that are understood."""

from dataclasses import dataclass
from typing import NamedTuple

__all__ = [
    "BATCH_JOB",
    "CLAIM",
    "EVENT",
    "KIND_NAMES",
    "NODE",
    "POD",
    "QUEUE_WORKLOAD",
    "WORKLOADS",
    "Place",
    "Resource",
    "WatchedKind",
]


@dataclass(frozen=True, slots=True)
class WatchedKind:
    """A kind of object.

    Attributes:
        name: ``PyTorchJob``.
        group: API group, empty for the core.
        plural: its name in addresses.
        versions: those whose fields are known, the best first.
        field_selector: only objects that match it are asked for.
        namespaced: whether its objects are in namespaces.
    """

    name: str
    group: str
    plural: str
    versions: tuple[str, ...] = ("v1",)
    field_selector: str = ""
    namespaced: bool = True


class Place(NamedTuple):
    """Objects of a kind, of one namespace or of all.

    Attributes:
        kind: name of the kind.
        namespace: empty for all.
    """

    kind: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind in the version that this cluster serves, of one namespace or of all."""

    kind: WatchedKind
    version: str
    namespace: str = ""

    @property
    def place(self) -> Place:
        """What it gives."""
        return Place(self.kind.name, self.namespace)

    @property
    def path(self) -> str:
        """Path of the collection."""
        group = f"apis/{self.kind.group}" if self.kind.group else "api"
        namespace = f"namespaces/{self.namespace}/" if self.namespace else ""
        return f"/{group}/{self.version}/{namespace}{self.kind.plural}"

    @property
    def label(self) -> str:
        """Name in counters of problems: plural, with its namespace where not all are watched."""
        return f"{self.namespace}/{self.kind.plural}" if self.namespace else self.kind.plural


POD = WatchedKind("Pod", "", "pods")
NODE = WatchedKind("Node", "", "nodes", namespaced=False)
# Kubelet says in no status that it pulls an image; the selector keeps all other events of a cluster away.
EVENT = WatchedKind("Event", "", "events", field_selector="involvedObject.kind=Pod,reason=Pulling")
BATCH_JOB = WatchedKind("Job", "batch", "jobs")
CLAIM = WatchedKind("ResourceClaim", "resource.k8s.io", "resourceclaims", ("v1", "v1beta2", "v1beta1"))
QUEUE_WORKLOAD = WatchedKind("Workload", "kueue.x-k8s.io", "workloads", ("v1beta2", "v1beta1"))

WORKLOADS = (
    BATCH_JOB,
    WatchedKind("JobSet", "jobset.x-k8s.io", "jobsets", ("v1alpha2",)),
    WatchedKind("PyTorchJob", "kubeflow.org", "pytorchjobs"),
    WatchedKind("TFJob", "kubeflow.org", "tfjobs"),
    WatchedKind("XGBoostJob", "kubeflow.org", "xgboostjobs"),
    WatchedKind("PaddleJob", "kubeflow.org", "paddlejobs"),
    WatchedKind("JAXJob", "kubeflow.org", "jaxjobs"),
    WatchedKind("MPIJob", "kubeflow.org", "mpijobs", ("v2beta1", "v1")),
    WatchedKind("TrainJob", "trainer.kubeflow.org", "trainjobs", ("v1alpha1",)),
    WatchedKind("RayJob", "ray.io", "rayjobs", ("v1", "v1alpha1")),
    WatchedKind("RayCluster", "ray.io", "rayclusters", ("v1", "v1alpha1")),
    WatchedKind("LeaderWorkerSet", "leaderworkerset.x-k8s.io", "leaderworkersets"),
)
"""What can be a job, or a part of one."""

KIND_NAMES = frozenset(kind.name for kind in WORKLOADS)
