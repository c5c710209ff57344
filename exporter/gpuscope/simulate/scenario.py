"""Scenarios: YAML files that describe a machine, its load, and what goes wrong when."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from gpuscope.errors import ConfigError
from gpuscope.simulate.activity import KINDS
from gpuscope.simulate.model import MODELS

__all__ = ["EVENTS", "Event", "GpuPlan", "Scenario", "ScenarioInfo", "load", "scenarios"]

EVENTS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "lost": {"gpu": int},
    "reset_required": {"gpu": int},
    "recovered": {"gpu": int},
    "wedge": {"gpu": int},
    "unwedge": {"gpu": int},
    "xid": {"gpu": int, "code": int, "gi": int, "ci": int, "times": int, "message": str},
    "sxid": {"switch": int, "code": int, "fatal": bool, "message": str},
    "heat": {"gpu": int, "celsius": (int, float)},
    "power_brake": {"gpu": int, "active": bool},
    "row_remap": {"gpu": int, "pending": bool, "failed": bool, "rows": int},
    "ecc": {"gpu": int, "corrected": int, "uncorrected": int, "rate": (int, float)},
    "recovery_action": {"gpu": int, "action": int},
    "nvml_event": {"gpu": int, "type": int},
    "mig": {"gpu": int, "instances": list},
    "job": {"gpu": int, "kind": str},
    "driver_unloaded": {},
    "driver_mismatch": {},
    "driver_loaded": {"version": str},
}
"""What can happen, and the arguments of each."""

_NODE_KEYS = {"title", "kind", "extends", "driver", "gpus", "events", "blank_sentinels"}
_DRIVER_KEYS = {"version", "cuda", "nvml", "kernel_module", "present"}
_GPU_KEYS = {"model", "count", "job", "job_name", "mig", "virtualization", "confidential"}
_MIG_KEYS = {"profile", "job", "ci"}


@dataclass(frozen=True, slots=True)
class MigPlan:
    """One MIG device of a plan: ``profile`` of its GPU instance, ``ci`` compute slices when it has only a part."""

    profile: str
    job: str
    ci: int | None = None
    same_gi: bool = False


@dataclass(frozen=True, slots=True)
class GpuPlan:
    """One GPU of a scenario."""

    model: str
    job: str
    job_name: str
    mig: tuple[MigPlan, ...] | None
    virtualization: int = 0
    confidential: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens ``at`` seconds after the start."""

    at: float
    kind: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A machine and its story."""

    name: str
    title: str
    kind: str
    driver: Mapping[str, Any]
    gpus: tuple[GpuPlan, ...]
    events: tuple[Event, ...]
    blank_sentinels: bool = False


@dataclass(frozen=True, slots=True)
class ScenarioInfo:
    """A shipped scenario: ``kind`` is ``node`` or ``fault``."""

    name: str
    title: str
    kind: str
    text: str = field(repr=False)


def scenarios() -> tuple[ScenarioInfo, ...]:
    """The shipped scenarios, nodes first."""
    found = []
    for entry in files("gpuscope.simulate").joinpath("scenarios").iterdir():
        if entry.name.endswith(".yaml"):
            text = entry.read_text(encoding="utf-8")
            head = yaml.safe_load(text)
            found.append(ScenarioInfo(entry.name.removesuffix(".yaml"), head["title"], head["kind"], text))
    return tuple(sorted(found, key=lambda info: (info.kind != "node", info.name)))


def load(name_or_path: str) -> Scenario:
    """Loads a scenario by shipped name, by path, or a node with faults: ``h100-mig+xid-burst``.

    Raises:
        ConfigError: unknown name, or a file that is not a scenario; names file, line and key.
    """
    if "+" in name_or_path and not Path(name_or_path).exists():
        first, *faults = name_or_path.split("+")
        base = load(first)
        events = base.events
        blank = base.blank_sentinels
        driver = dict(base.driver)
        for fault in faults:
            raw = _Document.read(fault)
            part = load(fault)
            events += part.events
            blank |= part.blank_sentinels
            driver.update(raw.value.get("driver") or {})
        ordered = tuple(sorted(events, key=lambda event: event.at))
        return Scenario(name_or_path, base.title, "node", driver, base.gpus, ordered, blank)
    return _parse(_Document.read(name_or_path), seen=())


@dataclass(frozen=True, slots=True)
class _Document:
    """A YAML mapping that remembers where its keys stand."""

    name: str
    source: str
    value: dict[str, Any]
    lines: Mapping[tuple[Any, ...], int]

    @classmethod
    def read(cls, name: str) -> "_Document":
        shipped = {info.name: info for info in scenarios()}
        if name in shipped:
            source, text = f"{name}.yaml", shipped[name].text
        elif Path(name).is_file():
            source = name
            try:
                text = Path(name).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"{name}: cannot be read: {error}") from error
        else:
            near = difflib.get_close_matches(name, shipped, n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(shipped)}"
            raise ConfigError(f"scenario {name!r}: neither a shipped scenario nor a file{hint}")
        try:
            node = yaml.compose(text, Loader=yaml.SafeLoader)
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            place = f"{source}:{mark.line + 1}" if mark else source
            raise ConfigError(f"{place}: not YAML: {getattr(error, 'problem', None) or error}") from error
        if not isinstance(value, dict):
            raise ConfigError(f"{source}:1: a scenario is a mapping with the keys {', '.join(sorted(_NODE_KEYS))}")
        return cls(Path(source).name.removesuffix(".yaml"), source, value, dict(_walk(node, ())))

    def fail(self, path: tuple[Any, ...], reason: str) -> ConfigError:
        line = next((self.lines[path[:n]] for n in range(len(path), -1, -1) if path[:n] in self.lines), 1)
        key = ".".join(str(part) for part in path)
        return ConfigError(f"{self.source}:{line}: {key}: {reason}")

    def known(self, path: tuple[Any, ...], mapping: Any, keys: set[str]) -> dict[str, Any]:
        if not isinstance(mapping, dict):
            raise self.fail(path, f"must be a mapping with the keys {', '.join(sorted(keys))}")
        for key in mapping:
            if key not in keys:
                near = difflib.get_close_matches(str(key), keys, n=1)
                hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(sorted(keys))}"
                raise self.fail((*path, key), f"unknown key{hint}")
        return mapping

    def one_of(self, path: tuple[Any, ...], value: Any, allowed: Any) -> str:
        if value not in allowed:
            raise self.fail(path, f"{value!r} is not one of {', '.join(sorted(map(str, allowed)))}")
        return str(value)


def _walk(node: Any, path: tuple[Any, ...]) -> Any:
    yield path, node.start_mark.line + 1 if node is not None else 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _walk(value, (*path, key.value))
            yield (*path, key.value), key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _walk(value, (*path, number))


def _parse(document: _Document, seen: tuple[str, ...]) -> Scenario:
    raw = document.known((), document.value, _NODE_KEYS)
    base: Scenario | None = None
    if "extends" in raw:
        if raw["extends"] in seen:
            raise document.fail(("extends",), f"{raw['extends']} extends itself")
        base = _parse(_Document.read(str(raw["extends"])), (*seen, document.name, str(raw["extends"])))
    driver: dict[str, Any] = {"version": "590.48.01", "cuda": 13010, "kernel_module": "open", "present": True}
    driver.update(base.driver if base else {})
    driver.update(document.known(("driver",), raw.get("driver") or {}, _DRIVER_KEYS))
    gpus = base.gpus if base else ()
    if "gpus" in raw:
        gpus = _gpus(document, raw["gpus"])
    if not gpus:
        raise document.fail(("gpus",), "a scenario needs at least one GPU, or extends one that has")
    events = (base.events if base else ()) + _events(document, raw.get("events") or [], gpus)
    return Scenario(
        name=document.name,
        title=str(raw.get("title", document.name)),
        kind=document.one_of(("kind",), raw.get("kind", "node"), {"node", "fault"}),
        driver=driver,
        gpus=gpus,
        events=tuple(sorted(events, key=lambda event: event.at)),
        blank_sentinels=bool(raw.get("blank_sentinels", base.blank_sentinels if base else False)),
    )


def _gpus(document: _Document, raw: Any) -> tuple[GpuPlan, ...]:
    if not isinstance(raw, list):
        raise document.fail(("gpus",), "must be a list")
    plans: list[GpuPlan] = []
    for number, entry in enumerate(raw):
        path = ("gpus", number)
        entry = document.known(path, entry, _GPU_KEYS)
        model = document.one_of((*path, "model"), entry.get("model"), MODELS)
        job = document.one_of((*path, "job"), entry.get("job", "idle"), KINDS)
        count = entry.get("count", 1)
        if not isinstance(count, int) or not 1 <= count <= 16:
            raise document.fail((*path, "count"), "must be a whole number from 1 to 16")
        mig = None
        if "mig" in entry:
            if not MODELS[model].mig_slices:
                raise document.fail((*path, "mig"), f"{model} has no MIG")
            mig = mig_plans(entry["mig"], lambda place, why, at=path: document.fail((*at, "mig", *place), why))
        name = str(entry.get("job_name", f"{job}-{number}"))
        virtualization = int(entry.get("virtualization", 0))
        confidential = bool(entry.get("confidential", False))
        plans += [GpuPlan(model, job, name, mig, virtualization, confidential)] * count
    return tuple(plans)


def mig_plans(raw: Any, fail: Any) -> tuple[MigPlan, ...]:
    """Reads the MIG devices of one GPU; ``fail(path, reason)`` makes the error."""
    if not isinstance(raw, list):
        raise fail((), "must be a list of MIG devices")
    plans: list[MigPlan] = []
    slices = 0
    for number, entry in enumerate(raw):
        if not isinstance(entry, dict) or set(entry) - _MIG_KEYS or "profile" not in entry:
            raise fail((number,), "must be a mapping with profile and, optionally, job and ci")
        job = entry.get("job", "idle")
        if job not in KINDS:
            raise fail((number, "job"), f"{job!r} is not one of {', '.join(KINDS)}")
        parts = entry.get("ci") or [None]
        for place, part in enumerate(parts):
            plans.append(MigPlan(str(entry["profile"]), str(job), part, same_gi=place > 0))
        try:
            slices += int(str(entry["profile"]).split("g.")[0])
        except ValueError:
            raise fail((number, "profile"), f"{entry['profile']!r} is not a profile like 3g.40gb") from None
    if slices > 7:
        raise fail((), f"the instances need {slices} slices; a GPU has 7")
    return tuple(plans)


def _events(document: _Document, raw: Any, gpus: tuple[GpuPlan, ...]) -> tuple[Event, ...]:
    if not isinstance(raw, list):
        raise document.fail(("events",), "must be a list")
    events = []
    for number, entry in enumerate(raw):
        path = ("events", number)
        if not isinstance(entry, dict):
            raise document.fail(path, "must be a mapping with at, do and the arguments of the event")
        kind = document.one_of((*path, "do"), entry.get("do"), EVENTS)
        arguments = document.known(path, {k: v for k, v in entry.items() if k not in {"at", "do"}}, set(EVENTS[kind]))
        for key, value in arguments.items():
            if not isinstance(value, EVENTS[kind][key]):
                raise document.fail((*path, key), f"{value!r} has the wrong type")
        at = entry.get("at")
        if not isinstance(at, int | float) or isinstance(at, bool) or at < 0:
            raise document.fail((*path, "at"), "must be seconds after the start")
        if not 0 <= arguments.get("gpu", 0) < len(gpus):
            raise document.fail((*path, "gpu"), f"there are only GPUs 0 to {len(gpus) - 1}")
        if kind == "mig":
            mig_plans(arguments.get("instances", []), lambda place, why, at=path: document.fail((*at, *place), why))
        events.append(Event(float(at), kind, arguments))
    return tuple(events)
