"""The OpenAPI 3.1 document of the collector's ``/api/v1``."""

from collections.abc import Mapping
from typing import Any

from gpuscope import __version__
from gpuscope.api.openapi import FAILURES, operation
from gpuscope.api.openapi_schemas import SCHEMAS
from gpuscope.api.query import Parameter
from gpuscope.catalogue.training import DOMAINS, OUTCOMES, STATES, TRIGGERS
from gpuscope.workloads.fault import Scope

__all__ = ["collector_openapi"]

Schema = dict[str, Any]
_JSON = "application/json"


def _is(kind: str, description: str, *, null: bool = False, **more: Any) -> Schema:
    return {"type": [kind, "null"] if null else kind, "description": description, **more}


def _time(description: str) -> Schema:
    return _is("string", f"{description} (RFC 3339, UTC)", null=True, format="date-time")


def _word(description: str, words: tuple[str, ...], *, null: bool = False) -> Schema:
    return _is("string", description, null=null, enum=[*words, None] if null else list(words))


def _seconds(description: str) -> Schema:
    return _is("object", description, additionalProperties={"type": "number", "minimum": 0})


def _list(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


def _object(description: str, properties: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_EPISODE = _object(
    "The end of an attempt that was no success",
    {
        "attempt": _is("integer", "number of the attempt, 0 for the first", minimum=0),
        "nodes": _list({"type": "string"}, "where it ran"),
        "ended": _time("its end"),
        "outcome": _word("how it ended", OUTCOMES),
        "fault_type": _is("string", "what it was; none for a planned end, unknown where nobody can tell"),
        "domain": _word("whose fault it was", DOMAINS),
        "scope": _word("how far it reached", tuple(one.value for one in Scope)),
        "confidence": _word("how sure that is; null before there is a verdict", ("high", "medium", "low"), null=True),
        "why": _is("string", "what decided", null=True),
        "final": _is("boolean", "whether the verdict stands and is counted"),
        "restarted_by": _word("who began the next attempt; null while none began", TRIGGERS, null=True),
        "recovery_seconds": _seconds("phase of the recovery -> seconds, as far as known"),
    },
)
_JOB = _object(
    "A job that lives or ended within a day; what nobody knows is null",
    {
        "scheduler": _word("which scheduler", ("kubernetes", "slurm")),
        "namespace": _is("string", "namespace of Kubernetes", null=True),
        "job_id": _is("string", "Slurm's id, or the uid of the top workload"),
        "workload": _is("string", "its name"),
        "workload_kind": _is("string", "what it is: job, array_task, PyTorchJob and so on"),
        "team": _is("string", "account, or label of the team", null=True),
        "queue": _is("string", "partition, or queue of Kueue", null=True),
        "user": _is("string", "whose it is", null=True),
        "gpus": _is("integer", "GPUs that it asked for", null=True, minimum=0),
        "tasks": _is("integer", "jobs that the entry stands for: tasks of an array that have not begun", minimum=1),
        "created": _time("its submission"),
        "state": _word("what it does; null once it has ended", STATES, null=True),
        "state_since": _time("since when"),
        "why": _is("string", "why it waits, in the words of its scheduler", null=True),
        "nodes": _list({"type": "string"}, "where it holds resources now"),
        "outcome": _word("how it ended; null while it lives", OUTCOMES, null=True),
        "ended": _time("its end"),
        "restarts": _is("integer", "attempts after the first", minimum=0),
        "last_fault": _is("string", "type of its last fault", null=True),
        "episodes": _list({"$ref": "#/components/schemas/Episode"}, "ends of its attempts that were no success"),
        "state_seconds": _seconds("state -> seconds spent in it"),
        "progress_ratio": _is("number", "share that is done, as the job says", null=True, minimum=0, maximum=1),
        "remaining_seconds": _is("number", "time that it expects to take yet", null=True, minimum=0),
    },
)
_SOURCE = _object(
    "A scheduler",
    {
        "name": _word("which", ("kubernetes", "slurm")),
        "answered_at": _time("its last complete answer"),
        "reason": _is("string", "why it does not answer, or not completely; null while it does", null=True),
    },
)
_JOBS = _object(
    "What is known of jobs",
    {
        "generated_at": _time("when it was put together"),
        "sources": _list({"$ref": "#/components/schemas/Source"}, "the schedulers"),
        "jobs": _list({"$ref": "#/components/schemas/Job"}, "jobs, the newest first"),
    },
)


def collector_openapi(*parameters: Parameter) -> Mapping[str, Any]:
    """The document.

    Args:
        parameters: of the query of ``/api/v1/jobs``.
    """
    waits = {"error": {"code": "not_leader", "message": "/s/jobs.lock is locked by process 7 on vm, which leads"}}
    jobs = operation(
        "listJobs",
        "Jobs that live or ended within a day",
        {
            "description": "The jobs, the newest first",
            "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Jobs"}}},
        },
        *parameters,
    )
    jobs["get"]["responses"]["503"] = {
        "description": "This collector waits: another one leads, or it cannot lead",
        "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}, "example": waits}},
    }
    own = {"description": "An OpenAPI 3.1 document", "content": {_JSON: {"schema": {"type": "object"}}}}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "gpuscope collector",
            "version": __version__,
            "summary": "Training jobs of one cluster",
            "description": "Read-only. Every answer comes from what the last look at each scheduler told.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "this collector"}],
        "security": [{}, {"basic": []}],
        "paths": {
            "/api/v1/jobs": jobs,
            "/api/v1/openapi.json": operation("getOpenApi", "This document", own),
        },
        "components": {
            "schemas": {"Jobs": _JOBS, "Job": _JOB, "Episode": _EPISODE, "Source": _SOURCE, "Error": SCHEMAS["Error"]},
            "responses": {name: told for name, told in FAILURES.items() if name != "NotFound"},
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic", "description": "Where users are configured"}
            },
        },
    }
