"""Alerts about sources that were there within a day and are gone: their absence must not look like rest."""

from __future__ import annotations

from gpuscope_generator.normalized import source, watch
from gpuscope_generator.promql import Matcher, Vector, group_by, resampled, select
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.spoken import HELD

__all__ = ["ELSEWHERE", "GPU_EXPORTERS", "WATCHED", "source_alerts"]

WATCHED = (
    "collector", "kube-state-metrics", "cadvisor", "node-exporter", "nvsentinel", "lustre", "yace", "nfs", "gpfs",
)  # fmt: skip
"""Sources that are there as long as their cluster is."""
GPU_EXPORTERS = ("gpuscope", "dcgm", "amd")
"""Exporters of GPUs: nodes without theirs have an alert of their own, as long as any other node has one."""
ELSEWHERE = (
    "vllm", "sglang", "tgi", "triton", "trtllm", "dynamo", "llm-d", "hyperpod-inference", "keda", "nccl", "ray-train",
    "kueue", "volcano", "training-operator", "jobset", "hyperpod", "slurm",
)  # fmt: skip
"""What comes and goes with models and jobs is missed by nobody. A scheduler that is gone is `SchedulerUnavailable`."""
_REMEMBERED = "1d"
_EACH = ("cluster", "source")


def source_alerts() -> tuple[Alert, ...]:
    """The alert about what is gone, whichever source it was."""
    return (_lost(),)


def _vanished(sources: tuple[str, ...]) -> Vector:
    """Sources that were there within a day, in clusters of which anything is told."""
    present = select(source.PRESENT, Matcher("source", "=~", "|".join(sources)))
    before = resampled("max_over_time", present, _REMEMBERED, "10m")
    return before.unless(present, on=_EACH).and_(select(source.PRESENT), on=("cluster",))


def _lost() -> Alert:
    # Another exporter may have taken over, and where one node still has its own the others are told of one by one.
    watched = group_by(select(watch.EXPORTERS), "cluster")
    unwatched = _vanished(GPU_EXPORTERS).unless(watched, on=("cluster",))
    return alert(
        name="GpuSourceLost",
        expression=group_by(_vanished(WATCHED).or_(unwatched), *_EACH),
        for_s=600,
        severity=Severity.WARNING,
        scope=Scope.MONITORING,
        component=Component.MONITORING,
        summary="A source of metrics is gone.",
        description="In cluster {{ $labels.cluster }} {{ $labels.source }} told something within the last day, and has "
        f"told nothing for {HELD}. Alerts that need it are silent, and boards have gaps: what it would tell is "
        "unknown.",
        action="Look at its pods and at the page Targets of Prometheus: the source is down, or its scrape was removed. "
        "If it was removed on purpose, silence this alert for a day.",
    )
