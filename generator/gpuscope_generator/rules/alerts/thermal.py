"""Alerts about heat, power and GPUs that are slower than the others of their job."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, node, workload
from gpuscope_generator.promql import count_by, join, max_by, ratio, select, sum_by
from gpuscope_generator.rules.alert import WORKLOAD, Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import outside_maintenance, with_rack
from gpuscope_generator.rules.alerts.wording import counted
from gpuscope_generator.rules.annotations import asked
from gpuscope_generator.rules.levels.heat import slowed_by_heat
from gpuscope_generator.rules.levels.pace import OF_JOB, busy_clocks
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings

__all__ = ["thermal_alerts"]

_HEADROOM = asked(select(gpu.HEADROOM, cluster="%q", uuid="%q").text, "cluster", "uuid")
_TEMPERATURE = asked(select(gpu.TEMPERATURE, cluster="%q", uuid="%q").text, "cluster", "uuid")
_RACK = ("cluster", "rack")


def thermal_alerts(settings: Settings) -> RuleFile:
    """Alerts about cooling, power supply, and pace."""
    return RuleFile(
        path="alerts/thermal.yaml",
        comment="Alerts about GPUs that heat or the power supply hold down, racks that are too hot, and GPUs that are "
        "slower than the others of their job.",
        groups=(
            Group(
                "gpuscope-alerts-thermal",
                settings.intervals.normalize,
                (_slowdown(settings), _power_brake(settings), _rack(settings), _straggler(settings)),
            ),
        ),
    )


def _slowdown(settings: Settings) -> Alert:
    limits = settings.thresholds
    return alert(
        name="GpuThermalSlowdown",
        expression=with_rack(outside_maintenance(slowed_by_heat(settings)), *gpu.GPU),
        for_s=300,
        keep_s=600,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.THERMAL,
        fault_class="thermal",
        summary="Heat holds a GPU down.",
        description="Heat held the clocks of GPU {{ $labels.gpu }} of node {{ $labels.node }} down for more than "
        f"{limits.thermal_slowdown_ratio * 100:.0f} % of ten minutes, or the GPU is within "
        f"{limits.thermal_slowdown_margin_celsius:g} °C of the temperature at which its hardware slows down. It works "
        "slower, and with it the whole job that it is part of.",
        measured=f'{{{{ with {_TEMPERATURE} }}}}{{{{ . | first | value | printf "%.1f" }}}} °C{{{{ end }}}}'
        f'{{{{ with {_HEADROOM} }}}}, {{{{ . | first | value | printf "%.1f" }}}} °C below its slowdown{{{{ end }}}}',
        action="Look at fans, airflow and inlet temperature of the node. If its neighbors in the rack are hot as well, "
        "call the facility.",
        carry={"node": "node", "gpu": "gpu"},
    )


def _power_brake(settings: Settings) -> Alert:
    share = settings.thresholds.power_brake_ratio
    braked = max_by(select(gpu.THROTTLED, reason="hw_power_brake"), *gpu.GPU).compare(">=", share)
    return alert(
        name="GpuPowerBrake",
        expression=with_rack(outside_maintenance(count_by(braked, *node.NODE)), *node.NODE),
        for_s=60,
        keep_s=600,
        severity=Severity.CRITICAL,
        scope=Scope.NODE,
        component=Component.THERMAL,
        fault_class="power",
        summary="The power supply of a node brakes its GPUs.",
        description="On node {{ $labels.node }} an external signal of the power supply held the clocks of "
        f"{counted('GPU')} down for {share * 100:.0f} % of five minutes or more; right would be 0. They run at a "
        "fraction of their "
        "speed.",
        measured=counted("GPU"),
        action="Call a technician: a power supply, a power distribution unit or the cap of the rack. Drain the node if "
        "it stays.",
        carry={"node": "node"},
    )


def _rack(settings: Settings) -> Alert:
    limits = settings.thresholds
    hot = outside_maintenance(max_by(select(node.THERMAL_SLOWDOWN), *node.NODE))
    there = max_by(select(node.GPUS, state="present"), *node.NODE)
    hot_by_rack = sum_by(join(hot, select(node.RACK), on=node.NODE, take=("rack",)), *_RACK)
    all_by_rack = sum_by(join(there, select(node.RACK), on=node.NODE, take=("rack",)), *_RACK)
    enough = hot_by_rack.compare(">=", limits.rack_thermal_gpus)
    return alert(
        name="GpuRackThermal",
        expression=ratio(hot_by_rack, all_by_rack).compare(">=", limits.rack_thermal_ratio).and_(enough, on=_RACK),
        for_s=300,
        keep_s=600,
        severity=Severity.CRITICAL,
        scope=Scope.RACK,
        component=Component.THERMAL,
        tier=2,
        fault_class="thermal",
        summary="Heat holds many GPUs of a rack down.",
        description="In rack {{ $labels.rack }} heat holds {{ $value | humanizePercentage }} of the GPUs down; "
        f"{limits.rack_thermal_ratio * 100:.0f} % and {limits.rack_thermal_gpus} of them or more are no fault of "
        "single nodes.",
        measured="{{ $value | humanizePercentage }} of the rack's GPUs",
        action="Call the facility: cooling, airflow or the water loop of the rack. Keep new work away from its nodes.",
    )


def _straggler(settings: Settings) -> Alert:
    least = settings.thresholds.straggler_clock_ratio
    clocks = busy_clocks()
    median = max_by(select(workload.JOB_CLOCK), *OF_JOB)
    slow = ratio(clocks, median, on=OF_JOB, many="left").compare("<", least)
    return alert(
        name="GpuStraggler",
        expression=outside_maintenance(max_by(slow, *gpu.GPU, "namespace", "workload", "team")),
        for_s=900,
        keep_s=600,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.THERMAL,
        tier=2,
        fault_class="straggler",
        summary="A GPU is slower than the others of its job.",
        description="GPU {{ $labels.gpu }} of node {{ $labels.node }} works at {{ $value | humanizePercentage }} of "
        f"the median clock of the GPUs of {WORKLOAD}, all of them busy, as a mean of "
        f"five minutes; right would be at least {least * 100:.0f} %. All others wait for it at each step.",
        measured="{{ $value | humanizePercentage }} of the median clock",
        action="Look for heat, power brake and row remapping of this GPU. If none explains it, take its node out at "
        "the next checkpoint and run a diagnosis.",
        carry={"node": "node", "gpu": "gpu"},
    )
