"""Pods, nodes and events of the API -> what is kept of them."""

import msgspec

from gpuscope.workloads.kubernetes.objects import Claim, ContainerStatus, Event, Meta, Node, Pod, PodSpec, PodStatus
from gpuscope.workloads.kubernetes.quantities import (
    condition,
    gpus_of_list,
    gpus_of_pod,
    has_gpus,
    rank_containers,
    short,
    unix,
)
from gpuscope.workloads.kubernetes.records import ClaimRecord, ContainerEnd, NodeRecord, Owner, PodRecord, PullRecord
from gpuscope.workloads.kubernetes.resources import KIND_NAMES
from gpuscope.workloads.observation import NodeState

__all__ = ["read_claim", "read_event", "read_node", "read_owner", "read_pod"]

_ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
_SET_NAME = "leaderworkerset.sigs.k8s.io/name"
_POOLS = (
    "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool", "sagemaker.amazonaws.com/instance-group-name",
)  # fmt: skip
_MAINTENANCE = ("maintenance", "impending-node-termination", "karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler")
_NORMAL = frozenset({None, "", "ContainerCreating", "PodInitializing"})
_DRIVER = "gpu.nvidia.com"
_MESSAGE = 200

_pods = msgspec.json.Decoder(Pod)
_nodes = msgspec.json.Decoder(Node)
_claims = msgspec.json.Decoder(Claim)
_events = msgspec.json.Decoder(Event)


def read_owner(meta: Meta) -> Owner | None:
    """The controller of an object, or its only owner."""
    owners = meta.owner_references or []
    found = [one for one in owners if one.controller] or owners[:1]
    return Owner(found[0].kind, found[0].name, found[0].uid) if found else None


def read_pod(raw: msgspec.Raw) -> PodRecord | None:
    """What is kept of a pod; ``None`` for one that belongs to no job and holds no GPU.

    Raises:
        msgspec.ValidationError, ValueError: an object that is none of the API.
    """
    pod = _pods.decode(raw)
    meta, spec, status = pod.metadata, pod.spec or PodSpec(), pod.status or PodStatus()
    labels = meta.labels or {}
    owner = read_owner(meta)
    gpus = gpus_of_pod(spec)
    set_name = labels.get(_SET_NAME, "")
    if not gpus and not set_name and (owner is None or owner.kind not in KIND_NAMES):
        return None
    names = rank_containers(spec)
    works = [one for one in status.container_statuses or [] if one.name in names]
    ready = condition(status.conditions, "Ready")
    scheduled = condition(status.conditions, "PodScheduled")
    disrupted = condition(status.conditions, "DisruptionTarget")
    attempt = labels.get(_ATTEMPT, "")
    return PodRecord(
        uid=meta.uid,
        namespace=meta.namespace,
        name=meta.name,
        owner=owner,
        created=unix(meta.creation_timestamp) or 0.0,
        deleting=unix(meta.deletion_timestamp),
        set_name=set_name,
        attempt=int(attempt) if attempt.isdecimal() else None,
        node=spec.node_name or "",
        phase=status.phase or "",
        reason=status.reason or "",
        message=(status.message or "")[:_MESSAGE],
        scheduled=unix(scheduled.last_transition_time) if scheduled else None,
        ready=unix(ready.last_transition_time) if ready else None,
        running=_running(works, len(names)),
        gated=bool(spec.scheduling_gates),
        gpus=gpus,
        waiting=_waiting([*(status.init_container_statuses or []), *works]),
        why=_why(status),
        ends=tuple(_ends(works)),
        disruption=(disrupted.reason or "") if disrupted else "",
        disrupted=unix(disrupted.last_transition_time) if disrupted else None,
    )


def _running(works: list[ContainerStatus], expected: int) -> float | None:
    starts = [unix(one.state.running.started_at) for one in works if one.state and one.state.running]
    known = [start for start in starts if start is not None]
    return max(known) if known and len(known) == expected else None


