"""The pods of a scenario.

::

    pods:
      - {namespace: team-llm, name: llama-0, gpus: [0, 1, 2, 3], activity: training}
      - namespace: team-web
        name: chat
        activity: inference
        begin: 60
        end: 660
        every: 900
        containers:
          - {name: server, mig: [4/0, 4/1]}
          - {name: log-shipper}
      - {namespace: team-dra, name: sft, gpus: [5], claim: sft-gpu}
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuscope.simulate.document import Document, Path
from gpuscope.simulate.holding import (
    HOLD_KEYS,
    SPAN_KEYS,
    Hold,
    Slot,
    Span,
    read_activity,
    read_slots,
    read_span,
    read_word,
)

__all__ = ["IDS", "ContainerPlan", "PodPlan", "pod_plans"]

IDS = ("uuid", "legacy", "gke")
"""Forms of device ids that kubelet tells, after the device plugin that made them."""

_CONTAINER_KEYS = ("name", *HOLD_KEYS, "resource", "claim", "ids")
_POD_KEYS = ("namespace", "name", "uid", "containers", *SPAN_KEYS, *_CONTAINER_KEYS)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAME = re.compile(r"(?=.{1,100}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RESOURCE = re.compile(r"[a-z0-9][-a-z0-9.]{0,99}/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_MAX_PODS = 200
_MAX_CONTAINERS = 16


@dataclass(frozen=True, slots=True)
class ContainerPlan:
    """A container and the devices that it holds.

    Attributes:
        resource: name of the resource, where it is not the device plugin's usual one.
        claim: ResourceClaim that the devices come from, instead of a device plugin.
        ids: form of the device ids, one of ``IDS``.
    """

    name: str
    slots: tuple[Slot, ...] = ()
    resource: str | None = None
    claim: str | None = None
    ids: str = "uuid"


@dataclass(frozen=True, slots=True)
class PodPlan:
    """A pod; one that comes again has another name and uid each time.

    Attributes:
        activity: what it does, ``None`` for what the device's own ``job`` says.
        job_name: pods of one name share the phases of their job.
        uid: ``None``: follows from the machine's name.
    """

    namespace: str
    name: str
    containers: tuple[ContainerPlan, ...]
    span: Span
    activity: str | None = None
    job_name: str | None = None
    uid: str | None = None


def pod_plans(document: Document, raw: object) -> list[tuple[PodPlan, Hold]]:
    """Reads the ``pods`` of a scenario.

    Returns:
        Each pod, and what it holds.

    Raises:
        ConfigError: not such a list; names file, line and key.
    """
    found: list[tuple[PodPlan, Hold]] = []
    entries = document.sequence(("pods",), raw, "pods")
    if len(entries) > _MAX_PODS:
        raise document.fail(("pods",), f"{len(entries)} pods; a machine has at most {_MAX_PODS}")
    for number, entry in enumerate(entries):
        path = ("pods", number)
        document.mapping(path, entry, _POD_KEYS)
        namespace = read_word(document, (*path, "namespace"), entry.get("namespace"), _LABEL, "a namespace")
        name = read_word(document, (*path, "name"), entry.get("name"), _NAME, "a pod's name of at most 100 characters")
        span = read_span(document, path, entry)
        containers, slots = _containers(document, path, entry)
        uid = read_word(document, (*path, "uid"), entry["uid"], _UID, "a uid") if "uid" in entry else None
        if uid and span.every:
            raise document.fail((*path, "uid"), "a pod that comes again has another uid each time")
        pod = PodPlan(namespace, name, containers, span, *read_activity(document, path, entry), uid)
        groups = {slot: f"{namespace}/{one.claim}" for one in containers if one.claim for slot in one.slots}
        found.append((pod, Hold(f"{namespace}/{name}", slots, span, document, (*path, "name"), groups)))
    return found


def _containers(
    document: Document, path: Path, entry: Mapping[str, Any]
) -> tuple[tuple[ContainerPlan, ...], tuple[tuple[Slot, Path], ...]]:
    if "containers" not in entry:
        container, slots = _container(document, path, {**entry, "name": "main"})
        return (container,), slots
    for key in _CONTAINER_KEYS[1:]:
        if key in entry:
            raise document.fail((*path, key), "stands in one of the containers, or without containers")
    entries = document.sequence((*path, "containers"), entry["containers"], "containers")
    if not 1 <= len(entries) <= _MAX_CONTAINERS:
        raise document.fail((*path, "containers"), f"a pod has 1 to {_MAX_CONTAINERS} containers")
    plans: list[ContainerPlan] = []
    held: dict[Slot, Path] = {}
    for number, one in enumerate(entries):
        place = (*path, "containers", number)
        document.mapping(place, one, _CONTAINER_KEYS)
        plan, slots = _container(document, place, one)
        if plan.name in {other.name for other in plans}:
            raise document.fail((*place, "name"), f"{plan.name} is there twice")
        shared = plan.claim is not None and plan.claim in {other.claim for other in plans}
        for slot, where in slots:
            # Two containers of a pod may have one device through one claim.
            if slot in held and not shared:
                raise document.fail(where, f"{slot} is held by another container of the pod")
            held.setdefault(slot, where)
        plans.append(plan)
    return tuple(plans), tuple(held.items())


def _container(
    document: Document, path: Path, entry: Mapping[str, Any]
) -> tuple[ContainerPlan, tuple[tuple[Slot, Path], ...]]:
    name = read_word(document, (*path, "name"), entry.get("name"), _LABEL, "a container's name")
    slots = read_slots(document, path, entry)
    resource = claim = None
    if "resource" in entry:
        resource = read_word(document, (*path, "resource"), entry["resource"], _RESOURCE, "a resource's name")
    if "claim" in entry:
        claim = read_word(document, (*path, "claim"), entry["claim"], _NAME, "the name of a ResourceClaim")
        if resource or "ids" in entry:
            raise document.fail((*path, "claim"), "devices of a claim have no resource and no ids of a device plugin")
    ids = document.one_of((*path, "ids"), entry.get("ids", "uuid"), IDS)
    return ContainerPlan(name, tuple(slot for slot, _ in slots), resource, claim, ids), slots
