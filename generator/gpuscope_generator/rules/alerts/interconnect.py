"""Alerts about what connects GPUs with each other and with the host: NVLink, its fabric, and PCIe."""

from __future__ import annotations

from gpuscope_generator.normalized import fault, gpu
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.normalized.node import NODE
from gpuscope_generator.promql import Matcher, Vector, count_by, first_of, group_by, max_by, on, select, sum_by
from gpuscope_generator.rules.alert import Alert, Component, Scope, Severity, alert
from gpuscope_generator.rules.alerts.guards import after_boot, outside_maintenance
from gpuscope_generator.rules.alerts.wording import DRAIN, FOLLOW_DRIVER, counted, gpus_of_node, one_or_many
from gpuscope_generator.rules.model import Group, RuleFile
from gpuscope_generator.rules.spoken import HELD
from gpuscope_generator.settings import Settings

__all__ = ["interconnect_alerts"]

_WHERE = {"node": "node", "gpu": "gpu"}
_JOB = ("cluster", "namespace", "workload_kind", "workload", "job_id")
_QUARTERS = 4
"""Quarters of an hour in an hour."""
_NOT_READY = Matcher("condition", "!=", "degraded_bandwidth")


def interconnect_alerts(settings: Settings) -> RuleFile:
    """Alerts about links."""
    rules = (
        _links(Severity.WARNING),
        _links(Severity.CRITICAL),
        _errors(settings),
        _fault(),
        _switch(),
        _fabric(),
        _pcie(),
    )
    return RuleFile(
        path="alerts/interconnect.yaml",
        comment="NVLink links that are down, links with errors, GPUs that are not in their fabric, and slow PCIe "
        "links. AMD's exporter tells no state of XGMI links.",
        groups=(Group("gpuscope-alerts-interconnect", settings.intervals.normalize, rules),),
    )


def _quiet(found: Vector) -> Vector:
    return outside_maintenance(after_boot(found))


def _links(severity: Severity) -> Alert:
    expected = max_by(select(fault.LINKS_EXPECTED), *GPU)
    up = max_by(select(gpu.NVLINK_LINKS, state="up"), *GPU)
    down = on(expected, "-", up, GPU).compare(">", 0)
    urgent = severity is Severity.CRITICAL
    owners = select(gpu.OWNER)
    several = count_by(group_by(owners, *_JOB, "node", "gpu"), *_JOB).compare(">", 1)
    used = group_by(owners.and_(several, on=_JOB), *GPU)
    tail = " Work that uses several GPUs runs on it." if urgent else ""
    return alert(
        name="GpuInterconnectLinkDown",
        expression=_quiet(down.and_(used, on=GPU) if urgent else down),
        for_s=600,
        severity=severity,
        scope=Scope.GPU,
        component=Component.INTERCONNECT,
        tier=2,
        fault_class="nvlink",
        summary="Links between GPUs are down.",
        description=f"{counted('NVLink link')} of GPU {{{{ $labels.gpu }}}} of node {{{{ $labels.node }}}} "
        f"{one_or_many('has', 'have')} been down for {HELD} that {one_or_many('was', 'were')} up within the last "
        "week, or that other GPUs of the node have. All should be up."
        f"{tail}",
        measured=f"{counted('link')} down",
        action="Keep new work that uses several GPUs off the node. Run nvidia-smi nvlink --status there, and look at "
        "both ends of the links: GPU, switch, fabric manager. Once nothing runs there reset all its GPUs, or reboot.",
        carry=_WHERE,
    )


def _errors(settings: Settings) -> Alert:
    limits = {
        "nvlink": settings.thresholds.nvlink_errors_per_hour,
        "pcie": settings.thresholds.pcie_replays_per_hour,
    }
    found = (sum_by(select(fault.LINK_ERRORS, interconnect=name), *GPU, "interconnect") * _QUARTERS for name in limits)
    above = (each.compare(">", limit) for each, limit in zip(found, limits.values(), strict=True))
    return alert(
        name="GpuInterconnectErrors",
        expression=_quiet(first_of(*above)),
        for_s=900,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.INTERCONNECT,
        tier=2,
        fault_class="nvlink",
        summary="A link of a GPU has many errors.",
        description=f"{counted('error')} an hour over {{{{ $labels.interconnect }}}} on GPU {{{{ $labels.gpu }}}} of "
        "node "
        f"{{{{ $labels.node }}}}, at the speed of the last 15 minutes and for {HELD}. Above "
        f"{limits['nvlink']:.0f} errors of NVLink, or {limits['pcie']:.0f} repeated packets of PCIe, work slows down.",
        measured=f"{counted('error')} an hour",
        action="Reset the GPU when it is next idle. NVLink: look at both ends. PCIe: reseat the board, look at the "
        "riser, and update firmware.",
        carry=_WHERE,
    )