def _waiting(statuses: list[ContainerStatus]) -> tuple[str, ...]:
    reasons = (one.state.waiting.reason for one in statuses if one.state and one.state.waiting)
    return tuple(dict.fromkeys(reason for reason in reasons if reason))


def _why(status: PodStatus) -> str:
    """Why it has no node, else why a container of it does not start."""
    place = next((one for one in status.conditions or [] if one.type == "PodScheduled"), None)
    if place is not None and place.status != "True":
        return short(place.message or place.reason)
    for one in (*(status.init_container_statuses or []), *(status.container_statuses or [])):
        waiting = one.state.waiting if one.state else None
        if waiting is not None and waiting.reason not in _NORMAL:
            return short(": ".join(part for part in (waiting.reason, waiting.message) if part))
    return ""


def _ends(works: list[ContainerStatus]) -> list[ContainerEnd]:
    """The end of the present run and that of the one before; kubelet forgets older ones."""
    found = []
    for one in works:
        before = one.last_state.terminated if one.last_state else None
        now = one.state.terminated if one.state else None
        for end, run in ((before, one.restart_count - 1), (now, one.restart_count)):
            if end is not None:
                found.append(
                    ContainerEnd(
                        one.name, max(run, 0), unix(end.started_at), unix(end.finished_at), end.exit_code,
                        end.signal or 0, end.reason or "",
                    )
                )  # fmt: skip
    return found


def read_node(raw: msgspec.Raw) -> NodeRecord:
    """What is kept of a node. What its controller does not hear of for 40 s is ``Unknown`` there, and down here.

    Raises:
        msgspec.ValidationError, ValueError: an object that is none of the API.
    """
    node = _nodes.decode(raw)
    meta = node.metadata
    taints = (node.spec.taints if node.spec else None) or []
    cordoned = bool(node.spec and node.spec.unschedulable)
    conditions = (node.status.conditions if node.status else None) or []
    planned = [taint for taint in taints if any(word in taint.key for word in _MAINTENANCE)]
    ready = next((one for one in conditions if one.type == "Ready"), None)
    state, reason, since = NodeState.READY, "", None
    if planned:
        state, reason, since = NodeState.MAINTENANCE, planned[0].key, unix(planned[0].time_added)
    elif cordoned:
        added = [unix(taint.time_added) for taint in taints if taint.key == "node.kubernetes.io/unschedulable"]
        state, reason, since = NodeState.DRAINING, "cordoned", next(iter(added), None)
    if ready is None:
        state, reason = NodeState.UNKNOWN, "no Ready condition"
    elif ready.status != "True":
        state, reason, since = NodeState.DOWN, ready.reason or "", unix(ready.last_transition_time)
    allocatable = node.status.allocatable if node.status else None
    labels = meta.labels or {}
    return NodeRecord(
        meta.uid, meta.name, state, reason, since, bool(planned) or cordoned,
        gpus_of_list(allocatable) if has_gpus(allocatable) else None,
        next((labels[name] for name in _POOLS if name in labels), ""),
    )  # fmt: skip


def read_event(raw: msgspec.Raw) -> PullRecord | None:
    """Which pod pulls an image.

    Raises:
        msgspec.ValidationError: an object that is none of the API.
    """
    event = _events.decode(raw)
    uid = event.involved_object.uid
    return PullRecord(event.metadata.uid, uid) if uid else None


def read_claim(raw: msgspec.Raw) -> ClaimRecord | None:
    """Which GPUs a claim holds, and for whom; ``None`` for one without GPUs.

    Raises:
        msgspec.ValidationError: an object that is none of the API.
    """
    claim = _claims.decode(raw)
    allocation = claim.status.allocation if claim.status else None
    results = (allocation.devices.results if allocation and allocation.devices else None) or []
    # Who looks after devices may see them while others hold them.
    gpus = sum(one.driver == _DRIVER and not one.admin_access for one in results)
    users = (claim.status.reserved_for if claim.status else None) or []
    pods = tuple(one.uid for one in users if one.resource == "pods")
    return ClaimRecord(claim.metadata.uid, gpus, pods) if gpus else None
