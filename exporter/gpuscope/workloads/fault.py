"""What an interruption of a job was: the classes of research on fault classification, as data."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Classification", "Domain", "Scope", "Trigger"]


class Domain(StrEnum):
    """Whose fault it was."""

    WORKLOAD = "workload"
    INFRASTRUCTURE = "infrastructure"
    PLATFORM = "platform"
    PLANNED = "planned"  # preemption, maintenance, a limit or a cancellation by the user: no failure
    UNKNOWN = "unknown"


class Scope(StrEnum):
    """How far it reached."""

    PROCESS = "process"
    GPU = "gpu"
    NODE = "node"
    FABRIC = "fabric"
    STORAGE = "storage"
    JOB = "job"
    CLUSTER = "cluster"
    UNKNOWN = "unknown"


class Trigger(StrEnum):
    """Who started the next attempt."""

    AUTOMATIC = "automatic"
    MANUAL = "manual"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Classification:
    """What an attempt's end was.

    Attributes:
        fault_type: a word such as ``off_bus``, ``host_oom``, ``app_error``, ``none`` for a planned end, ``unknown``.
        domain: whose fault.
        scope: how far it reached.
        confidence: ``high`` for what a kernel, a driver or a scheduler states, ``medium`` for a coincidence in time,
            ``low`` for an inference.
        why: one line for people: what in the evidence decided.
    """

    fault_type: str
    domain: Domain
    scope: Scope
    confidence: str
    why: str