def _fault() -> Alert:
    events = sum_by(select(fault.FAULTS, fault_class="nvlink"), *GPU).compare(">", 0)
    return alert(
        name="GpuInterconnectFault",
        expression=outside_maintenance(events),
        keep_s=1800,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.INTERCONNECT,
        fault_class="nvlink",
        summary="The driver reported a fault of NVLink.",
        description=f"{counted('fault')} of NVLink (XID 74, 136, 144 to 150, 155) within ten minutes "
        "on GPU {{ $labels.gpu }} of node {{ $labels.node }}. The cause may lie at the other end of the link.",
        measured=f"{counted('fault')} in 10 minutes",
        action="Look for the same alert on other GPUs of the node: the one that reported first, or a switch, is the "
        f"suspect; {FOLLOW_DRIVER}.",
        carry=_WHERE,
    )


def _switch() -> Alert:
    return alert(
        name="GpuSwitchFault",
        expression=outside_maintenance(max_by(select(fault.SWITCH_FAULTS), *NODE).compare(">", 0)),
        keep_s=1800,
        severity=Severity.CRITICAL,
        scope=Scope.NODE,
        component=Component.INTERCONNECT,
        tier=2,
        fault_class="nvlink",
        summary="An NVLink switch reported a fatal error.",
        description=f"{counted('fatal error')} (SXID) of NVLink switches within ten minutes on node "
        "{{ $labels.node }}. Links through the switch do not come back without a reset; there should be none.",
        measured=f"{counted('error')} in 10 minutes",
        action=f"{DRAIN}, and end what uses several GPUs. Once nothing runs there reset all GPUs of the node together. "
        "Reboot if a link stays down.",
        carry={"node": "node"},
    )


def _fabric() -> Alert:
    broken = max_by(select(fault.FABRIC, _NOT_READY), *GPU).compare("==", 1)
    return alert(
        name="GpuFabricNotReady",
        expression=_quiet(count_by(broken, *NODE)),
        for_s=600,
        severity=Severity.CRITICAL,
        scope=Scope.NODE,
        component=Component.INTERCONNECT,
        tier=2,
        fault_class="nvlink",
        summary="GPUs of a node are not in their NVLink fabric.",
        description=f"For {HELD} {counted('GPU')} of node {{{{ $labels.node }}}} {one_or_many('has', 'have')} not been "
        "registered with the fabric of NVLink switches, or the fabric is not well: "
        f"{gpus_of_node(fault.FABRIC, _NOT_READY)}. Work that "
        "uses several GPUs does not start there, and on many machines no new work at all.",
        measured=f"{counted('GPU')} without fabric",
        action=f"{DRAIN}. Look at nvidia-fabricmanager (systemctl status, its log), and that its version is the "
        "driver's; on NVL72 racks at the switch trays and at nvidia-imex. Start it if it is down. If it runs, restart "
        "it only once nothing runs on the node, as that may end work on all GPUs; then reboot.",
        carry={"node": "node"},
    )


def _pcie() -> Alert:
    slow = max_by(select(fault.PCIE_DEGRADED), *GPU, "what")
    return alert(
        name="GpuPcieDegraded",
        expression=_quiet(slow),
        for_s=900,
        severity=Severity.WARNING,
        scope=Scope.GPU,
        component=Component.INTERCONNECT,
        tier=2,
        summary="The PCIe link of a GPU is slower than it could be.",
        description="The PCIe {{ $labels.what }} of GPU {{ $labels.gpu }} of node {{ $labels.node }} has "
        f"been {{{{ $value | humanizePercentage }}}} of the best that GPU and slot can do for {HELD}. A width must "
        "always be whole; a generation must be while the GPU works, as here.",
        measured="{{ $value | humanizePercentage }} of the best {{ $labels.what }}",
        action="When the node is next drained, reboot it; if that does not help, reseat the board, and look at the "
        "riser and at the slot's settings in the BIOS. Nothing fails until then; copies to and from the host are slow.",
        carry=_WHERE,
    )
