"""Query parameters of ``/api/v1``: what is unknown or malformed is refused, never ignored."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpuscope.api.handler import ApiError
from gpuscope.api.readings import STATES
from gpuscope.catalogue import attribution

__all__ = [
    "ALLOCATION",
    "CODE",
    "NAMESPACE",
    "NODE",
    "PROFILE",
    "STATE",
    "UUID",
    "Filters",
    "Parameter",
    "read_filters",
]

Filters = Mapping[str, frozenset[str]]
"""For each parameter that was given the values that pass."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A filter. Given more than once, each value passes.

    Attributes:
        name: name in the query.
        description: meaning, for the OpenAPI document.
        pattern: what a value must look like as a whole.
        expected: the same in words.
        values: the allowed values, where they can be listed.
    """

    name: str
    description: str
    pattern: str
    expected: str
    values: tuple[str, ...] = ()


STATE = Parameter(
    "state", "Keeps what belongs to GPUs in this state.", "|".join(STATES), f"one of {', '.join(STATES)}", STATES
)
NODE = Parameter(
    "node",
    "Keeps what belongs to this node. An agent knows its own node only and answers an empty list for others.",
    r"[^\s]+",
    "a node name",
)
PROFILE = Parameter(
    "profile",
    "Keeps MIG instances of this profile; for GPUs those that hold at least one.",
    r"(?:[0-9]+c\.)?[0-9]+g\.[0-9]+gb\S*|unknown",
    "a MIG profile, for example 1g.10gb or 1c.3g.40gb",
)
ALLOCATION = Parameter(
    "allocation",
    "Keeps what is in this state of use; for GPUs those that hold at least one such MIG instance too.",
    "|".join(attribution.STATES),
    f"one of {', '.join(attribution.STATES)}",
    attribution.STATES,
)
NAMESPACE = Parameter(
    "namespace",
    "Keeps what a pod of this Kubernetes namespace holds; for GPUs those that hold at least one such MIG instance too.",
    r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?",
    "a Kubernetes namespace",
)
UUID = Parameter("uuid", "Keeps faults of the GPU with this UUID.", r"[^\s]+", "a GPU UUID")
CODE = Parameter("code", "Keeps faults with this XID or SXid number.", r"[0-9]{1,9}", "a number, for example 79")


def read_filters(arguments: Mapping[str, Sequence[bytes]], parameters: Iterable[Parameter]) -> Filters:
    """Checks the query of a request.

    Raises:
        ApiError: 400 ``unknown_parameter`` or ``invalid_value``.
    """
    known = {parameter.name: parameter for parameter in parameters}
    filters = {}
    for name, raw in arguments.items():
        if name not in known:
            hint = f"known are: {', '.join(known)}" if known else "there are none here"
            raise ApiError(
                400, "unknown_parameter", f"unknown parameter; {hint}", parameter=name, allowed=sorted(known)
            )
        filters[name] = frozenset(_checked(known[name], value) for value in raw)
    return filters


def _checked(parameter: Parameter, raw: bytes) -> str:
    value = raw.decode(errors="replace")
    if re.fullmatch(parameter.pattern, value, re.ASCII) is None or len(value) > 256:
        facts = {"allowed": list(parameter.values)} if parameter.values else {}
        raise ApiError(
            400, "invalid_value", f"expected {parameter.expected}", parameter=parameter.name, value=value[:256], **facts
        )
    return value
