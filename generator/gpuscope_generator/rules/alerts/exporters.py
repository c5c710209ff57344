"""Alerts about exporters of GPUs: down, many of them down, alive but silent, or telling the same for ever."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, node, source, watch
from gpuscope_generator.promql import (
    Vector,
    avg_over_time,
    changes,
    count_by,
    group_by,
    increase,
    max_by,
    ratio,
    select,
)
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import outside_maintenance, with_gpus, worked_on
from gpuscope_generator.rules.alerts.wording import counted, one_or_many
from gpuscope_generator.rules.annotations import asked
from gpuscope_generator.rules.spoken import held_and
from gpuscope_generator.settings import Settings

__all__ = ["exporter_alerts"]

_WHY = (
    f"{{{{ range {asked(select(source.PROBLEM, cluster='%q', node='%q').text, 'cluster', 'node')} }}}}"
    " {{ .Labels.part }}: {{ .Labels.reason }}.{{ end }}"
)
"""What the agent on the node itself says, if anything."""


def exporter_alerts(settings: Settings) -> tuple[Alert, ...]:
    """Alerts that fire when the numbers of a node are missing or cannot be believed."""
    return (_down(), _down_under_work(), _flapping(settings), _many_down(settings), _series_missing(), _frozen())


_TURNS = 5
"""So many changes from up to down and back are three interruptions: one rollout, or two in a row, are fewer."""


def _exporters_down() -> Vector:
    return outside_maintenance(max_by(select(watch.EXPORTERS, state="down"), *node.NODE).compare(">", 0))


def _down() -> Alert:
    return alert(
        name="GpuExporterDown",
        expression=_exporters_down(),
        for_s=300,
        severity=Severity.WARNING,
        scope=Scope.NODE,
        component=Component.MONITORING,
        summary="An exporter of GPUs does not answer.",
        description="Of the exporters of GPUs on node {{ $labels.node }}, "
        f"{{{{ $value }}}} {one_or_many('does', 'do')} not answer, or should be there and "
        f"{one_or_many('is', 'are')} not; right would be 0. What they told is unknown now, and no fault of these "
        "GPUs can be seen.",
        measured=f"{counted('exporter')} down",
        action="Look at the exporter's pod or service on the node, then at the driver with nvidia-smi. Do not read the "
        "silence as health.",
        carry={"node": "node"},
    )


def _down_under_work() -> Alert:
    return alert(
        name="GpuExporterDown",
        expression=worked_on(_exporters_down()),
        for_s=900,
        severity=Severity.CRITICAL,
        scope=Scope.NODE,
        component=Component.MONITORING,
        summary="An exporter of GPUs does not answer, and work runs there.",
        description="Of the exporters of GPUs on node {{ $labels.node }}, "
        f"{{{{ $value }}}} {one_or_many('does', 'do')} not answer, or should be there and "
        f"{one_or_many('is', 'are')} not; right would be 0. Work holds GPUs of this node, and no fault of them can "
        "be seen.",
        measured=f"{counted('exporter')} down",
        action="Look at the exporter's pod or service on the node, then at the driver with nvidia-smi. When the driver "
        "hangs, drain the node.",
        carry={"node": "node"},
    )


def _flapping(settings: Settings) -> Alert:
    most = settings.thresholds.exporter_flapping_ratio
    down = select(watch.EXPORTERS, state="down")
    long = max_by(avg_over_time(down, "30m"), *node.NODE).compare(">", most)
    often = max_by(changes(down, "30m"), *node.NODE).compare(">=", _TURNS)
    return alert(
        name="GpuExporterFlapping",
        expression=outside_maintenance(long.and_(often, on=node.NODE)),
        for_s=120,
        severity=Severity.WARNING,
        scope=Scope.NODE,
        component=Component.MONITORING,
        summary="An exporter of GPUs comes and goes.",
        description="In the last half hour exporters of GPUs on node {{ $labels.node }} went down at least three "
        "times, "
        f"and were down for {{{{ $value | humanizePercentage }}}} of it; more than {most * 100:.0f} % is too much. "
        "Each "
        "time alerts about these GPUs begin to wait anew: a fault may never be told.",
        measured="down for {{ $value | humanizePercentage }} of half an hour",
        action="Look why its pod or service restarts (kubectl describe pod, journalctl): memory, a liveness probe, a "
        "driver that hangs, or scrapes that take too long.",
        carry={"node": "node"},
    )


def _many_down(settings: Settings) -> Alert:
    share = settings.thresholds.exporters_down_ratio
    down = count_by(_exporters_down(), "cluster")
    known = count_by(max_by(select(watch.EXPORTERS), *node.NODE), "cluster")
    return alert(
        name="GpuExporterDownMany",
        expression=ratio(down, known).compare(">", share).and_(down.compare(">=", 2), on=("cluster",)),
        for_s=600,
        severity=Severity.CRITICAL,
        scope=Scope.CLUSTER,
        component=Component.MONITORING,
        summary="Exporters of GPUs are down on many nodes at once.",
        description="On {{ $value | humanizePercentage }} of the nodes with GPUs an exporter does not answer; more "
        f"than {share * 100:.0f} % at once is one fault of all, and not many of single nodes.",
        measured="{{ $value | humanizePercentage }} of nodes",
        action="Look for what all have in common: a rollout, a network policy, RBAC, a new driver. Roll it back.",
    )


def _series_missing() -> Alert:
    silent = with_gpus(max_by(select(watch.EXPORTERS, state="up"), *node.NODE).compare(">", 0))
    return alert(
        name="GpuSeriesMissing",
        expression=outside_maintenance(silent.unless(group_by(select(node.GPU_FACTS), *node.NODE), on=node.NODE)),
        for_s=600,
        severity=Severity.WARNING,
        scope=Scope.NODE,
        component=Component.MONITORING,
        summary="An exporter answers and tells of no GPU, on a node that has some.",
        description="On node {{ $labels.node }} "
        f"{counted('exporter')} {one_or_many('answers', 'answer')} and {one_or_many('tells', 'tell')} of no GPU, "
        "though "
        "the node has some, by its scheduler or by what was told within a day. Their state is unknown, not healthy."
        + _WHY,
        action="Run nvidia-smi on the node: a driver that hangs or is not loaded is the usual cause. Treat the node as "
        "not usable until it answers.",
        carry={"node": "node"},
    )


def _frozen() -> Alert:
    # Energy rises as long as a GPU has power: of a partition without a sensor, or a GPU that is off, it stays 0.
    still = max_by(increase(select(gpu.ENERGY), "10m"), *gpu.GPU).compare("==", 0)
    drawing = max_by(select(gpu.POWER), *gpu.GPU).compare(">", 0)
    unmoved = max_by(changes(select(gpu.POWER), "10m"), *gpu.GPU).compare("==", 0)
    lost = max_by(select(gpu.UP), *gpu.GPU).compare("==", 0)
    found = drawing.and_(still, on=gpu.GPU).and_(unmoved, on=gpu.GPU).unless(lost, on=gpu.GPU)
    return alert(
        name="GpuReadingsFrozen",
        expression=outside_maintenance(found),
        for_s=600,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.MONITORING,
        summary="The readings of a GPU do not change any more.",
        description='GPU {{ $labels.gpu }} of node {{ $labels.node }} is said to draw {{ $value | printf "%.0f" }} W, '
        f"and for {held_and(600)} neither that nor its energy counter moved. Energy rises while a GPU has power: these "
        "are old values, and the truth is unknown.",
        measured=f'the same {{{{ $value | printf "%.0f" }}}} W for {held_and(600)}',
        action="Restart the exporter. If the readings stay, the driver hangs: drain the node and reboot it.",
        carry={"node": "node", "gpu": "gpu"},
    )
