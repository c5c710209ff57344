"""Scenarios: YAML files that describe a machine, its load, and what goes wrong when.

::

    title: one line                        # shown by `gpuscope simulate scenarios`
    kind: node                             # or fault
    extends: h100x8                        # another scenario; what follows changes or adds to it
    driver: {version: 590.48.01, cuda: 13010, kernel_module: open, present: true}
    blank_sentinels: false                 # answers some questions with numbers that stand for "no value"
    gpus:
      - {model: h100-sxm, count: 4, job: training, job_name: llama}
      - model: h100-sxm
        mig: [{profile: 3g.40gb, job: inference, ci: [1, 2]}]
    filesystems:
      - {type: lustre, name: lustre01, mountpoint: /lustre01}
    pods:                                  # see pods.py; `jobs` of Slurm in jobs.py
      - {namespace: team-llm, name: llama-0, gpus: [0, 1, 2, 3]}
    began: 1796035000                      # unix time from which all times count; else from the start of the program
    events:
      - {at: 20, do: xid, gpu: 3, code: 79, message: "GPU has fallen off the bus."}
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import yaml

from gpuscope.errors import ConfigError
from gpuscope.simulate.activity import KINDS
from gpuscope.simulate.document import Document, nearest, number_problem
from gpuscope.simulate.happening import EVENTS, MigPlan, Problem, check, mig_plans
from gpuscope.simulate.holding import Hold, Layouts, check_holds
from gpuscope.simulate.jobs import JobPlan, job_plans
from gpuscope.simulate.model import MODELS
from gpuscope.simulate.mounts import FilesystemPlan, filesystem_plans
from gpuscope.simulate.pods import PodPlan, pod_plans

__all__ = ["EVENTS", "Event", "GpuPlan", "MigPlan", "Scenario", "ScenarioInfo", "load", "parse", "scenarios", "shipped"]

_KEYS = ("title", "kind", "extends", "driver", "gpus", "events", "blank_sentinels", "filesystems", "pods", "jobs",
         "began")  # fmt: skip
_DRIVER_KEYS = ("version", "cuda", "nvml", "kernel_module", "present")
_GPU_KEYS = ("model", "count", "job", "job_name", "mig", "virtualization", "confidential", "replicas")
_DRIVER = {"version": "590.48.01", "cuda": 13010, "kernel_module": "open", "present": True}
_VERSION = re.compile(r"\d{3,4}(\.\d+){1,2}")
_MAX_GPUS = 16
_MAX_REPLICAS = 48
_MAX_S = 1e9
_MAX_BEGAN = 2**33
_Plan = TypeVar("_Plan")


@dataclass(frozen=True, slots=True)
class GpuPlan:
    """One GPU of a scenario; ``mig`` is ``None`` while MIG mode is off, ``replicas`` are shares of each device."""

    model: str
    job: str
    job_name: str
    mig: tuple[MigPlan, ...] | None
    virtualization: int = 0
    confidential: bool = False
    replicas: int = 1


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens ``at`` seconds after the start."""

    at: float
    kind: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A machine and its story.

    Attributes:
        began: unix time at which the story began, ``None``: when somebody first plays it.
    """

    name: str
    title: str
    kind: str
    driver: Mapping[str, Any]
    gpus: tuple[GpuPlan, ...]
    events: tuple[Event, ...]
    blank_sentinels: bool = False
    filesystems: tuple[FilesystemPlan, ...] = ()
    pods: tuple[PodPlan, ...] = ()
    jobs: tuple[JobPlan, ...] = ()
    began: int | None = None


@dataclass(frozen=True, slots=True)
class ScenarioInfo:
    """A shipped scenario: ``kind`` is ``node`` or ``fault``, ``text`` its YAML."""

    name: str
    title: str
    kind: str
    text: str = field(repr=False)


@functools.cache
def shipped() -> Mapping[str, str]:
    """YAML text of each shipped scenario by its name; none is parsed, so that looking a name up costs nothing."""
    folder = files("gpuscope.simulate").joinpath("scenarios")
    entries = (entry for entry in folder.iterdir() if entry.name.endswith(".yaml"))
    return {entry.name.removesuffix(".yaml"): entry.read_text(encoding="utf-8") for entry in entries}


@functools.cache
def scenarios() -> tuple[ScenarioInfo, ...]:
    """The shipped scenarios, nodes first."""
    heads = {name: yaml.safe_load(text) for name, text in shipped().items()}
    found = [ScenarioInfo(name, head["title"], head["kind"], shipped()[name]) for name, head in heads.items()]
    return tuple(sorted(found, key=lambda info: (info.kind != "node", info.name)))


def load(name_or_path: str) -> Scenario:
    """Loads a scenario by shipped name, by path, or one with further faults: ``h100-mig+xid-burst``.

    Raises:
        ConfigError: unknown name, or a file that is not a scenario; names file, line and key.
    """
    parts = [name_or_path] if _is_file(name_or_path) else name_or_path.split("+")
    layers = _layers(parts[0])
    for part in parts[1:]:
        faults = [layer for layer in _layers(part) if layer.value.get("kind", "node") == "fault"]
        if not faults:
            raise ConfigError(f"scenario {part!r}: is a machine of its own; only faults can be joined with +")
        layers += faults
    built = _build(name_or_path if len(parts) > 1 else Path(parts[0]).name.removesuffix(".yaml"), layers)
    if len(parts) == 1:
        return built
    titles = [str(_layers(part)[-1].value.get("title", part)) for part in parts]
    return replace(built, title="; ".join(titles), kind="node")


def parse(name: str, value: dict[str, Any]) -> Scenario:
    """Makes a scenario of what would stand in its file.

    Args:
        name: for messages.
        value: a machine that extends no other.

    Raises:
        ConfigError: not a scenario; names the key.
    """
    document = Document(name, value, {(): 1})
    document.mapping((), value, _KEYS)
    return _build(name, [document])


def _layers(name: str) -> list[Document]:
    """A scenario's file and those that it extends, the machine first."""
    found: list[Document] = []
    seen = [name]
    while True:
        document = _read(seen[-1])
        document.mapping((), document.value, _KEYS)
        found.insert(0, document)
        if "extends" not in document.value:
            return found
        base = document.text(("extends",), document.value["extends"])
        if base in seen:
            raise document.fail(("extends",), f"{base} extends itself")
        seen.append(base)


