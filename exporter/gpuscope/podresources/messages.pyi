from abc import ABCMeta
from collections.abc import MutableSequence
from typing import Any, TypeVar

from google.protobuf.message import Message

LIST_METHOD: str
SCHEMA: str

_T = TypeVar("_T")

class _Messages(MutableSequence[_T], metaclass=ABCMeta):
    def add(self, **fields: Any) -> _T: ...

class CDIDevice(Message):
    name: str

class ClaimResource(Message):
    cdi_devices: _Messages[CDIDevice]
    driver_name: str
    pool_name: str
    device_name: str

class DynamicResource(Message):
    claim_name: str
    claim_namespace: str
    claim_resources: _Messages[ClaimResource]

class ContainerDevices(Message):
    resource_name: str
    device_ids: MutableSequence[str]

class ContainerResources(Message):
    name: str
    devices: _Messages[ContainerDevices]
    dynamic_resources: _Messages[DynamicResource]

class PodResources(Message):
    name: str
    namespace: str
    containers: _Messages[ContainerResources]
    def __init__(self, **fields: Any) -> None: ...

class ListPodResourcesRequest(Message): ...

class ListPodResourcesResponse(Message):
    pod_resources: _Messages[PodResources]
    def __init__(self, **fields: Any) -> None: ...
