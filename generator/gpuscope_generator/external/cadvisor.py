"""cAdvisor in kubelet, as of Kubernetes 1.28 to 1.34. Rows without a container are sums of the pod."""

from __future__ import annotations

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge

__all__ = ["CPU", "CPU_PERIODS", "CPU_PERIODS_THROTTLED", "MEMORY", "OOM_EVENTS", "RECEIVED", "SENT"]

_SOURCE = "cadvisor"
_POD = ("namespace", "pod", "exported_namespace", "exported_pod")
_CONTAINER = (*_POD, "container", "exported_container", "id", "image", "name")

CPU = counter("container_cpu_usage_seconds_total", *_CONTAINER, "cpu", unit=Unit.SECONDS, source=_SOURCE)
CPU_PERIODS = counter("container_cpu_cfs_periods_total", *_CONTAINER, source=_SOURCE)
CPU_PERIODS_THROTTLED = counter("container_cpu_cfs_throttled_periods_total", *_CONTAINER, source=_SOURCE)
MEMORY = gauge("container_memory_working_set_bytes", *_CONTAINER, unit=Unit.BYTES, source=_SOURCE)
OOM_EVENTS = counter("container_oom_events_total", *_CONTAINER, source=_SOURCE)
RECEIVED = counter("container_network_receive_bytes_total", *_POD, "interface", "id", unit=Unit.BYTES, source=_SOURCE)
SENT = counter("container_network_transmit_bytes_total", *_POD, "interface", "id", unit=Unit.BYTES, source=_SOURCE)