def _read(name: str) -> Document:
    if name in shipped():
        return _shipped(name)
    try:
        if not _is_file(name):
            raise ConfigError(f"scenario {name!r}: neither a shipped scenario nor a file{nearest(name, shipped())}")
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name}: cannot be read: {error}") from error
    return Document.parse(name, text)


@functools.cache
def _shipped(name: str) -> Document:
    """Parsed once: nobody writes into a document, and each machine of one process reads the same few."""
    return Document.parse(f"{name}.yaml", shipped()[name])


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:
        return False


def _build(name: str, layers: list[Document]) -> Scenario:
    driver: dict[str, Any] = dict(_DRIVER)
    gpus: tuple[GpuPlan, ...] = ()
    events: list[Event] = []
    blank = False
    filesystems: tuple[FilesystemPlan, ...] = ()
    pods: list[tuple[PodPlan, Hold]] = []
    jobs: list[tuple[JobPlan, Hold]] = []
    title, kind = name, "node"
    began: int | None = None
    for document in layers:
        raw = document.value
        if "began" in raw:
            began = document.whole(("began",), raw["began"], 0, _MAX_BEGAN)
        title = document.text(("title",), raw.get("title", name))
        kind = document.one_of(("kind",), raw.get("kind", "node"), {"node", "fault"})
        driver.update(_driver(document, raw.get("driver", {})))
        if "blank_sentinels" in raw:
            blank = document.flag(("blank_sentinels",), raw["blank_sentinels"])
        if "filesystems" in raw:
            filesystems = filesystem_plans(document, raw["filesystems"])
        if "gpus" in raw:
            gpus = _gpus(document, raw["gpus"])
            # Whoever held the GPUs of the machine that it extends holds none of these.
            pods, jobs = [], []
        if not gpus:
            raise document.fail(("gpus",), "a scenario needs at least one GPU, or extends one that has")
        events += _events(document, raw.get("events", []), gpus)
        _check_mounts(document, raw.get("events", []), {plan.mountpoint for plan in filesystems})
        layouts = Layouts([None if plan.mig is None else len(plan.mig) for plan in gpus], _cuts(events, gpus))
        # The pods of a fault join those of its machine; a machine has its own instead of those that it extends.
        if "pods" in raw:
            pods = [*(pods if kind == "fault" else ()), *_held(pod_plans(document, raw["pods"]), layouts)]
        if "jobs" in raw:
            jobs = [*(jobs if kind == "fault" else ()), *_held(job_plans(document, raw["jobs"]), layouts)]
        if not pods:
            _check_no_kubelet(document, raw.get("events", []))
        holds = [hold for _, hold in pods] + [hold for _, hold in jobs]
        check_holds(holds, layouts, [plan.replicas for plan in gpus])
    story = tuple(sorted(events, key=lambda event: event.at))
    holders = tuple(pod for pod, _ in pods), tuple(job for job, _ in jobs)
    return Scenario(name, title, kind, driver, gpus, story, blank, filesystems, *holders, began)


