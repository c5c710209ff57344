"""The forms in which kubelet names a GPU, a MIG device, or a share of one.

======================================  ==========================================================================
``GPU-<uuid>``                          NVIDIA's device plugin, a whole GPU
``MIG-<uuid>``                          NVIDIA's device plugin, a MIG device
``MIG-GPU-<uuid>/<gi>/<ci>``            a MIG device in the form of drivers before R470
``<any of these>::<n>``                 replica n of a GPU that is shared by time-slicing or MPS
``<GPU uuid>/vgpu<n>``                  share n of a GPU, GKE
``nvidia<m>``, ``nvidia<m>/gi<g>``      GKE's device plugin: device minor m, GPU instance g
``nvidia<m>[/gi<g>]/vgpu<n>``           share n of it
``gpu-<m>``                             NVIDIA's DRA driver: device minor m
``gpu-<m>-mig-<profile>-<id>-<start>``  its MIG device: profile (``1g10gb``), profile id, placement
``gpu-<m>-mig-<id>-<start>-<size>``     the same, as releases before 25.12 name it
======================================  ==========================================================================
"""

import re
from dataclasses import dataclass

__all__ = ["DeviceId", "parse_device_id", "parse_dra_device"]

_HEX = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_REPLICA = re.compile(r"(.+?)::([0-9]{1,6})", re.DOTALL)
_UUID = re.compile(rf"(GPU|MIG)-({_HEX})(?:/vgpu([0-9]{{1,6}}))?")
_LEGACY_MIG = re.compile(rf"MIG-(GPU-{_HEX})/([0-9]{{1,3}})/([0-9]{{1,3}})")
_MINOR = re.compile(r"nvidia([0-9]{1,4})(?:/gi([0-9]{1,3}))?(?:/vgpu([0-9]{1,6}))?")
_DRA = re.compile(r"gpu-([0-9]{1,4})(?:-mig-(.+))?")
_DRA_PROFILE = re.compile(r"((?:[0-9]c)?[0-9]g[0-9]{1,4}gb(?:-[a-z]+(?:\.[a-z]+)?)*)-[0-9]{1,3}-[0-9]{1,3}")
_DRA_NUMBERS = re.compile(r"([0-9]{1,3})-[0-9]{1,3}-[0-9]{1,3}")
# Profile ids that the driver gives on GPUs with seven slices; nvidia-smi mig -lgip shows them.
_SLICES_OF_ID = {0: 7, 5: 4, 9: 3, 14: 2, 15: 1, 19: 1, 20: 1}


@dataclass(frozen=True, slots=True)
class DeviceId:
    """What an id says of its device; ``None`` and empty where it says nothing.

    Attributes:
        gpu_uuid: of a whole GPU, or of the parent of a MIG device.
        mig_uuid: of a MIG device.
        minor: device minor of the GPU; ``/dev/nvidia<minor>``, neither NVML's index nor CUDA's.
        gi: GPU instance id.
        ci: compute instance id.
        profile: of a MIG device, in letters and digits only: ``1g10gb``, ``1g10gbme``.
        slices: compute slices of a MIG device of which no more is known.
        replica: number of the share, where the device is shared.
    """

    gpu_uuid: str = ""
    mig_uuid: str = ""
    minor: int | None = None
    gi: int | None = None
    ci: int | None = None
    profile: str = ""
    slices: int | None = None
    replica: str = ""


def parse_device_id(text: str) -> DeviceId | None:
    """Reads the id of a device plugin; ``None`` when it is no GPU's."""
    replica = ""
    if shared := _REPLICA.fullmatch(text):
        text, replica = shared[1], shared[2]
    if found := _UUID.fullmatch(text):
        uuid = f"{found[1]}-{found[2].lower()}"
        share = replica or found[3] or ""
        return DeviceId(gpu_uuid=uuid, replica=share) if found[1] == "GPU" else DeviceId(mig_uuid=uuid, replica=share)
    if found := _LEGACY_MIG.fullmatch(text):
        uuid = "GPU-" + found[1].removeprefix("GPU-").lower()
        return DeviceId(gpu_uuid=uuid, gi=int(found[2]), ci=int(found[3]), replica=replica)
    if found := _MINOR.fullmatch(text):
        gi = int(found[2]) if found[2] else None
        return DeviceId(minor=int(found[1]), gi=gi, replica=replica or found[3] or "")
    return None


def parse_dra_device(text: str) -> DeviceId | None:
    """Reads the name of a device of NVIDIA's DRA driver; ``None`` when it is no GPU's."""
    found = _DRA.fullmatch(text)
    if found is None:
        return None
    minor, mig = int(found[1]), found[2]
    if mig is None:
        return DeviceId(minor=minor)
    if named := _DRA_PROFILE.fullmatch(mig):
        return DeviceId(minor=minor, profile=plain_profile(named[1]))
    if numbered := _DRA_NUMBERS.fullmatch(mig):
        slices = _SLICES_OF_ID.get(int(numbered[1]))
        return None if slices is None else DeviceId(minor=minor, slices=slices)
    return None


def plain_profile(profile: str) -> str:
    """A MIG profile in letters and digits only, so that ``1g.10gb+me`` and ``1g10gb-me`` are the same."""
    return re.sub(r"[^0-9a-z]", "", profile.lower())
