"""Four GPUs, whose device minors are not their indexes; the last one is in MIG mode."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from gpuscope.attribution.attributor import AttributionOptions, Attributor
from gpuscope.attribution.devices import Devices
from gpuscope.attribution.look import Look
from gpuscope.nvml.identity import GpuIdentity, MigInstance
from gpuscope.podresources import ListPodResourcesResponse
from gpuscope.simulate.kubelet import SimulatedKubelet

ANSWERS = Path(__file__).parent / "pod_resources"
GPUS = [
    GpuIdentity(index, f"GPU-{index}0000000-1111-2222-3333-444444444444", "NVIDIA H100 80GB HBM3", minor=str(4 + index))
    for index in range(4)
]
MIG = tuple(
    MigInstance(f"MIG-{letter}0000000-aaaa-bbbb-cccc-dddddddddddd", index, gi, 0, profile)
    for index, (letter, gi, profile) in enumerate([("a", 2, "3g.40gb"), ("b", 7, "1g.10gb"), ("c", 8, "1g.10gb")])
)


def _looks(**changed: Any) -> list[Look]:
    """All GPUs, up and idle; ``changed`` holds for every one."""
    fields: dict[str, Any] = {"up": True, "mig_enabled": False, **changed}
    partitioned = {**fields, "mig_enabled": True, "mig": MIG}
    return [Look(gpu, **(partitioned if gpu is GPUS[3] else fields)) for gpu in GPUS]


@pytest.fixture
def gpus() -> list[GpuIdentity]:
    return GPUS


@pytest.fixture
def mig() -> tuple[MigInstance, ...]:
    return MIG


@pytest.fixture
def looks():
    return _looks


@pytest.fixture
def devices() -> Devices:
    return Devices().updated(_looks())


@pytest.fixture
def recorded():
    """Reads a recorded answer of kubelet, and what it means, by name."""

    def read(name: str) -> tuple[ListPodResourcesResponse, dict[str, Any]]:
        case = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
        return json_format.ParseDict(case["answer"], ListPodResourcesResponse()), case

    return read


Series = dict[str, dict[tuple[str, ...], float]]


def _series(attributor: Attributor) -> Series:
    """Metric name -> labels -> value."""
    found: Series = {}
    for metric, labels, value in attributor.samples():
        assert labels not in found.setdefault(metric.name, {}), f"{metric.name}{labels} twice"
        found[metric.name][labels] = value
    return found


def _pods(*held: tuple[str, str]) -> ListPodResourcesResponse:
    """(pod, device id) -> kubelet's answer."""
    answer = ListPodResourcesResponse()
    for pod, device in held:
        container = answer.pod_resources.add(namespace="ml", name=pod).containers.add(name="main")
        container.devices.add(resource_name="nvidia.com/gpu", device_ids=[device])
    return answer


@pytest.fixture
def kubelet(tmp_path: Path) -> Iterator[SimulatedKubelet]:
    with SimulatedKubelet(tmp_path / "k.sock") as one:
        yield one


@pytest.fixture
def attribute(tmp_path: Path, looks) -> Iterator[Callable[..., Attributor]]:
    made: list[Attributor] = []

    def make(**options) -> Attributor:
        fields = {"kubelet_socket": tmp_path / "k.sock", "pod_logs": tmp_path / "pods", **options}
        one = Attributor(AttributionOptions(**fields), looks)
        made.append(one)
        return one

    yield make
    for one in made:
        if one._kubelet is not None:
            one._kubelet.close()


@pytest.fixture
def series() -> Callable[[Attributor], Series]:
    return _series


@pytest.fixture
def pods() -> Callable[..., ListPodResourcesResponse]:
    return _pods
