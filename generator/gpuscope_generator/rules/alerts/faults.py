"""Alerts about other faults of GPUs: firmware, applications, and GPUs on which faults come again."""

from __future__ import annotations

from gpuscope_generator.normalized import fault
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.normalized.node import NODE
from gpuscope_generator.promql import (
    Matcher,
    Vector,
    count_by,
    group_by,
    max_by,
    max_over_time,
    resampled,
    select,
    sum_by,
)
from gpuscope_generator.rules.alert import Alert, Audience, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import outside_maintenance
from gpuscope_generator.rules.alerts.wording import DRAIN, FOLLOW_DRIVER, counted
from gpuscope_generator.rules.fault_classes import APPLICATION, INFRASTRUCTURE, UNKNOWN
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.settings import Settings
from gpuscope_generator.view.link import Noun

__all__ = ["fault_alerts"]

_WHERE = {"node": "node", "gpu": "gpu"}
_WORK = ("cluster", "namespace", "workload", "team")
_HELD = (
    '{{ range $index, $one := query (printf "topk(3, count by (namespace, workload) (gpu:owner:union{cluster=%q} '
    'and on (cluster, node, gpu, uuid) gpu:infrastructure_fault_began:bool))" $labels.cluster) }}'
    "{{ if $index }}, {{ end }}{{ with $one.Labels.namespace }}{{ . }}/{{ end }}{{ $one.Labels.workload }} "
    "({{ $one.Value }} GPU{{ if ne $one.Value 1.0 }}s{{ end }})"
    "{{ else }}nobody known{{ end }}"
)
"""A template: the three workloads that hold most of the GPUs on which faults began."""


def fault_alerts(settings: Settings) -> RuleFile:
    """Alerts about faults that are neither of memory nor of links."""
    now = (_firmware(), _application(), _power(), _unknown(), _many(settings))
    of_days = (_follows(settings), _repeated(settings))
    return RuleFile(
        path="alerts/faults.yaml",
        comment="Faults of GPU firmware, power and of applications, GPUs on which faults come again, and codes that "
        "nobody knows. The end of a process (XID 43, 45) is no fault.",
        groups=(
            Group("gpuscope-alerts-faults", settings.intervals.normalize, now),
            Group("gpuscope-alerts-faults-of-days", settings.intervals.slow, of_days),
        ),
    )


def _events(name: str) -> Vector:
    return sum_by(select(fault.FAULTS, fault_class=name), *GPU).compare(">", 0)


def _firmware() -> Alert:
    return alert(
        name="GpuFirmwareFault",
        expression=outside_maintenance(_events("gpu_fw")),
        keep_s=1800,
        severity=Severity.CRITICAL,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class="gpu_fw",
        summary="The firmware of a GPU stopped.",
        description=f"{counted('fault')} of firmware or micro-controllers (XID 46, 62, 109, 110, 119, "
        "120, 143, 158, 169) within ten minutes on GPU {{ $labels.gpu }} of node {{ $labels.node }}. Its work is lost; "
        "there should be none.",
        measured=f"{counted('fault')} in 10 minutes",
        action=f"{DRAIN}, end what hangs on the GPU, and reset it; {FOLLOW_DRIVER}. The second time within a week "
        "switch the host off and on again, the third time have the GPU replaced.",
        carry=_WHERE,
    )


def _application() -> Alert:
    held = max_over_time(select(fault.APP_FAULT_HOLDER), "10m")
    return alert(
        name="GpuAppFault",
        # Planned maintenance of a node does not make a program right.
        expression=count_by(max_by(held, *GPU, *_WORK[1:]), *_WORK),
        severity=Severity.INFO,
        scope=Scope.PROCESS,
        component=Component.GPU,
        audience=Audience.OWNER,
        fault_class=APPLICATION,
        summary="A program made an error on a GPU.",
        description=f"{{{{ $labels.workload }}}} had within ten minutes errors on {counted('GPU')} that programs "
        "cause, "
        "such as an access outside of its memory (XID 13, 31 and others). The GPUs are well, and so are their nodes.",
        measured=counted("GPU"),
        action="Run the program once with compute-sanitizer, and read its log around the error. If it fails only on "
        "one GPU, tell the people who run the cluster.",
        board=Noun.TASK,
        carry={"namespace": "namespace", "workload": "workload"},
    )


