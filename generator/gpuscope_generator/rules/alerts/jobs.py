"""Alerts about training jobs: one that stands still, restarts in a loop, was ended by a machine, or is not saved."""

from __future__ import annotations

from gpuscope_generator.normalized import training
from gpuscope_generator.promql import (
    Matcher,
    Vector,
    changes,
    first_of,
    increase,
    join,
    max_by,
    max_over_time,
    min_over_time,
    now,
    on,
    present_over_time,
    ratio,
    select,
)
from gpuscope_generator.rules.alert import Alert, Audience, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.standstill import STARTING, standing_still
from gpuscope_generator.rules.alerts.wording import counted
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.link import Noun

__all__ = ["job_alerts"]

_JOB = training.JOB
_LEARNED = "1d"
"""So far back the distance of two checkpoints is learned from."""
_CARRIED = {"namespace": "namespace", "workload": "workload"}


def job_alerts(settings: Settings) -> RuleFile:
    """Alerts about single jobs that the collector follows."""
    limits = settings.thresholds
    alerts = (
        _stalled(settings, Severity.CRITICAL, _large(limits.stall_critical_gpus)),
        _stalled(settings, Severity.WARNING, None),
        _restart_loop(settings),
        _failed(settings, Severity.CRITICAL, _large(limits.failed_critical_gpus)),
        _failed(settings, Severity.WARNING, None),
        _unsaved(settings),
    )
    return RuleFile(
        path="alerts/jobs.yaml",
        comment="Alerts about training jobs that the gpuscope collector follows: no progress, restarts in a loop, ends "
        "by fault of the infrastructure, and old checkpoints.",
        groups=(Group("gpuscope-alerts-jobs", settings.intervals.aggregate, alerts),),
    )


def _large(gpus: int) -> Vector:
    return select(training.JOB_GPUS).compare(">=", gpus)


def _of_size(found: Vector, settings: Settings, large: Vector | None, least: int) -> Vector:
    """What concerns large jobs, or all others: those whose number of GPUs nobody knows are among these."""
    return found.unless(_large(least), on=_JOB) if large is None else found.and_(large, on=_JOB)


def _owned(found: Vector) -> Vector:
    """With the team of the job."""
    return join(max_by(found, *_JOB), select(training.JOB_INFO), on=_JOB, take=("team",))


def _stalled(settings: Settings, severity: Severity, large: Vector | None) -> Alert:
    limits = settings.thresholds
    found = _of_size(standing_still(settings), settings, large, limits.stall_critical_gpus)
    return alert(
        name="JobStalled",
        expression=_owned(found),
        for_s=300,
        severity=severity,
        scope=Scope.JOB,
        component=Component.TRAINING,
        audience=Audience.OWNER,
        tier=2,
        fault_class="no_progress",
        summary="A training job holds its GPUs and makes no progress.",
        description="Job {{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.workload }} has made no progress for "
        f"{{{{ $value | humanizeDuration }}}}. While it trains more than {limits.stall_minutes:.0f} minutes or five "
        "of its "
        f"steps are too long, after a start {limits.first_step_minutes:.0f} minutes, and for a checkpoint "
        f"{limits.checkpoint_write_minutes:.0f} minutes. Its GPUs do not evaluate either, as far as that is measured.",
        measured="{{ $value | humanizeDuration }} without progress",
        action="Take the stacks of all ranks before you restart it; compare the ranks, then look at links, storage and "
        "GPU faults of its nodes.",
        board=Noun.TASK,
        carry=_CARRIED,
    )


