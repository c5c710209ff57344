"""Checks of our agent and our collector: how long ago they succeeded, and which cannot tell."""

from __future__ import annotations

from gpuscope.catalogue import agent, attribution, recovery, scheduler, xid
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.external.sources import UP
from gpuscope_generator.normalized import node, source, watch
from gpuscope_generator.promql import (
    Matcher,
    Vector,
    as_counter,
    as_gauge,
    as_info,
    first_of,
    group_by,
    increase,
    label_replace,
    max_by,
    now,
    resampled,
    select,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.adapting import followed
from gpuscope_generator.rules.sources.canonical import canonical, clustered, of_source
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["check_rules"]

_CHECK = (*node.NODE, "check")
_TARGET = ("cluster", "job", "instance")
_REMEMBERED = "1d"
_GAUGED = Matcher("source", "=~", "kueue|volcano|slurm")
"""Controllers that tell something as long as they live."""
_COUNTED = Matcher("source", "=~", "training-operator|jobset|hyperpod")
"""Controllers that tell nothing until the first job after their start: only a failed scrape says that one is gone."""


def check_rules(settings: Settings) -> RuleFile:
    """Rules of checks, and of the schedulers that the collector asks."""
    return RuleFile(
        path="recording/checks.yaml",
        comment="From our agent and our collector to checks that are late or that cannot tell, and to schedulers and "
        "controllers of jobs that do not answer.",
        groups=(
            Group(
                "gpuscope-normalize-checks",
                settings.intervals.aggregate,
                (*_ages(settings), recording(watch.CHECK_UNKNOWN, _unknown(settings)), _schedulers(settings)),
            ),
        ),
    )


def _ages(settings: Settings) -> tuple[Recording, ...]:
    # What never changes is read once; that this was long ago is as it should be.
    again = Matcher("tier", "!=", "static")
    cycles = canonical(of_source(as_gauge(agent.CYCLE_LAST), settings, "gpuscope", again), settings)
    by_tier = max_by(label_replace(cycles, "check", "$1 cycle", "tier", "(.*)"), *_CHECK)
    looks = clustered(of_source(as_gauge(scheduler.LAST_SUCCESS), settings, "collector"), settings)
    # Of two collectors the one that waits does not look.
    by_scheduler = max_by(label_replace(looks, "check", "$1 by the collector", "scheduler", "(.*)"), "cluster", "check")
    return (
        recording(watch.CHECK_AGE, by_tier * -1 + now()),
        recording(watch.CHECK_AGE, by_scheduler * -1 + now(), node=""),
    )


def _unknown(settings: Settings) -> Vector:
    def raw(metric: Metric, *conditions: Matcher) -> Vector:
        return canonical(of_source(as_gauge(metric), settings, "gpuscope", *conditions), settings)

    alive = raw(agent.UP).compare("==", 1)
    begun = raw(agent.READY).compare("==", 0).and_(alive, on=node.NODE)
    failed = label_replace(raw(agent.COLLECTOR_SUCCESS).compare("==", 0), "check", "$1", "collector", "(.*)")
    deaf = raw(xid.EVENT_WATCHER_UP).compare("==", 0)
    unread = raw(xid.KERNEL_LOG_UP).compare("==", 1)
    failures = canonical(of_source(as_info(attribution.SOURCE_FAILURE), settings, "gpuscope"), settings)
    unasked = label_replace(failures, "check", "allocations from $1", "source", "(.*)")
    # A code that the agent does not know adds no state; it is counted among what was thrown away.
    thrown = Matcher("metric", "=", recovery.RECOVERY_ACTION.name)
    counted = of_source(as_counter(agent.IMPLAUSIBLE), settings, "gpuscope", thrown)
    action = canonical(increase(counted, "10m"), settings).compare(">", 0)
    return first_of(
        group_by(labelled(begun, check="first cycle"), *_CHECK),
        group_by(failed.and_(alive, on=node.NODE), *_CHECK),
        group_by(labelled(deaf.unless(unread, on=node.NODE), check="XID errors"), *_CHECK),
        group_by(unasked, *_CHECK),
        group_by(labelled(action, check="recovery action"), *_CHECK),
    )


def _schedulers(settings: Settings) -> Recording:
    each = ("cluster", "scheduler")
    asked = max_by(clustered(of_source(as_gauge(scheduler.SOURCE_UP), settings, "collector"), settings), *each)

    def named(found: Vector) -> Vector:
        words = label_replace(found, "scheduler", "$1", "source", "(.*)")
        # Where our collector asks Slurm itself, an exporter of it says nothing more.
        own = labelled(followed(settings, "slurm"), scheduler="slurm")
        return group_by(words, *each).unless(own, on=each)

    present = select(source.PRESENT, _GAUGED)
    vanished = resampled("max_over_time", present, _REMEMBERED, "10m").unless(present, on=("cluster", "source"))
    silent = max_by(canonical(select(UP), settings), *_TARGET).compare("==", 0)
    target = select(source.TARGET, _COUNTED)
    dead = resampled("max_over_time", target, _REMEMBERED, "10m").and_(silent, on=_TARGET)
    counted = select(source.PRESENT, _COUNTED)
    lost = group_by(vanished, "cluster", "source").or_(group_by(dead, "cluster", "source"))
    there = group_by(present, "cluster", "source").or_(group_by(counted, "cluster", "source"))
    gone = lost.unless(there, on=("cluster", "source"))
    return recording(watch.SCHEDULER_UP, first_of(asked, named(there), named(gone) * 0, on=each))
