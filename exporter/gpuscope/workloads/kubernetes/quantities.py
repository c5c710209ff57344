"""GPUs in resource lists, times and messages, as the API writes them."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from gpuscope.workloads.kubernetes.objects import Condition, Container, PodSpec, PodTemplate, Quantity, Resources
from gpuscope.workloads.observation import WHY_LENGTH

__all__ = [
    "condition",
    "gpus_of_list",
    "gpus_of_pod",
    "gpus_of_resources",
    "gpus_of_template",
    "has_gpus",
    "rank_containers",
    "short",
    "unix",
]

_DEVICES = ("nvidia.com/gpu", "nvidia.com/mig-")


def unix(moment: datetime | None) -> float | None:
    """Unix time of a time in an object."""
    return None if moment is None else moment.timestamp()


def short(text: str | None) -> str:
    """A message of the API in one line, and cut where it is longer than anybody reads."""
    line = " ".join((text or "").split())
    return line if len(line) <= WHY_LENGTH else line[: WHY_LENGTH - 1] + "…"


def condition(conditions: Iterable[Condition] | None, name: str) -> Condition | None:
    """The condition of that type if it holds."""
    return next((one for one in conditions or () if one.type == name and one.status == "True"), None)


def has_gpus(quantities: Mapping[str, Quantity] | None) -> bool:
    """Whether a resource list names GPUs or MIG instances at all, be it none of them."""
    return any(name.startswith(_DEVICES) for name in quantities or {})


def gpus_of_list(quantities: Mapping[str, Quantity] | None) -> int:
    """GPUs and MIG instances in a resource list; other resources of the vendor are none."""
    return sum(int(value) for name, value in (quantities or {}).items() if name.startswith(_DEVICES))


def gpus_of_resources(resources: Resources | None) -> int:
    """GPUs of a container. Requests of extended resources equal their limits; one of them may be left out."""
    return 0 if resources is None else gpus_of_list(resources.limits) or gpus_of_list(resources.requests)


def gpus_of_pod(spec: PodSpec | None) -> int:
    """GPUs of all containers. Init containers borrow those of the others."""
    return sum(gpus_of_resources(one.resources) for one in _containers(spec))


def gpus_of_template(template: PodTemplate | None) -> int:
    """GPUs of a pod that is made of it."""
    return 0 if template is None else gpus_of_pod(template.spec)


def rank_containers(spec: PodSpec | None) -> frozenset[str]:
    """Names of the containers that do the pod's work: those with GPUs if any has one, else all."""
    containers = _containers(spec)
    return frozenset(one.name for one in containers if gpus_of_resources(one.resources)) or frozenset(
        one.name for one in containers
    )


def _containers(spec: PodSpec | None) -> list[Container]:
    return [] if spec is None else spec.containers or []