def _follows(settings: Settings) -> Alert:
    least = settings.thresholds.app_fault_workloads
    seen = max_over_time(select(fault.APP_FAULT_ALONE), "1d")
    by_work = max_by(seen, *GPU, "namespace", "workload_kind", "workload", "job_id")
    return alert(
        name="GpuAppFaultFollowsGpu",
        expression=outside_maintenance(count_by(by_work, *GPU).compare(">=", least)),
        keep_s=21_600,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class=APPLICATION,
        summary="Errors that programs cause follow one GPU.",
        description=f"{counted('different workload')} failed within 24 hours with an error of programs (XID 13, 31 and "
        "others) on GPU {{ $labels.gpu }} of node {{ $labels.node }}, while their other GPUs had none at the time. "
        f"From {least:.0f} on the GPU is suspect, and not the programs.",
        measured=f"{counted('workload')} in 24 hours",
        action=f"{DRAIN}. Once the GPU is idle run dcgmi diag -r 3 on it, and the field diagnostics of the maker if "
        "that finds nothing.",
        carry=_WHERE,
    )


def _repeated(settings: Settings) -> Alert:
    least = settings.thresholds.repeated_faults
    times = sum_by(resampled("sum_over_time", select(fault.BEGAN), "7d", "10m"), *GPU)
    return alert(
        name="GpuRepeatedFault",
        expression=outside_maintenance(times.compare(">=", least)),
        keep_s=86_400,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.GPU,
        summary="A GPU had faults again and again.",
        description="GPU {{ $labels.gpu }} of node {{ $labels.node }} had "
        f"{counted('fault')} of the machine within "
        "seven days: memory, firmware, links, power, or off the bus. What comes within ten minutes counts once. From "
        f"{least:.0f} on resets and reboots do not help any more.",
        measured=f"{counted('fault')} in 7 days",
        action="Stop automatic repairs of this GPU, keep work off it, and have it replaced. Its serial number stands "
        "in the location of this alert.",
        carry=_WHERE,
    )


def _power() -> Alert:
    return alert(
        name="GpuPowerFault",
        expression=outside_maintenance(_events("power")),
        keep_s=1800,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class="power",
        summary="A GPU says that something is wrong with its power.",
        description="GPU {{ $labels.gpu }} of node {{ $labels.node }} reported within ten minutes that its power cable "
        "is not connected (XID 54), or that its power smoothing is off or worn out (XID 163 to 165).",
        measured=f"{counted('report')} in 10 minutes",
        action="XID 54: drain the node and have somebody look at the cables. Others: look at the GPU's temperature "
        "first, then ask the maker.",
        carry=_WHERE,
    )


def _many(settings: Settings) -> Alert:
    least = settings.thresholds.mass_fault_nodes
    faulty = select(fault.FAULTS, Matcher("fault_class", "=~", "|".join(INFRASTRUCTURE)))
    nodes = count_by(outside_maintenance(group_by(faulty, *NODE)), "cluster")
    return alert(
        name="GpuFaultsOnManyNodes",
        expression=nodes.compare(">=", least),
        keep_s=1800,
        severity=Severity.CRITICAL,
        scope=Scope.CLUSTER,
        component=Component.GPU,
        summary="GPUs of many nodes have faults at the same time.",
        description=f"{counted('node')} had faults of GPUs within ten minutes. From "
        f"{least:.0f} on one cause is likelier than many broken GPUs. Work that held most of these GPUs: {_HELD}.",
        measured=counted("node"),
        action="Stop all automatic repairs. One job on all of them: end it, and look at its program and at the "
        "fabric. Many jobs: look at power, cooling, a driver that was rolled out, and the fabric.",
    )


def _unknown() -> Alert:
    return alert(
        name="GpuUnknownFault",
        expression=outside_maintenance(_events(UNKNOWN)),
        keep_s=1800,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class=UNKNOWN,
        summary="A GPU reported an error that nobody knows.",
        description="GPU {{ $labels.gpu }} of node {{ $labels.node }} reported within ten minutes an XID that is not "
        "in the table of gpuscope. What it means is unknown: nothing should act on it by itself.",
        measured=f"{counted('error')} in 10 minutes",
        action="Read the line in the kernel log, and look the code up in the maker's list. Add a row for it to your "
        "table of XIDs.",
        carry=_WHERE,
    )
