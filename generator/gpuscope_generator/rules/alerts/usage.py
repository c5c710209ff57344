"""Alerts for the owners of work: GPUs that they hold and that do nothing."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, inference, mig, workload
from gpuscope_generator.promql import (
    Gauge,
    Matcher,
    Vector,
    avg_over_time,
    group_by,
    max_by,
    max_over_time,
    ratio,
    select,
    sum_by,
)
from gpuscope_generator.rules.alert import Alert, Audience, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.wording import counted
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.spoken import held_and
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.link import Noun

__all__ = ["usage_alerts"]

_HOUR = "1h"
_OWNER = ("cluster", "namespace", "workload_kind", "workload", "team")
_WORK = ("cluster", "namespace", "workload")


def usage_alerts(settings: Settings) -> RuleFile:
    """Alerts about GPUs that are held for nothing; each says how many of a workload's."""
    alerts = (
        _idle(settings, Severity.INFO, 1800),
        _idle(settings, Severity.WARNING, 3 * 3600),
        _memory_held(settings),
    )
    return RuleFile(
        path="alerts/usage.yaml",
        comment="Alerts for the owners of work: GPUs and MIG instances that they hold and that do nothing. Model "
        "servers "
        "and interactive work are left out.",
        groups=(Group("gpuscope-alerts-usage", settings.intervals.slow, alerts),),
    )


def _quiet(series: Gauge, keys: tuple[str, ...], mean: float, peak: float | None = None) -> Vector:
    """Devices whose activity was low for an hour, and known all the time: what is not known is not idle."""
    active = select(series)
    found = max_by(avg_over_time(active, _HOUR), *keys).compare("<", mean)
    if peak is not None:
        found = found.and_(max_by(max_over_time(active, _HOUR), *keys).compare("<", peak), on=keys)
    for known in (active, *(active.offset(past) for past in ("20m", "40m", _HOUR))):
        found = found.and_(known, on=keys)
    return found


def _held(settings: Settings, share: Gauge, found: Vector, keys: tuple[str, ...]) -> Vector:
    """What workloads have of these devices that held them for the whole hour too."""
    conditions = [Matcher("workload", "!=", "")]
    for label, patterns in (("workload_kind", settings.interactive_kinds), ("queue", settings.interactive_queues)):
        if patterns:
            conditions.append(Matcher(label, "!~", "|".join(patterns)))
    same = (*_WORK, *keys[1:])
    mine = sum_by(select(share, *conditions), *_OWNER, *keys[1:]).and_(found, on=keys)
    return mine.and_(select(share, *conditions).offset(_HOUR), on=same)


def _counted(settings: Settings, whole: Vector, parts: Vector) -> Vector:
    devices = _held(settings, workload.POD_GPU_SHARE, whole, gpu.GPU)
    instances = _held(settings, workload.POD_MIG_SHARE, parts, mig.MIG)
    servers = group_by(select(inference.MODEL_INFO, Matcher("workload", "!=", "")), *_WORK)
    return sum_by(devices.or_(instances), *_OWNER).unless(servers, on=_WORK)


def _idle(settings: Settings, severity: Severity, for_s: int) -> Alert:
    limits = settings.thresholds
    mean, peak = limits.allocated_idle_ratio, limits.allocated_idle_peak_ratio
    whole = _quiet(gpu.COMPUTE_ACTIVE, gpu.GPU, mean, peak)
    parts = _quiet(mig.COMPUTE_ACTIVE, mig.MIG, mean, peak)
    return alert(
        name="GpuAllocatedIdle",
        expression=_counted(settings, whole, parts),
        for_s=for_s,
        severity=severity,
        scope=Scope.JOB,
        component=Component.USAGE,
        audience=Audience.OWNER,
        tier=2,
        summary=f"A workload has held GPUs for {held_and(3600)} that did nothing.",
        description="{{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.workload }} holds "
        f"{counted('GPU', digits='%.3g')} whose "
        f"compute activity over the last hour was below {mean * 100:.0f} % on average and never reached "
        f"{peak * 100:.0f} %. Somebody else could use them. Shared GPUs and MIG instances count by their share.",
        measured=counted("GPU", digits="%.3g"),
        action="Look whether the job still works; stop it if it does not, or ask for fewer GPUs.",
        board=Noun.TASK,
        carry={"namespace": "namespace", "workload": "workload"},
    )


def _memory_held(settings: Settings) -> Alert:
    limits = settings.thresholds
    rare, full = limits.rare_busy_ratio, limits.memory_held_ratio

    def resident(active: Gauge, used: Gauge, total: Gauge, keys: tuple[str, ...]) -> Vector:
        share = ratio(
            max_by(avg_over_time(select(used), _HOUR), *keys), max_by(avg_over_time(select(total), _HOUR), *keys)
        )
        return share.compare(">", full).and_(_quiet(active, keys, rare), on=keys)

    whole = resident(gpu.COMPUTE_ACTIVE, gpu.MEMORY_USED, gpu.MEMORY_TOTAL, gpu.GPU)
    parts = resident(mig.COMPUTE_ACTIVE, mig.MEMORY_USED, mig.MEMORY_TOTAL, mig.MIG)
    return alert(
        name="GpuMemoryHeldIdle",
        expression=_counted(settings, whole, parts),
        for_s=3600,
        severity=Severity.INFO,
        scope=Scope.JOB,
        component=Component.USAGE,
        audience=Audience.OWNER,
        tier=2,
        summary="A workload fills the memory of GPUs that hardly work.",
        description="{{ with $labels.namespace }}{{ . }}/{{ end }}{{ $labels.workload }} holds "
        f"{counted('GPU', digits='%.3g')} of whose "
        f"memory more than {full * 100:.0f} % was in use over the last hour, at a mean compute activity below "
        f"{rare * 100:.0f} %. A process that was left behind, a data loader that cannot keep up, or a model that "
        "nobody "
        "asks look like this.",
        measured=counted("GPU", digits="%.3g"),
        action="Look for processes that were left behind, then at the data loader; give the GPUs back if nothing needs "
        "them.",
        board=Noun.TASK,
        carry={"namespace": "namespace", "workload": "workload"},
    )
