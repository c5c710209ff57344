"""NVSentinel: what its health monitors saw, and what it did about nodes."""

from functools import partial

from gpuscope.simulate.cluster.curves import spread
from gpuscope.simulate.cluster.exposition import Page
from gpuscope.simulate.cluster.plan import CORDON
from gpuscope.simulate.cluster.sources.target import Source, Target, service
from gpuscope.simulate.cluster.world import World

__all__ = ["NVSENTINEL"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LONG = tuple(round(10 * 1.5**power, 4) for power in range(27))
_NOTICED_S = CORDON["cordoned"] - CORDON["fault"]
_REPAIR_S = CORDON["every"] - CORDON["fault"] + CORDON["uncordoned"]


def nvsentinel_page(world: World) -> str:
    """All its parts in one exposition."""
    page = Page()
    _monitors(page, world)
    _quarantine(page, world)
    return page.text()


def _monitors(page: Page, world: World) -> None:
    xids = page.counter("syslog_health_monitor_xid_errors", "Total number of XID errors found")
    fallen = page.counter("syslog_health_monitor_gpu_fallen_errors", "Total number of GPU fallen off errors detected")
    sxids = page.counter("syslog_health_monitor_sxid_errors", "Total number of SXID errors found")
    active = page.gauge("dcgm_health_active_events", "Total number of active health events at any given time")
    for machine in world.machines:
        counts: dict[int, int] = {}
        for _, code, _ in machine.xids():
            counts[code] = counts.get(code, 0) + 1
        for code, count in counts.items():
            xids.add(count, node=machine.name, err_code=code)
        if 79 in counts:
            fallen.add(counts[79], node=machine.name)
        sxids.add(0, node=machine.name, err_code="12028", link="32", nvswitch="1")
        if machine.faulty:
            active.add(1, event_type="GpuXidError", gpu_id="3", severity="fatal")


def _quarantine(page: Page, world: World) -> None:
    current = page.gauge("fault_quarantine_current_quarantined_nodes", "Current number of quarantined nodes")
    quarantined = page.counter("fault_quarantine_nodes_quarantined_total", "Total number of nodes quarantined")
    freed = page.counter("fault_quarantine_nodes_unquarantined_total", "Total number of nodes unquarantined")
    actions = page.counter("janitor_actions_count", "Total number of janitor actions by type and status")
    total = done = 0
    for machine in world.machines:
        if not machine.breaks:
            continue
        cordons = machine.cordons(world.since)
        repaired = cordons - machine.cordoned
        total += cordons
        done += repaired
        current.add(machine.cordoned, node=machine.name)
        quarantined.add(cordons, node=machine.name)
        freed.add(repaired, node=machine.name)
        actions.add(cordons, action_type="reboot", status="started", node=machine.name)
        actions.add(repaired, action_type="reboot", status="succeeded", node=machine.name)
    page.counter("fault_quarantine_cordons_applied_total", "Total number of cordons applied to nodes.").add(total)
    page.counter("fault_quarantine_cordons_removed_total", "Total number of cordons removed from nodes.").add(done)
    page.gauge("fault_quarantine_breaker_utilization", "Utilization of the fault quarantine breaker").add(
        round(sum(machine.cordoned for machine in world.machines) / len(world.machines), 4)
    )
    page.histogram(
        "fault_quarantine_node_quarantine_duration_seconds", "Time from health event to quarantine."
    ).observe(((spread(_SECONDS, _NOTICED_S / 10, 0.3), total),))
    for name, median in (
        ("fault_quarantine_node_remediation_duration_seconds", _REPAIR_S),
        ("fault_quarantine_node_remediation_duration_excluding_drain_seconds", _REPAIR_S - 60),
    ):
        page.histogram(name, "Node remediation time from health event generation to node unquarantine.").observe(
            ((spread(_LONG, median, 0.2), done),), recommended_action="RESTART_BM"
        )
    page.histogram("node_drainer_pod_eviction_duration_seconds", "Time that pods took to leave.").observe(
        ((spread(_LONG, 45.0, 0.4), total),)
    )
    page.histogram("janitor_action_mttr_seconds", "Time that an action took.").observe(
        ((spread(_LONG, 600.0, 0.3), done),), action_type="reboot"
    )


def _targets(world: World) -> list[Target]:
    where = service("nvsentinel", "nvsentinel", "10.244.7.8:2112")
    return [Target("nvsentinel", where, partial(nvsentinel_page, world))]


NVSENTINEL = Source("nvsentinel", "nvsentinel", "NVSentinel", _targets, honor_labels=True)