def _restart_loop(settings: Settings) -> Alert:
    least = settings.thresholds.restarts_per_hour
    step = training.JOB_STEP
    often = max_by(increase(select(training.JOB_RESTARTS), "1h"), *_JOB).compare(">=", least)
    reached = max_by(max_over_time(select(step), "30m"), *_JOB)
    before = max_by(max_over_time(select(step), "6h", until="30m"), *_JOB)
    further = on(reached, "-", before, _JOB).compare(">", 0)
    return alert(
        name="JobRestartLoop",
        expression=_owned(often.unless(further, on=_JOB)),
        keep_s=3600,
        severity=Severity.WARNING,
        scope=Scope.JOB,
        component=Component.TRAINING,
        audience=Audience.OWNER,
        summary="A training job starts again and again and gets no further.",
        description="Job {{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.workload }} was started again "
        f"{counted('time')} within an hour, and for half an hour it has not got beyond the "
        "step that it had reached before.",
        measured=f"{counted('restart')} in an hour",
        action="Stop the automatic restarts, and read the log of the first attempt that failed: the later ones often "
        "fail of something else.",
        board=Noun.TRAINING,
        carry=_CARRIED,
    )


def _failed(settings: Settings, severity: Severity, large: Vector | None) -> Alert:
    least = settings.thresholds.failed_critical_gpus
    end = training.JOB_END_TIME
    by_fault = select(end, Matcher("outcome", "=~", "failed|interrupted"), Matcher("domain", "=", "infrastructure"))
    lost = select(end, Matcher("outcome", "=", "interrupted"), Matcher("domain", "=~", "unknown|"))
    ended = max_by(first_of(by_fault, lost), *_JOB)
    lately = (ended * -1 + now()).compare("<", 3600)
    return alert(
        name="JobFailedInfra",
        expression=_owned(_of_size(lately, settings, large, least)),
        severity=severity,
        scope=Scope.JOB,
        component=Component.TRAINING,
        audience=Audience.OWNER,
        fault_class="infrastructure",
        summary="The infrastructure ended a training job, and nothing starts it again.",
        description="Job {{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.workload }} ended for good "
        "{{ $value | humanizeDuration }} ago, and not by its own fault: a node, a GPU or the network failed under it. "
        "This is told for an hour.",
        measured="ended {{ $value | humanizeDuration }} ago",
        action="Submit it again without the node that failed; the board names the fault and the node.",
        board=Noun.TRAINING,
        carry=_CARRIED,
    )


def _unsaved(settings: Settings) -> Alert:
    limit = settings.thresholds.checkpoint_age_seconds
    saved = select(training.JOB_CHECKPOINT_TIME)
    age = max_by(saved, *_JOB) * -1 + now()
    count = max_by(changes(saved, _LEARNED), *_JOB).compare(">=", 2)
    span = max_by(max_over_time(saved, _LEARNED), *_JOB) - max_by(min_over_time(saved, _LEARNED), *_JOB)
    allowed = ratio(span, count) * 2 + 600
    late = on(age, "-", allowed, _JOB).compare(">", 0)
    unlike_before = age.and_(late, on=_JOB)
    old = age.compare(">", limit).unless(allowed, on=_JOB)
    works = select(training.JOB_STATE, Matcher("state", "=~", "training|stalled|checkpointing"))
    began = present_over_time(select(training.JOB_STATE, STARTING), f"{limit:.0f}s")
    found = first_of(unlike_before, old).and_(works, on=_JOB).unless(began, on=_JOB)
    return alert(
        name="JobCheckpointStale",
        expression=_owned(found),
        for_s=300,
        severity=Severity.WARNING,
        scope=Scope.JOB,
        component=Component.TRAINING,
        audience=Audience.OWNER,
        tier=2,
        summary="A training job has not saved its state for too long.",
        description="The newest complete checkpoint of job {{ with $labels.namespace }}{{ . }}/{{ end }}{{ "
        "$labels.workload }} is "
        "{{ $value | humanizeDuration }} old: more than twice the time between its checkpoints so far, or, where "
        "that is "
        f"not known, more than {limit:.0f} seconds. All work since then is lost if it fails now.",
        measured="newest checkpoint {{ $value | humanizeDuration }} old",
        action="Look whether the job can write where it saves (space, quota, permissions), and whether saving hangs.",
        board=Noun.TRAINING,
        carry=_CARRIED,
    )
