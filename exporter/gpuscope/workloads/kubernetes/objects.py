"""The fields of pods, nodes, events and metadata that are read; everything else in an object is never decoded.

Field names are those of the API: https://kubernetes.io/docs/reference/kubernetes-api/.
"""

from datetime import datetime

import msgspec

__all__ = [
    "Claim", "Condition", "Container", "ContainerState", "ContainerStatus", "Event", "Meta", "Node", "Pod",
    "PodTemplate", "Terminated",
]  # fmt: skip

Quantity = int | float | str


class Fields(msgspec.Struct, rename="camel", gc=False):
    """Base of what is decoded and thrown away again."""


class OwnerReference(Fields):
    kind: str
    name: str
    uid: str
    controller: bool | None = None


class Meta(Fields):
    name: str
    uid: str
    namespace: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class Condition(Fields):
    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: datetime | None = None


class Resources(Fields):
    limits: dict[str, Quantity] | None = None
    requests: dict[str, Quantity] | None = None


class Container(Fields):
    name: str
    resources: Resources | None = None


class PodSpec(Fields):
    node_name: str | None = None
    containers: list[Container] | None = None
    priority_class_name: str | None = None
    scheduling_gates: list[dict[str, str]] | None = None
    resource_claims: list[dict[str, str]] | None = None


class PodTemplate(Fields):
    spec: PodSpec | None = None


class Waiting(Fields):
    reason: str | None = None
    message: str | None = None


class Running(Fields):
    started_at: datetime | None = None


class Terminated(Fields):
    exit_code: int
    signal: int | None = None
    reason: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


class ContainerState(Fields):
    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(Fields):
    name: str
    restart_count: int = 0
    state: ContainerState | None = None
    last_state: ContainerState | None = None


class PodStatus(Fields):
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None


class Pod(Fields):
    metadata: Meta
    spec: PodSpec | None = None
    status: PodStatus | None = None


class Taint(Fields):
    key: str
    effect: str = ""
    time_added: datetime | None = None


class NodeSpec(Fields):
    unschedulable: bool | None = None
    taints: list[Taint] | None = None


class NodeStatus(Fields):
    allocatable: dict[str, Quantity] | None = None
    conditions: list[Condition] | None = None


class Node(Fields):
    metadata: Meta
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class AllocatedDevice(Fields):
    driver: str = ""
    admin_access: bool | None = None


class AllocatedDevices(Fields):
    results: list[AllocatedDevice] | None = None


class Allocation(Fields):
    devices: AllocatedDevices | None = None


class Consumer(Fields):
    resource: str
    uid: str


class ClaimStatus(Fields):
    allocation: Allocation | None = None
    reserved_for: list[Consumer] | None = None


class Claim(Fields):
    metadata: Meta
    status: ClaimStatus | None = None


class Involved(Fields):
    uid: str | None = None


class Event(Fields):
    metadata: Meta
    involved_object: Involved
