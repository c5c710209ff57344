"""The JSON shapes of ``/api/v1``; what they mean stands in the OpenAPI document."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from gpuscope.api.allocation import allocation_document
from gpuscope.api.health import not_ready_reason
from gpuscope.api.readings import STATES, Readings, state_of
from gpuscope.catalogue.metric import Level, Sample
from gpuscope.faults.fault import Fault
from gpuscope.nvml.identity import MigInstance
from gpuscope.sampling.snapshot import GpuStatus, Snapshot

__all__ = ["envelope", "fault_document", "gpu_document", "health_document", "mig_documents", "rfc3339"]

Document = dict[str, Any]

_OWN_LABELS = {Level.NODE: 0, Level.GPU: 2, Level.DEVICE: 3, Level.MIG: 5}
_MEMORY = ("total_bytes", "used_bytes", "free_bytes", "reserved_bytes")


def rfc3339(unix_time: float | None) -> str | None:
    """A unix time as text in UTC, with milliseconds."""
    if unix_time is None:
        return None
    return datetime.fromtimestamp(unix_time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def envelope(snapshot: Snapshot) -> Document:
    """What every answer begins with."""
    driver = snapshot.driver
    return {
        "node": snapshot.node,
        "generated_at": rfc3339(snapshot.created),
        "driver": {
            "ok": driver.ok,
            "reason": driver.reason or None,
            "message": driver.message or None,
            "since": rfc3339(driver.since or None),
            "driver_version": driver.driver_version or None,
            "cuda_version": driver.cuda_version or None,
            "nvml_version": driver.nvml_version or None,
            "kernel_module": driver.kernel_module or None,
            "simulated": driver.simulated or None,
        },
    }


def gpu_document(snapshot: Snapshot, status: GpuStatus) -> Document:
    """One GPU with its MIG instances and all readings; what is unknown is ``null``, never 0."""
    identity = status.identity
    readings = Readings(status)
    return {
        "index": identity.index,
        "uuid": identity.uuid,
        "model": identity.model or None,
        "arch": identity.arch or None,
        "pci_bus_id": identity.pci_bus_id or None,
        "minor": identity.minor or None,
        "serial": identity.serial or None,
        "vbios": identity.vbios or None,
        "compute_capability": identity.compute_capability or None,
        "numa_node": identity.numa_node or None,
        "board_part": identity.board_part or None,
        "module_id": identity.module_id or None,
        "state": state_of(status),
        "since": rfc3339(status.since),
        "last_sampled": rfc3339(status.sampled),
        "recovery_action": readings.recovery_action(),
        "mig_enabled": status.mig_enabled,
        "memory": {key: _number(readings.of_gpu(f"memory_{key}")) for key in _MEMORY},
        "utilization_ratio": _number(readings.of_gpu("utilization_ratio")),
        "sm_active_ratio": _number(readings.of_gpu("sm_active_ratio")),
        "power_watts": _number(readings.of_gpu("power_watts")),
        "temperature_celsius": _number(readings.of_gpu("temperature_celsius", "gpu")),
        "allocation": allocation_document(snapshot, identity.uuid),
        "mig_instances": [_mig_document(snapshot, instance, status, readings) for instance in status.mig],
        "readings": _readings(readings.gpu),
    }


def mig_documents(snapshot: Snapshot, status: GpuStatus) -> list[Document]:
    """The MIG instances of one GPU."""
    readings = Readings(status)
    return [_mig_document(snapshot, instance, status, readings) for instance in status.mig]


def _mig_document(snapshot: Snapshot, instance: MigInstance, status: GpuStatus, readings: Readings) -> Document:
    uuid = instance.uuid
    return {
        "uuid": uuid,
        "index": instance.index,
        "gi": instance.gi,
        "ci": instance.ci,
        "profile": instance.profile,
        "gpu_index": status.identity.index,
        "gpu_uuid": status.identity.uuid,
        "gpu_state": state_of(status),
        "memory": {key: _number(readings.of_mig(uuid, f"memory_{key}")) for key in _MEMORY},
        "graphics_active_ratio": _number(readings.of_mig(uuid, "graphics_active_ratio")),
        "sm_active_ratio": _number(readings.of_mig(uuid, "sm_active_ratio")),
        "allocation": allocation_document(snapshot, uuid),
        "readings": _readings(readings.mig[uuid]),
    }


def _readings(samples: Iterable[Sample]) -> list[Document]:
    documents = []
    for metric, labels, value in samples:
        own = _OWN_LABELS[metric.level]
        documents.append(
            {
                "name": metric.name,
                "kind": metric.kind.value,
                "unit": metric.unit.value or None,
                "labels": dict(zip(metric.extra, labels[own:], strict=True)),
                "value": _number(value),
            }
        )
    return documents


def _number(value: float | None) -> float | int | None:
    """Whole numbers without a fraction, so that bytes read as bytes."""
    return int(value) if value is not None and float(value).is_integer() and abs(value) < 1 << 53 else value


def fault_document(fault: Fault, indexes: dict[str, int]) -> Document:
    """One fault; ``indexes`` gives a GPU's index by its UUID."""
    return {
        "kind": fault.kind,
        "code": fault.code,
        "first": rfc3339(fault.first),
        "last": rfc3339(fault.last),
        "count": fault.count,
        "source": fault.source,
        "gpu_uuid": fault.uuid,
        "gpu_index": None if fault.uuid is None else indexes.get(fault.uuid),
        "pci_bus_id": fault.pci_bus_id,
        "gi": fault.gi,
        "ci": fault.ci,
        "meaning": fault.meaning or None,
        "class": fault.fault_class,
        "action": fault.action or None,
        "message": fault.message or None,
    }


def _issue(gpu: GpuStatus) -> str:
    if not gpu.up:
        return f"GPU {gpu.identity.index} is {state_of(gpu)}"
    action = Readings(gpu).recovery_action()
    return "" if action in {None, "none"} else f"GPU {gpu.identity.index}: the driver asks for {action}"


def health_document(snapshot: Snapshot, alive: tuple[bool, str]) -> Document:
    """The node in one word, ``ok``, ``issue`` or ``unknown``, and why.

    ``unknown`` means that nobody looked: the driver is away or the first cycle is not complete. It must not be
    taken for a reason to repair a node.
    """
    states = Counter(state_of(gpu) for gpu in snapshot.gpus)
    found, expected = len(snapshot.gpus), snapshot.expected_gpus
    issues = [issue for gpu in snapshot.gpus if (issue := _issue(gpu))]
    if not alive[0]:
        issues.append(f"the agent is stuck: {alive[1] or 'unknown'}")
    if expected is not None and found < expected and snapshot.driver.ok:
        issues.append(f"{expected - found} of {expected} expected GPUs are missing")
    waiting = not_ready_reason(snapshot)
    status = "unknown" if waiting else "issue" if issues else "ok"
    return {
        **envelope(snapshot),
        "version": snapshot.version,
        "status": status,
        "reasons": [waiting, *issues] if waiting else issues,
        "alive": alive[0],
        "ready": snapshot.ready,
        "gpus": {"expected": expected, "found": found, "by_state": {state: states[state] for state in STATES}},
    }
