from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.attribution.device_id import parse_device_id, parse_dra_device
from gpuscope.attribution.devices import Devices
from gpuscope.attribution.pod_resources import holds
from gpuscope.nvml.identity import GpuIdentity
from gpuscope.podresources import ListPodResourcesResponse

NAMES = sorted(file.stem for file in (Path(__file__).parent / "pod_resources").glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_answer_names_who_holds_what(name: str, recorded, devices: Devices) -> None:
    answer, case = recorded(name)
    found, problems, _ = holds(answer, devices)
    told = {uuid: [[*hold.holder, hold.resource, hold.replica] for hold in held] for uuid, held in found.items()}
    assert told == case["holds"]
    assert [list(problem) for problem in problems] == case["problems"]


def test_the_same_container_is_told_once_for_each_share(recorded, devices: Devices) -> None:
    answer, _ = recorded("time-sliced")
    found, *_ = holds(answer, devices, lambda namespace, pod: f"{namespace}-{pod}")
    (held,) = found.values()
    assert [(hold.holder.pod, hold.replica) for hold in held] == [("nb-a", "0"), ("nb-a", "3"), ("nb-b", "1")]
    assert {hold.pod_uid for hold in held} == {"dev-nb-a", "dev-nb-b"}


def test_an_index_is_never_taken_for_a_device_minor(devices: Devices) -> None:
    # Minor 4 is index 0: a name that says 0 or 1 means no GPU of this machine.
    answer = ListPodResourcesResponse()
    container = answer.pod_resources.add(namespace="n", name="p").containers.add(name="c")
    container.devices.add(resource_name="nvidia.com/gpu", device_ids=["nvidia0", "nvidia1"])
    found, problems, _ = holds(answer, devices)
    assert (found, [problem.reason for problem in problems]) == ({}, ["unknown_device", "unknown_device"])


def test_a_mig_profile_with_attributes_is_found(devices: Devices, gpus: list[GpuIdentity], mig) -> None:
    extra = type(mig[0])("MIG-media", 3, 9, 0, "1g.10gb+me")
    more = Devices({gpus[3]: (*mig, extra)})
    device = more.find(parse_dra_device("gpu-7-mig-1g10gb-me-20-6"))
    assert getattr(device, "mig", None) == extra


@given(st.text(max_size=80))
def test_any_text_is_an_id_or_none(text: str) -> None:
    for parsed in (parse_device_id(text), parse_dra_device(text)):
        assert parsed is None or parsed.gpu_uuid or parsed.mig_uuid or parsed.minor is not None


@given(st.uuids(), st.integers(0, 99_999), st.booleans())
def test_a_replica_names_the_device_of_the_whole(uuid, replica: int, is_mig: bool) -> None:
    text = f"{'MIG' if is_mig else 'GPU'}-{uuid}"
    whole, share = parse_device_id(text), parse_device_id(f"{text}::{replica}")
    assert (whole.gpu_uuid, whole.mig_uuid) == (share.gpu_uuid, share.mig_uuid)
    assert (whole.replica, share.replica) == ("", str(replica))
