"""Who holds a device, as JSON."""

from typing import Any

from gpuscope.sampling.snapshot import Snapshot

__all__ = ["allocation_document", "held_in", "state_in"]


def allocation_document(snapshot: Snapshot, uuid: str) -> dict[str, Any]:
    """What is known of one GPU's or MIG instance's holders."""
    pods = snapshot.allocation.pods.get(uuid, ())
    jobs = snapshot.allocation.jobs.get(uuid, ())
    return {
        "state": state_in(snapshot, uuid),
        "known": snapshot.allocation.known(uuid).value,
        "pods": [
            {
                "namespace": hold.holder.namespace,
                "pod": hold.holder.pod,
                "container": hold.holder.container or None,
                "pod_uid": hold.pod_uid or None,
                "resource": hold.resource or None,
                "replica": hold.replica or None,
            }
            for hold in pods
        ],
        "jobs": [{"job_id": job.job_id, "user": job.user or None} for job in jobs],
    }


def state_in(snapshot: Snapshot, uuid: str) -> str | None:
    """``busy``, ``idle_allocated`` …; ``None`` for a GPU in MIG mode, whose MIG instances have one each."""
    return snapshot.allocation_states.get(uuid)


def held_in(snapshot: Snapshot, uuid: str) -> frozenset[str]:
    """Namespaces of the pods that hold the device."""
    return frozenset(hold.holder.namespace for hold in snapshot.allocation.pods.get(uuid, ()))
