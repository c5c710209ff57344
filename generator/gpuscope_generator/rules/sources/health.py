"""Which sources are there, how fresh, and what keeps parts of our own agents from telling more."""

from __future__ import annotations

from gpuscope.catalogue import agent, attribution, filesystem, lustre, processes, scheduler, xid
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.external.sources import SOURCES, UP, Source
from gpuscope_generator.normalized import source
from gpuscope_generator.promql import (
    Vector,
    as_counter,
    as_gauge,
    as_info,
    count_by,
    first_of,
    group_by,
    label_replace,
    last_over_time,
    max_by,
    now,
    rate,
    select,
    sum_by,
    timestamp,
    with_zero,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.settings import Settings

__all__ = ["health_rules"]

_TARGET = ("cluster", "job", "instance")


def health_rules(settings: Settings) -> RuleFile:
    """Rules about every source of `gpuscope_generator.external.sources`; of an absent one nothing is recorded."""
    rules = [rule for known in SOURCES for rule in _source_rules(known, settings)]
    return RuleFile(
        path="recording/health.yaml",
        comment="Which sources are present, how many of their targets answer, how old their samples are, and which "
        "parts of our agents and our collector have no data, with the reason.",
        groups=(
            Group("gpuscope-health", settings.intervals.aggregate, (*rules, *_target_rules(settings))),
            Group("gpuscope-health-problems", settings.intervals.aggregate, _problem_rules(settings)),
        ),
    )


def _source_rules(known: Source, settings: Settings) -> tuple[Recording, ...]:
    selected = [of_source(marker, settings, known.key) for marker in known.markers]
    marked = canonical(first_of(*selected), settings)
    seen = canonical(first_of(*(timestamp(marker) for marker in selected)), settings)
    return (
        recording(source.PRESENT, group_by(marked, "cluster"), source=known.key),
        recording(source.TARGET, group_by(marked, *_TARGET), source=known.key),
        recording(source.AGE, max_by(seen * -1 + now(), "cluster"), source=known.key),
    )


def _target_rules(settings: Settings) -> tuple[Recording, ...]:
    up = count_by(select(source.TARGET), "cluster", "source")
    silent = max_by(canonical(select(UP), settings), *_TARGET).compare("==", 0)
    known = last_over_time(select(source.TARGET), "1h")
    down = count_by(known.and_(silent, on=_TARGET), "cluster", "source")
    return (
        recording(source.TARGETS, up, state="up"),
        recording(source.TARGETS, with_zero(down, up), state="down"),
    )


def _problem_rules(settings: Settings) -> tuple[Recording, ...]:
    def raw(metric: Metric) -> Vector:
        return canonical(of_source(as_gauge(metric), settings, "gpuscope"), settings)

    def told(metric: Metric) -> Vector:
        return canonical(of_source(as_info(metric), settings, "gpuscope"), settings)

    def named(found: Vector, part_from: str, word: str = "$1") -> Vector:
        return label_replace(found, "part", word, part_from, "(.*)")

    def problem(found: Vector, *, part: str = "", reason: str = "") -> Recording:
        labels = {"part": part, "reason": reason}
        fixed = {name: value for name, value in labels.items() if value}
        kept = [name for name in ("cluster", "node", "part", "reason") if name not in fixed]
        return recording(source.PROBLEM, group_by(found, *kept), source="gpuscope", **fixed)

    keys = ("cluster", "node", "part", "reason")
    lustre_read = raw(lustre.SOURCE_AVAILABLE).compare("==", 1)
    lustre_unread = told(lustre.SOURCE_UNAVAILABLE_INFO).unless(lustre_read, on=("cluster", "node", "param"))
    # What tells its own reason is one rule: of several with equal labels promtool warns.
    reasoned = group_by(named(told(attribution.SOURCE_FAILURE), "source", "allocations from $1"), *keys)
    reasoned = reasoned.or_(group_by(named(told(filesystem.FAILURE_INFO), "mountpoint", "mount $1"), *keys))
    reasoned = reasoned.or_(group_by(named(lustre_unread, "param", "Lustre $1"), *keys))
    failing = rate(of_source(as_counter(agent.NVML_ERRORS), settings, "gpuscope"), "5m")
    unsupported = raw(agent.NVML_UNSUPPORTED)
    return (
        problem(told(agent.UNAVAILABLE_INFO), part="driver"),
        problem(
            named(raw(agent.COLLECTOR_SUCCESS).compare("==", 0), "collector"),
            reason="it failed on at least one GPU: see the agent's log",
        ),
        problem(
            named(raw(agent.WORKER_STUCK).compare("==", 1), "gpu", "GPU $1"),
            reason="a call of the driver does not return",
        ),
        problem(
            raw(agent.RELOAD_SUCCESS).compare("==", 0),
            part="configuration",
            reason="the last reload was refused: the settings from before it are in force",
        ),
        problem(raw(xid.EVENT_WATCHER_UP).compare("==", 0), part="XID events", reason="the driver gives no events"),
        problem(
            raw(xid.KERNEL_LOG_UP).compare("==", 0),
            part="kernel log",
            reason="it cannot be read: the agent needs /dev/kmsg",
        ),
        problem(told(processes.VISIBILITY_FAILURE), part="processes"),
        recording(source.PROBLEM, reasoned, source="gpuscope"),
        recording(
            source.PROBLEM, group_by(named(told(scheduler.SOURCE_FAILURE), "scheduler"), *keys), source="collector"
        ),
        recording(
            source.FAILING_CALLS, sum_by(canonical(failing, settings), "cluster", "call", "code").compare(">", 0)
        ),
        recording(source.UNSUPPORTED, sum_by(unsupported, "cluster", "call").compare(">", 0)),
    )
