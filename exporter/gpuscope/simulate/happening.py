"""What can happen on a simulated machine: the vocabulary of a scenario's ``events`` and of ``inject``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gpuscope.simulate.activity import KINDS
from gpuscope.simulate.document import nearest, number_problem
from gpuscope.simulate.model import MODELS

__all__ = ["EVENTS", "NVLINK_ERRORS", "Argument", "MigPlan", "Problem", "check", "mig_plans"]

NVLINK_ERRORS = (
    "replay", "recovery", "crc", "vl15_dropped", "malformed", "buffer_overrun", "rcv", "rcv_remote", "rcv_general",
    "local_integrity", "xmit_discard", "recovery_ok", "recovery_failed", "recovery_events", "effective", "symbol",
)  # fmt: skip
_VERSION = re.compile(r"\d{3,4}(\.\d+){1,2}")
_PROFILE = re.compile(r"([1-7])g\.(\d+)gb(\+me)?")
_MIG_KEYS = ("profile", "job", "ci")


class Problem(ValueError):
    """A mistake in a happening: ``path`` leads to the argument."""

    def __init__(self, path: tuple[str | int, ...], reason: str) -> None:
        super().__init__(f"{'.'.join(str(part) for part in path)}: {reason}" if path else reason)
        self.path = path
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: ``kind`` is gpu, whole, number, text, flag, version, job, calls, error or instances."""

    kind: str
    required: bool = False
    low: float = 0
    high: float = 1e9


@dataclass(frozen=True, slots=True)
class MigPlan:
    """One MIG device of a plan.

    Attributes:
        profile: of its GPU instance, for example ``3g.40gb``.
        job: what runs on it.
        slices: compute slices of the GPU instance.
        memory_slices: eighths of the GPU's memory.
        gigabytes: memory by name.
        ci: compute slices of the compute instance when it has only a part.
        same_gi: whether it shares the GPU instance of the plan before it.
    """

    profile: str
    job: str
    slices: int
    memory_slices: int
    gigabytes: int
    ci: int | None = None
    same_gi: bool = False


class _Planned(Protocol):
    @property
    def model(self) -> str: ...


_GPU = Argument("gpu", required=True)
_FLAG = Argument("flag")
EVENTS: Mapping[str, Mapping[str, Argument]] = {
    "lost": {"gpu": _GPU},
    "reset_required": {"gpu": _GPU},
    "recovered": {"gpu": _GPU},
    "wedge": {"gpu": _GPU, "calls": Argument("calls")},
    "unwedge": {"gpu": _GPU},
    "xid": {
        "gpu": _GPU,
        "code": Argument("whole", required=True, high=9999),
        "gi": Argument("whole", high=14),
        "ci": Argument("whole", high=7),
        "times": Argument("whole", low=1, high=1_000_000),
        "message": Argument("text"),
    },
    "sxid": {
        "switch": Argument("whole", high=31),
        "code": Argument("whole", high=99_999),
        "fatal": _FLAG,
        "message": Argument("text"),
    },
    "heat": {"gpu": _GPU, "celsius": Argument("number", required=True, low=-30, high=100)},
    "power_brake": {"gpu": _GPU, "active": Argument("flag", required=True)},
    "row_remap": {"gpu": _GPU, "pending": _FLAG, "failed": _FLAG, "rows": Argument("whole", high=5120)},
    "repair": {"gpu": _GPU, "channel": _FLAG, "tpc": _FLAG},
    "ecc": {
        "gpu": _GPU,
        "corrected": Argument("whole"),
        "uncorrected": Argument("whole"),
        "sram": Argument("whole"),
        "gi": Argument("whole", high=14),
        "rate": Argument("number"),
    },
    "nvlink": {
        "gpu": _GPU,
        "link": Argument("whole", high=17),
        "error": Argument("error", required=True),
        "count": Argument("whole", low=1),
    },
    "pcie_replay": {"gpu": _GPU, "count": Argument("whole", low=1)},
    "recovery_action": {"gpu": _GPU, "action": Argument("whole", required=True, high=7)},
    "nvml_event": {"gpu": _GPU, "type": Argument("whole", required=True, low=1, high=0xFFFF)},
    "mig": {"gpu": _GPU, "instances": Argument("instances", required=True), "mode": _FLAG},
    "job": {"gpu": _GPU, "kind": Argument("job", required=True)},
    "mount_hangs": {"mountpoint": Argument("text", required=True)},
    "mount_answers": {"mountpoint": Argument("text", required=True)},
    "kubelet_stops": {},
    "kubelet_starts": {},
    "kubelet_refuses": {"calls": Argument("whole", required=True, low=1, high=1_000_000)},
    "driver_unloaded": {},
    "driver_mismatch": {},
    "driver_loaded": {"version": Argument("version", required=True)},
}
"""What can happen, and the arguments of each."""


