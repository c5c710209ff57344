"""What an answer of kubelet says about the devices of this machine."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpuscope.attribution.allocation import Container, PodHold
from gpuscope.attribution.device_id import DeviceId, parse_device_id, parse_dra_device
from gpuscope.attribution.devices import Devices
from gpuscope.attribution.problems import Problem

if TYPE_CHECKING:
    from gpuscope.podresources import ListPodResourcesResponse
    from gpuscope.podresources.messages import ContainerResources

__all__ = ["Holds", "holds"]

_VENDOR = "nvidia.com/"
_DRA_DRIVER = "gpu.nvidia.com"


class Holds(NamedTuple):
    """What an answer says.

    Attributes:
        held: UUID of a device -> what containers hold of it.
        problems: one for each device that could not be found.
        doubtful: UUIDs of the devices between which a name leaves the choice.
    """

    held: Mapping[str, Sequence[PodHold]]
    problems: tuple[Problem, ...]
    doubtful: frozenset[str]


def holds(
    answer: "ListPodResourcesResponse", devices: Devices, uid_of: Callable[[str, str], str] = lambda *_: ""
) -> Holds:
    """Reads an answer.

    Devices of other vendors are passed over. A UUID tells a GPU whatever its resource is called, as resources can be
    renamed; the short forms count only under NVIDIA's names.

    Args:
        answer: of ``List``.
        devices: the devices that exist.
        uid_of: (namespace, pod) -> uid, or empty.
    """
    found: defaultdict[str, dict[PodHold, None]] = defaultdict(dict)
    problems: dict[Problem, None] = {}
    doubtful: set[str] = set()
    for pod in answer.pod_resources:
        uid = uid_of(pod.namespace, pod.name)
        for container in pod.containers:
            who = Container(pod.namespace, pod.name, container.name)
            for name, resource, meant, replica in _devices(container):
                device = "odd_device_id" if meant is None else devices.find(meant)
                if isinstance(device, str):
                    problems[Problem(f"{'/'.join(who)}: {name}", device)] = None
                    doubtful.update(one.uuid for one in (devices.candidates(meant) if meant else ()))
                else:
                    found[device.uuid][PodHold(who, uid, resource, replica)] = None
    return Holds({uuid: tuple(held) for uuid, held in found.items()}, tuple(problems), frozenset(doubtful))


def _devices(container: "ContainerResources") -> Iterator[tuple[str, str, DeviceId | None, str]]:
    for entry in container.devices:
        ours = entry.resource_name.startswith(_VENDOR)
        for text in entry.device_ids:
            name = parse_device_id(text)
            if name is not None and (ours or name.minor is None):
                yield text, entry.resource_name, name, name.replica
            elif ours and name is None and _is_gpu(entry.resource_name):
                yield text, entry.resource_name, None, ""
    for claim in container.dynamic_resources:
        for part in claim.claim_resources:
            text = part.device_name
            parsed: DeviceId | None = None
            driver = part.driver_name
            if driver == _DRA_DRIVER:
                parsed = parse_dra_device(text)
            elif not driver:  # older kubelets give CDI names only
                text, parsed = _cdi(part.cdi_devices)
                driver = _DRA_DRIVER
            resource = f"{driver}/{claim.claim_name}"
            if parsed is not None:
                yield text, resource, parsed, ""
            elif part.driver_name == _DRA_DRIVER:
                yield text, resource, None, ""


def _is_gpu(resource: str) -> bool:
    kind = resource.removeprefix(_VENDOR)
    return kind in {"gpu", "gpu.shared"} or kind.startswith("mig-")


def _cdi(devices: Sequence[object]) -> tuple[str, DeviceId | None]:
    """The GPU in CDI names such as ``k8s.gpu.nvidia.com/claim=<claim uid>-gpu-0``."""
    for device in devices:
        name: str = device.name  # type: ignore[attr-defined]
        kind, _, value = name.partition("=")
        if kind.startswith("k8s.gpu.nvidia.com/") and "gpu-" in value:
            text = value[value.index("gpu-") :]
            return text, parse_dra_device(text)
    return "", None
