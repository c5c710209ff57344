"""The OpenAPI 3.1 document of ``/api/v1``."""

from collections.abc import Mapping
from typing import Any

from gpuscope import __version__
from gpuscope.api.openapi_examples import ENVELOPE, FAULT, GPU, HEALTH, MIG_INSTANCE
from gpuscope.api.openapi_schemas import SCHEMAS, listed
from gpuscope.api.query import ALLOCATION, CODE, NAMESPACE, NODE, PROFILE, STATE, UUID, Parameter

__all__ = ["FAILURES", "OPENAPI", "operation"]

_JSON = "application/json"


def _answer(description: str, properties: Mapping[str, Any], example: Mapping[str, Any]) -> Any:
    shared = {
        "node": {"type": "string", "description": "the node that this agent runs on"},
        "generated_at": {"type": "string", "format": "date-time", "description": "when the readings were put together"},
        "driver": {"$ref": "#/components/schemas/Driver"},
    }
    media: dict[str, Any] = {
        "schema": {
            "type": "object",
            "properties": {**shared, **properties},
            "required": [*shared, *properties],
            "additionalProperties": False,
        },
        "example": {**ENVELOPE, **example},
    }
    return {"description": description, "content": {_JSON: media}}


def _failure(description: str, code: str, message: str, **facts: Any) -> dict[str, Any]:
    example = {"error": {"code": code, "message": message, **facts}}
    return {
        "description": description,
        "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}, "example": example}},
    }


FAILURES: Mapping[str, Any] = {
    "BadRequest": _failure(
        "A query parameter that does not exist here, or a value that it cannot take",
        "unknown_parameter",
        "unknown parameter; known are: state, node, profile",
        parameter="stat",
        allowed=["node", "profile", "state"],
    ),
    "Unauthorized": _failure("Users are configured, and this is none of them", "unauthorized", "Unauthorized"),
    "NotFound": _failure(
        "There is no such GPU",
        "unknown_gpu",
        "node gpu-node-17 has no GPU with this UUID",
        uuid="GPU-00000000-0000-0000-0000-000000000000",
    ),
    "MethodNotAllowed": _failure("Only GET and HEAD", "method_not_allowed", "Method Not Allowed"),
    "BodyNotAllowed": _failure("Requests carry no body", "request_entity_too_large", "Request Entity Too Large"),
    "TooManyRequests": _failure(
        "The rate limit is used up, or too many passwords are being checked", "too_many_requests", "Too Many Requests"
    ),
    "Failure": _failure("The agent failed; its log says why", "internal_server_error", "Internal Server Error"),
}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "pattern": f"^(?:{parameter.pattern})$"}
    if parameter.values:
        schema = {"type": "string", "enum": list(parameter.values)}
    return {
        "name": parameter.name,
        "in": "query",
        "description": f"{parameter.description} May be given more than once.",
        "required": False,
        "style": "form",
        "explode": True,
        "schema": {"type": "array", "items": schema},
    }


def operation(
    name: str, summary: str, answer: Mapping[str, Any], *parameters: Parameter, path_parameter: str = ""
) -> dict[str, Any]:
    """What one path answers to GET.

    Args:
        name: of the operation.
        summary: what it is for.
        answer: the response with status 200.
        parameters: of the query.
        path_parameter: description of the UUID in the path; empty where there is none.
    """
    responses = {
        "200": answer,
        "400": "BadRequest",
        "401": "Unauthorized",
        "404": "NotFound" if path_parameter or UUID in parameters else None,
        "405": "MethodNotAllowed",
        "413": "BodyNotAllowed",
        "429": "TooManyRequests",
        "500": "Failure",
    }
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "parameters": [_parameter(parameter) for parameter in parameters],
        "responses": {
            status: {"$ref": f"#/components/responses/{response}"} if isinstance(response, str) else response
            for status, response in responses.items()
            if response is not None
        },
    }
    if path_parameter:
        operation["parameters"].append(
            {
                "name": "uuid",
                "in": "path",
                "required": True,
                "description": path_parameter,
                "schema": {"type": "string"},
            }
        )
    return {"get": operation}


OPENAPI: Mapping[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "gpuscope agent",
        "version": __version__,
        "summary": "GPUs, MIG instances, faults and health of one node",
        "description": (
            "Read-only. Every answer comes from the latest snapshot, the same that /metrics is made of; asking never "
            "touches the hardware. What is unknown is null, never 0. While a GPU is not `ok` its readings are absent, "
            "not frozen. HEAD works wherever GET does."
        ),
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    },
    "servers": [{"url": "/", "description": "this agent"}],
    "security": [{}, {"basic": []}],
    "paths": {
        "/api/v1/gpus": operation(
            "listGpus",
            "All GPUs with their MIG instances and readings",
            _answer("The GPUs, by index", {"gpus": listed("Gpu")}, {"gpus": [GPU]}),
            STATE,
            NODE,
            PROFILE,
            ALLOCATION,
            NAMESPACE,
        ),
        "/api/v1/gpus/{uuid}": operation(
            "getGpu",
            "One GPU",
            _answer("The GPU", {"gpu": {"$ref": "#/components/schemas/Gpu"}}, {"gpu": GPU}),
            path_parameter="UUID of a GPU; an index is not an identity and is not taken",
        ),
        "/api/v1/mig": operation(
            "listMigInstances",
            "All MIG instances with their readings",
            _answer(
                "The instances, by GPU and MIG index",
                {"mig_instances": listed("MigInstance")},
                {"mig_instances": [MIG_INSTANCE]},
            ),
            STATE,
            NODE,
            PROFILE,
            ALLOCATION,
            NAMESPACE,
        ),
        "/api/v1/faults": operation(
            "listFaults",
            "Recent faults, the latest first",
            _answer("The faults", {"faults": listed("Fault")}, {"faults": [FAULT]}),
            NODE,
            UUID,
            CODE,
        ),
        "/api/v1/health": operation(
            "getHealth",
            "The node's health in one word",
            _answer(
                "The verdict; the status code is 200 whatever it is",
                {
                    "version": {"type": "string", "description": "version of gpuscope"},
                    "status": {
                        "type": "string",
                        "enum": ["ok", "issue", "unknown"],
                        "description": "unknown means that nobody could look; it is no reason to repair a node",
                    },
                    "reasons": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "why it is not ok, in words",
                    },
                    "alive": {"type": "boolean", "description": "the agent's watchdog is content"},
                    "ready": {"type": "boolean", "description": "the first full cycle is done and the driver is there"},
                    "gpus": {"$ref": "#/components/schemas/Counts"},
                },
                HEALTH,
            ),
        ),
        "/api/v1/openapi.json": operation(
            "getOpenApi",
            "This document",
            {
                "description": "An OpenAPI 3.1 document",
                "content": {_JSON: {"schema": {"type": "object", "required": ["openapi", "info", "paths"]}}},
            },
        ),
    },
    "components": {
        "schemas": SCHEMAS,
        "responses": FAILURES,
        "securitySchemes": {
            "basic": {
                "type": "http",
                "scheme": "basic",
                "description": "Needed when the web configuration lists users",
            }
        },
    },
}
