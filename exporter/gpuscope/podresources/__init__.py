"""kubelet's pod-resources API, version 1: messages and service, made from our own ``podresources.proto``.

The messages are built at run time from the compiled schema beside this file, so that they work with any supported
protobuf release; code that protoc generates is tied to the release that it was generated for.
"""

from gpuscope.podresources.messages import (
    LIST_METHOD,
    ListPodResourcesRequest,
    ListPodResourcesResponse,
    PodResources,
)

__all__ = ["LIST_METHOD", "ListPodResourcesRequest", "ListPodResourcesResponse", "PodResources"]
