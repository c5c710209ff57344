"""Alerts about GPUs that are gone, that do not answer, or that their scheduler does not offer."""

from __future__ import annotations

from gpuscope_generator.normalized import fault, gpu, node
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.normalized.node import NODE
from gpuscope_generator.promql import Matcher, Vector, count_by, first_of, group_by, max_by, select
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import after_boot, outside_maintenance
from gpuscope_generator.rules.alerts.wording import DRAIN, counted, gpus_of_node, one_or_many
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.spoken import HELD
from gpuscope_generator.settings import Settings

__all__ = ["hardware_alerts"]

_SHARED = 2
"""A scheduler that counts so many times the GPUs that there are counts shares of them."""


def hardware_alerts(settings: Settings) -> RuleFile:
    """Alerts about the presence of GPUs."""
    rules = (_count(), _allocatable(), _off_bus(), _unresponsive(), _unhealthy())
    return RuleFile(
        path="alerts/hardware.yaml",
        comment="GPUs that are missing, that fell off the bus, whose driver does not answer, that their exporter calls "
        "unhealthy, or that the scheduler does not offer.",
        groups=(Group("gpuscope-alerts-hardware", settings.intervals.normalize, rules),),
    )


def _gpus(*states: str) -> Vector:
    return max_by(select(node.GPUS, Matcher("state", "=~", "|".join(states))), *NODE)


def _count() -> Alert:
    # A GPU whose calls hang is there: GpuDriverUnresponsive tells of it.
    gone = _gpus("missing") - count_by(select(fault.STUCK), *NODE)
    missing = first_of(gone, _gpus("missing")).compare(">", 0)
    # The exporter must answer: what it does not tell is unknown, and not lost. So it is while the driver is gone.
    answering = missing.and_(_gpus("present", "installed"), on=NODE)
    answering = answering.unless(select(fault.DRIVER_UP).compare("==", 0), on=NODE)
    shared = _gpus("expected") - _gpus("installed") * _SHARED
    shares = shared.compare(">=", 0).and_(_gpus("allocatable"), on=NODE)
    return alert(
        name="GpuCountBelowExpected",
        expression=outside_maintenance(after_boot(answering.unless(shares, on=NODE))),
        for_s=300,
        severity=Severity.CRITICAL,
        scope=Scope.NODE,
        component=Component.GPU,
        fault_class="off_bus",
        summary="A node has fewer GPUs than it should.",
        description="Of the GPUs that the machine or its scheduler knows of, {{ $value }} did not answer on "
        f"node {{{{ $labels.node }}}} for {HELD}: {gpus_of_node(gpu.UP, compared='== 0')}. None "
        "should be missing.",
        measured=f"{counted('GPU')} missing",
        action=f"{DRAIN}, then compare nvidia-smi -L with lspci. Reboot; a GPU that is lost again goes back to its "
        "maker.",
        carry={"node": "node"},
    )


def _allocatable() -> Alert:
    offered = first_of(_gpus("allocatable"), _gpus("expected"))
    fewer = (_gpus("present") - offered).compare(">", 0)
    kept_away = select(node.CORDONED).compare("==", 1).or_(select(node.READY).compare("==", 0))
    split = select(gpu.MIG_MODE).compare("==", 1)
    idle = fewer.unless(kept_away, on=NODE).unless(split, on=NODE)
    return alert(
        name="GpuAllocatableBelowPresent",
        expression=outside_maintenance(after_boot(idle)),
        for_s=900,
        severity=Severity.WARNING,
        scope=Scope.NODE,
        component=Component.SCHEDULER,
        tier=2,
        summary="A scheduler offers fewer GPUs than the node has.",
        description="Of the GPUs that answer on node {{ $labels.node }}, "
        f"{{{{ $value }}}} {one_or_many('has', 'have')} not been offered by its scheduler for {HELD}, although the "
        "node "
        "takes work. It should offer all of them.",
        measured=f"{counted('GPU')} not offered",
        action="Kubernetes: read the log of the device plugin, and restart it if no GPU is faulty. Slurm: compare "
        "gres.conf with nvidia-smi -L, then restart slurmd.",
        carry={"node": "node"},
    )


def _off_bus() -> Alert:
    events = max_by(select(fault.FAULTS, fault_class="off_bus"), *GPU).compare(">", 0)
    lost = group_by(select(fault.LOST), *GPU).and_(select(fault.LOST).offset("2m"), on=GPU)
    return alert(
        name="GpuFellOffBus",
        expression=outside_maintenance(first_of(events, lost)),
        keep_s=1800,
        severity=Severity.CRITICAL,
        scope=Scope.GPU,
        component=Component.GPU,
        fault_class="off_bus",
        summary="A GPU fell off the bus.",
        description="The driver reported within ten minutes that GPU {{ $labels.gpu }} of node {{ $labels.node }} "
        "cannot be reached over PCIe (XID 79 or 167), or has not found it for two minutes. Its work is lost; other "
        "GPUs of the node may follow.",
        action=f"{DRAIN} and reboot the host. Check power and seating; a GPU that does it again goes back to its "
        "maker.",
        carry={"node": "node", "gpu": "gpu"},
    )


def _unresponsive() -> Alert:
    stuck = count_by(select(fault.STUCK), *NODE)
    down = select(fault.DRIVER_UP).compare("==", 0)
    known = _gpus("installed", "expected").compare(">", 0)
    # On a node that takes no work somebody may be replacing the driver.
    gone = known.and_(down, on=NODE).unless(select(node.CORDONED).compare("==", 1), on=NODE)
    return alert(
        name="GpuDriverUnresponsive",
        expression=outside_maintenance(after_boot(first_of(gone, stuck))),
        for_s=300,
        severity=Severity.CRITICAL,
        scope=Scope.NODE,
        component=Component.GPU,
        fault_class="gpu_fw",
        summary="The GPU driver of a node does not answer.",
        description=f"For {HELD} calls of the driver about {counted('GPU')} of node {{{{ $labels.node }}}} have not "
        f"returned, or the driver could not be reached at all. Calls hang for: {gpus_of_node(fault.STUCK)}. Nothing "
        "else that is shown of these GPUs is current.",
        measured=f"{counted('GPU')} without an answer",
        action=f"{DRAIN}, run nvidia-bug-report.sh while the state lasts, and reboot.",
        carry={"node": "node"},
    )


def _unhealthy() -> Alert:
    failed = max_by(select(gpu.FAULT, fault="health_check"), *GPU).compare("==", 1)
    return alert(
        name="GpuHealthCheckFailed",
        expression=outside_maintenance(after_boot(failed)),
        for_s=300,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.GPU,
        tier=2,
        summary="The exporter of a GPU calls it unhealthy.",
        description=f"For {HELD} the health check of AMD's exporter has failed for GPU {{{{ $labels.gpu }}}} of node "
        "{{ $labels.node }}. It does not say why.",
        action=f"{DRAIN}, and read amd-smi metric --ecc and amd-smi bad-pages there. Reset the GPU once nothing runs "
        "on it.",
        carry={"node": "node", "gpu": "gpu"},
    )
