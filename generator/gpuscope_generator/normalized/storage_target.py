"""One series a storage target of a file system, such as an OST or an MDT of Lustre; and one a job of its users."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge, info

__all__ = [
    "AVAILABLE",
    "BYTES",
    "CLIENTS_DOWN",
    "DISK_USE",
    "EVENTS",
    "INFO",
    "IN_FLIGHT",
    "IN_FLIGHT_MAX",
    "IO",
    "JOB_BYTES",
    "TARGET",
    "USED",
]

TARGET = ("cluster", "filesystem", "target")

INFO = info("target:info:union", *TARGET, meaning="A storage target that some source reports.")
USED = gauge("target:used:ratio_union", *TARGET, unit=Unit.RATIO, meaning="Share of the target that is used.")
AVAILABLE = gauge("target:available_bytes:union", *TARGET, unit=Unit.BYTES, meaning="Free space of the target.")
BYTES = gauge(
    "target:bytes:rate5m",
    *TARGET,
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="What the server of the target reads and writes a second.",
)
IO = gauge("target:io:rate5m", *TARGET, "kind", meaning="Operations of the target's disks a second: read, write.")
DISK_USE = gauge(
    "target:disk_use:ratio", *TARGET, unit=Unit.RATIO, meaning="Share of the operations that its disks can do."
)
IN_FLIGHT = gauge(
    "target:rpcs_in_flight:sum",
    *TARGET,
    "type",
    meaning="Requests of all clients that wait for an answer of the target: read, write, modify.",
)
IN_FLIGHT_MAX = gauge("target:rpcs_in_flight:max", *TARGET, "type", meaning="The same of the client with most of them.")
CLIENTS_DOWN = gauge("target:clients_down:count", *TARGET, meaning="Clients that are not connected to the target.")
EVENTS = gauge(
    "target:events:rate5m",
    *TARGET,
    "event",
    meaning="Signs of a bad connection on all clients, a second: timeouts, reconnects, evictions.",
)
JOB_BYTES = gauge(
    "job:filesystem_bytes:rate5m",
    "cluster",
    "filesystem",
    "job_id",
    "direction",
    unit=Unit.BYTES_PER_SECOND,
    meaning="What a job reads and writes a second, as the servers of the file system count it.",
)
