"""``/api/v1``: the snapshot as JSON, read-only."""

from collections.abc import Iterable
from typing import Any, ClassVar

from gpuscope.api.allocation import held_in, state_in
from gpuscope.api.documents import envelope, fault_document, gpu_document, health_document, mig_documents
from gpuscope.api.handler import ApiError, Handler, as_json
from gpuscope.api.openapi import OPENAPI
from gpuscope.api.query import ALLOCATION, CODE, NAMESPACE, NODE, PROFILE, STATE, UUID, Filters, Parameter, read_filters
from gpuscope.api.readings import state_of
from gpuscope.sampling.snapshot import GpuStatus, Snapshot

__all__ = ["ROUTES"]

_JSON = "application/json"


class _JsonHandler(Handler):
    """Base: reads the filters, builds the document once per snapshot, sends it."""

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()

    def answer(self, *path: str) -> None:
        """Answers from the latest snapshot."""
        filters = read_filters(self.request.query_arguments, self.PARAMETERS)
        snapshot = self.context.source.snapshot()
        key = (type(self).__name__, path, tuple(sorted(filters.items(), key=lambda item: item[0])))
        finished = self.context.answers.get(snapshot, key, lambda: as_json(self.document(snapshot, filters, *path)))
        self.send_answer(finished, _JSON)

    def document(self, snapshot: Snapshot, filters: Filters, *path: str) -> dict[str, Any]:
        """The answer's document."""
        raise NotImplementedError


class GpusHandler(_JsonHandler):
    """All GPUs of the node."""

    PARAMETERS = (STATE, NODE, PROFILE, ALLOCATION, NAMESPACE)

    def document(self, snapshot: Snapshot, filters: Filters, *_: str) -> dict[str, Any]:
        gpus = _chosen(snapshot, filters)
        if "profile" in filters:
            gpus = (gpu for gpu in gpus if any(instance.profile in filters["profile"] for instance in gpu.mig))
        gpus = (
            gpu
            for gpu in gpus
            if _held(snapshot, filters, [gpu.identity.uuid, *(instance.uuid for instance in gpu.mig)])
        )
        return {**envelope(snapshot), "gpus": [gpu_document(snapshot, gpu) for gpu in gpus]}


class GpuHandler(_JsonHandler):
    """One GPU."""

    def document(self, snapshot: Snapshot, _filters: Filters, *path: str) -> dict[str, Any]:
        (uuid,) = path
        for gpu in snapshot.gpus:
            if gpu.identity.uuid == uuid:
                return {**envelope(snapshot), "gpu": gpu_document(snapshot, gpu)}
        raise ApiError(404, "unknown_gpu", f"node {snapshot.node} has no GPU with this UUID", uuid=uuid)


class MigHandler(_JsonHandler):
    """All MIG instances of the node."""

    PARAMETERS = (STATE, NODE, PROFILE, ALLOCATION, NAMESPACE)

    def document(self, snapshot: Snapshot, filters: Filters, *_: str) -> dict[str, Any]:
        instances = [document for gpu in _chosen(snapshot, filters) for document in mig_documents(snapshot, gpu)]
        if "profile" in filters:
            instances = [document for document in instances if document["profile"] in filters["profile"]]
        instances = [document for document in instances if _held(snapshot, filters, [document["uuid"]])]
        return {**envelope(snapshot), "mig_instances": instances}


class FaultsHandler(_JsonHandler):
    """Recent faults, the latest first."""

    PARAMETERS = (NODE, UUID, CODE)

    def document(self, snapshot: Snapshot, filters: Filters, *_: str) -> dict[str, Any]:
        indexes = {gpu.identity.uuid: gpu.identity.index for gpu in snapshot.gpus}
        unknown = filters.get("uuid", frozenset()) - indexes.keys() - {fault.uuid or "" for fault in snapshot.faults}
        if unknown:
            uuid = sorted(unknown)[0]
            raise ApiError(404, "unknown_gpu", f"node {snapshot.node} has no GPU with this UUID", uuid=uuid)
        codes = {int(code) for code in filters.get("code", ())}
        faults = [
            fault
            for fault in sorted(snapshot.faults, key=lambda fault: -fault.last)
            if _passes(filters, "node", snapshot.node)
            and _passes(filters, "uuid", fault.uuid or "")
            and (not codes or fault.code in codes)
        ]
        return {**envelope(snapshot), "faults": [fault_document(fault, indexes) for fault in faults]}


class HealthHandler(_JsonHandler):
    """The node's health in one word."""

    def answer(self, *_: str) -> None:
        """Answers with the watchdog's verdict of this moment."""
        read_filters(self.request.query_arguments, self.PARAMETERS)
        snapshot, alive = self.context.source.snapshot(), self.context.source.alive()
        finished = self.context.answers.get(
            snapshot, ("health", alive), lambda: as_json(health_document(snapshot, alive))
        )
        self.send_answer(finished, _JSON)


class OpenApiHandler(_JsonHandler):
    """This interface, described for programs."""

    def document(self, _snapshot: Snapshot, _filters: Filters, *_: str) -> dict[str, Any]:
        return dict(OPENAPI)


ROUTES: tuple[tuple[str, type[Handler]], ...] = (
    (r"/api/v1/gpus", GpusHandler),
    (r"/api/v1/gpus/([^/]+)", GpuHandler),
    (r"/api/v1/mig", MigHandler),
    (r"/api/v1/faults", FaultsHandler),
    (r"/api/v1/health", HealthHandler),
    (r"/api/v1/openapi\.json", OpenApiHandler),
)


def _passes(filters: Filters, name: str, value: str) -> bool:
    return name not in filters or value in filters[name]


def _held(snapshot: Snapshot, filters: Filters, uuids: list[str]) -> bool:
    """Whether one of these devices passes both filters."""
    return any(
        _passes(filters, "allocation", state_in(snapshot, uuid) or "")
        and ("namespace" not in filters or filters["namespace"] & held_in(snapshot, uuid))
        for uuid in uuids
    )


def _chosen(snapshot: Snapshot, filters: Filters) -> Iterable[GpuStatus]:
    return (
        gpu
        for gpu in snapshot.gpus
        if _passes(filters, "node", snapshot.node) and _passes(filters, "state", state_of(gpu))
    )