def check(kind: str, arguments: Mapping[str, Any], gpus: Sequence[_Planned]) -> None:
    """Checks a happening against a machine.

    Raises:
        Problem: unknown, incomplete or impossible.
    """
    if kind not in EVENTS:
        raise Problem(("do",), f"{kind!r} is not one of {', '.join(sorted(EVENTS))}")
    known = EVENTS[kind]
    for name in arguments:
        if name not in known:
            raise Problem((name,), f"unknown key{nearest(name, ('at', 'do', *known))}")
    for name, argument in known.items():
        if name in arguments:
            reason = _problem(argument, arguments[name], gpus)
            if reason:
                raise Problem((name,), reason)
        elif argument.required:
            raise Problem((name,), f"{kind} needs it")
    if kind == "mig":
        model = MODELS[gpus[arguments["gpu"]].model]
        if not model.profiles:
            raise Problem(("gpu",), f"{model.name} has no MIG")
        mig_plans(arguments["instances"], model.profiles, ("instances",))


def _problem(argument: Argument, value: object, gpus: Sequence[_Planned]) -> str:
    match argument.kind:
        case "gpu":
            reason = number_problem(value, 0, len(gpus) - 1, whole=True)
            return f"{reason}; the machine has {len(gpus)} GPUs" if reason else ""
        case "whole" | "number":
            return number_problem(value, argument.low, argument.high, whole=argument.kind == "whole")
        case "flag":
            return "" if isinstance(value, bool) else f"{value!r} is neither true nor false"
        case "text":
            good = isinstance(value, str) and "\n" not in value
            return "" if good else f"{value!r} is not one line of text; put it in quotes"
        case "version":
            return "" if isinstance(value, str) and _VERSION.fullmatch(value) else f"{value!r} is no driver version"
        case "job":
            return _word_problem(value, tuple(KINDS))
        case "error":
            return _word_problem(value, NVLINK_ERRORS)
        case "calls":
            names = isinstance(value, list) and all(isinstance(name, str) and name[:4] == "nvml" for name in value)
            return "" if names else f"{value!r} is not a list of NVML functions"
    return ""


def _word_problem(value: object, known: tuple[str, ...]) -> str:
    return "" if value in known else f"{value!r} is not one of {', '.join(known)}"


def mig_plans(raw: object, profiles: tuple[str, ...], at: tuple[str | int, ...] = ()) -> tuple[MigPlan, ...]:
    """Reads the MIG devices of one GPU.

    Args:
        raw: list of mappings with ``profile`` and, optionally, ``job`` and ``ci`` (slices of each compute instance).
        profiles: what the GPU's model offers.
        at: where ``raw`` stands.

    Raises:
        Problem: unknown profiles, or more than fits a GPU.
    """
    if not isinstance(raw, list):
        raise Problem(at, "must be a list of MIG devices")
    plans: list[MigPlan] = []
    slices = memory = 0
    for number, entry in enumerate(raw):
        path = (*at, number)
        if not isinstance(entry, dict) or "profile" not in entry:
            raise Problem(path, "must be a mapping with profile and, optionally, job and ci")
        for key in entry:
            if key not in _MIG_KEYS:
                raise Problem((*path, key), f"unknown key{nearest(key, _MIG_KEYS)}")
        for key, known in (("profile", profiles), ("job", tuple(KINDS))):
            reason = _word_problem(entry.get(key, "idle"), known)
            if reason:
                raise Problem((*path, key), reason)
        found = _one_instance(entry, profiles[0], (*path, "ci"))
        slices += found[0].slices
        memory += found[0].memory_slices
        plans += found
    if slices > 7 or memory > 8:
        raise Problem(at, f"{slices} compute and {memory} memory slices; a GPU has 7 and 8")
    return tuple(plans)


def _one_instance(entry: Mapping[str, Any], smallest: str, at: tuple[str | int, ...]) -> list[MigPlan]:
    slices, gigabytes = _size(entry["profile"])
    # A 1g profile may have twice the memory of the smallest one.
    memory = {7: 8, 4: 4, 3: 4, 2: 2}.get(slices) or round(gigabytes / _size(smallest)[1])
    parts = entry.get("ci", [None])
    whole = isinstance(parts, list) and parts and all(not number_problem(one, 1, 7, whole=True) for one in parts)
    if parts != [None] and (not whole or sum(parts) > slices):
        raise Problem(at, f"{parts!r} is not a list of slices that fit into {slices}")
    return [
        MigPlan(entry["profile"], entry.get("job", "idle"), slices, memory, gigabytes, part, same_gi=place > 0)
        for place, part in enumerate(parts)
    ]


def _size(profile: str) -> tuple[int, int]:
    match = _PROFILE.fullmatch(profile)
    assert match
    return int(match[1]), int(match[2])