def _held(found: list[tuple[_Plan, Hold]], layouts: Layouts) -> list[tuple[_Plan, Hold]]:
    for _, hold in found:
        for slot, path in hold.slots:
            reason = layouts.problem(slot, hold.span.begin)
            if reason:
                raise hold.document.fail(path, reason)
    return found


def _cuts(events: list[Event], gpus: tuple[GpuPlan, ...]) -> Iterator[tuple[float, int, int | None]]:
    """(seconds, GPU, number of MIG devices or ``None``) of each ``mig`` event."""
    for event in events:
        if event.kind == "mig":
            gpu = event.arguments["gpu"]
            size = len(mig_plans(event.arguments["instances"], MODELS[gpus[gpu].model].profiles))
            yield event.at, gpu, size if size or event.arguments.get("mode") else None


def _driver(document: Document, raw: object) -> dict[str, Any]:
    found = document.mapping(("driver",), raw, _DRIVER_KEYS)
    for key, value in found.items():
        path = ("driver", key)
        match key:
            case "version":
                if not isinstance(value, str) or not _VERSION.fullmatch(value):
                    raise document.fail(path, f"{value!r} is no driver version like '590.48.01'")
            case "cuda":
                document.whole(path, value, 9000, 99_990)
            case "present":
                document.flag(path, value)
            case "kernel_module":
                document.one_of(path, value, {"open", "proprietary"})
            case _:
                document.text(path, value)
    return found


def _gpus(document: Document, raw: object) -> tuple[GpuPlan, ...]:
    plans: list[GpuPlan] = []
    for number, entry in enumerate(document.sequence(("gpus",), raw, "GPUs")):
        path = ("gpus", number)
        document.mapping(path, entry, _GPU_KEYS)
        model = document.one_of((*path, "model"), entry.get("model"), MODELS)
        job = document.one_of((*path, "job"), entry.get("job", "idle"), KINDS)
        count = document.whole((*path, "count"), entry.get("count", 1), 1, _MAX_GPUS)
        name = document.text((*path, "job_name"), entry.get("job_name", f"{job}-{number}"))
        virtualization = document.whole((*path, "virtualization"), entry.get("virtualization", 0), 0, 4)
        confidential = document.flag((*path, "confidential"), entry.get("confidential", False))
        replicas = document.whole((*path, "replicas"), entry.get("replicas", 1), 1, _MAX_REPLICAS)
        instances = None
        if "mig" in entry:
            profiles = MODELS[model].profiles
            if not profiles:
                raise document.fail((*path, "mig"), f"{model} has no MIG")
            try:
                instances = mig_plans(entry["mig"], profiles, (*path, "mig"))
            except Problem as problem:
                raise document.fail(problem.path, problem.reason) from problem
        plans += [GpuPlan(model, job, name, instances, virtualization, confidential, replicas)] * count
        if len(plans) > _MAX_GPUS:
            raise document.fail(("gpus",), f"{len(plans)} GPUs; a machine has at most {_MAX_GPUS}")
    return tuple(plans)


def _check_mounts(document: Document, events: list[dict[str, Any]], mountpoints: set[str]) -> None:
    for number, entry in enumerate(events):
        if "mountpoint" in entry and entry["mountpoint"] not in mountpoints:
            reason = f"no file system is mounted at {entry['mountpoint']!r}"
            raise document.fail(("events", number, "mountpoint"), reason)


def _events(document: Document, raw: object, gpus: tuple[GpuPlan, ...]) -> list[Event]:
    events = []
    for number, entry in enumerate(document.sequence(("events",), raw, "events")):
        path = ("events", number)
        if not isinstance(entry, dict):
            raise document.fail(path, "must be a mapping with at, do and the arguments of the event")
        kind = document.one_of((*path, "do"), entry.get("do"), EVENTS)
        reason = number_problem(entry.get("at"), 0, _MAX_S)
        if reason:
            raise document.fail((*path, "at"), f"{reason}: seconds after the start")
        arguments = {key: value for key, value in entry.items() if key not in {"at", "do"}}
        try:
            check(kind, arguments, gpus)
        except Problem as problem:
            raise document.fail((*path, *problem.path), problem.reason) from problem
        events.append(Event(float(entry["at"]), kind, arguments))
    return events


def _check_no_kubelet(document: Document, events: list[dict[str, Any]]) -> None:
    for number, entry in enumerate(events):
        if str(entry["do"]).startswith("kubelet_"):
            raise document.fail(("events", number, "do"), "a machine without pods has no kubelet")
