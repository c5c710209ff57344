"""Message classes of pod-resources v1; their types stand in the stub beside this file."""

from importlib.resources import files

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

__all__ = ["LIST_METHOD", "SCHEMA", "ListPodResourcesRequest", "ListPodResourcesResponse", "PodResources"]

LIST_METHOD = "/v1.PodResourcesLister/List"
"""gRPC path of the one call that is made."""

SCHEMA = "podresources.binpb"
"""The compiled schema: a ``FileDescriptorSet`` as protoc writes it; `make generate` makes it."""

# A pool of its own: another library may have registered kubelet's own `v1` schema.
_pool = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(files(__package__).joinpath(SCHEMA).read_bytes()).file:
    _pool.Add(_file)


def _message(name: str) -> type:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"v1.{name}"))


ListPodResourcesRequest = _message("ListPodResourcesRequest")
ListPodResourcesResponse = _message("ListPodResourcesResponse")
PodResources = _message("PodResources")
