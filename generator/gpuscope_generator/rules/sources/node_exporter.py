"""node-exporter, and the EFA exporter: CPU, memory, disks and network of hosts."""

from __future__ import annotations

from gpuscope_generator.external import node_exporter as host
from gpuscope_generator.normalized import fleet, node
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Matcher,
    Selector,
    Series,
    Vector,
    count_by,
    first_of,
    join,
    label_join,
    label_replace,
    max_by,
    now,
    rate,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.settings import Settings

__all__ = ["SOURCE", "node_exporter_rules"]

SOURCE = "node-exporter"
_TARGET = ("cluster", "instance")
_LOCAL = Matcher("fstype", "=~", "ext[234]|xfs|btrfs|zfs|f2fs|bcachefs")
# What container runtimes mount inside a node is the node's own disk once more.
_OWN_MOUNTS = Matcher("mountpoint", "!~", "/(var/lib/(kubelet|containerd|docker|containers)|run)/.+")
# Bridges, bonds, tunnels and the ends of containers repeat what a physical port carries.
_PORTS = Matcher("device", "=~", "(en|eth|em|p[0-9]+p|hsn)[^.]*")


def node_exporter_rules(settings: Settings) -> RuleFile:
    """Rules of hosts."""
    rules = (
        recording(node.INSTANCE, _instances(settings)),
        recording(node.CPUS, _hosted(count_by(_raw(settings, _cpu(settings, "idle"), "cpu"), *_TARGET))),
        recording(node.CPU_USED, _cpu_used(settings)),
        _level(settings, node.LOAD, host.LOAD),
        _level(settings, node.SYSTEM_MEMORY_TOTAL, host.MEMORY_TOTAL),
        recording(
            node.SYSTEM_MEMORY_USED,
            _hosted(
                _raw(settings, of_source(host.MEMORY_TOTAL, settings, SOURCE))
                - _raw(settings, of_source(host.MEMORY_AVAILABLE, settings, SOURCE))
            ),
        ),
        *_pressure(settings),
        *_disks(settings),
        recording(
            node.UPTIME,
            _hosted(_raw(settings, of_source(host.BOOT_TIME, settings, SOURCE)) * -1 + now()),
        ),
        *(
            recording(node.NETWORK_BYTES, _flow(settings, counter), fabric=fabric, direction=direction)
            for fabric, direction, counter in host.TRAFFIC
        ),
        *(
            recording(node.NETWORK_ERRORS, _errors(settings, counters), fabric=fabric, type=kind)
            for fabric, kind, counters in host.ERRORS
        ),
        *(recording(fleet.LINE_RATE, _line_rate(settings, speed), fabric=fabric) for fabric, speed in host.LINE_RATES),
    )
    return RuleFile(
        path="recording/node-exporter.yaml",
        comment="From node-exporter to hosts. A target's node is its label node; else the host name of its address; "
        "else, where the address is a number, the name that its kernel has.",
        groups=(Group("gpuscope-normalize-node-exporter", settings.intervals.normalize, rules),),
    )


def _instances(settings: Settings) -> Vector:
    named = clustered(of_source(host.UNAME, settings, SOURCE), settings)
    hosted = label_replace(named, "host", "$1", "instance", "([^:]*[A-Za-z][^:]*)(:[0-9]+)?")
    joined = label_join(hosted, "node", ";", "node", "host", "nodename")
    return max_by(label_replace(joined, "node", "$1", "node", ";*([^;]+).*"), *node.NODE, "instance")


def _raw(settings: Settings, found: Vector, *labels: str) -> Vector:
    """The larger of two that scrape the same target."""
    return max_by(clustered(found, settings), *_TARGET, *labels)


def _hosted(of_targets: Vector, *labels: str) -> Vector:
    """From scrape targets to nodes; a node that is scraped under two addresses counts once."""
    return max_by(join(of_targets, select(node.INSTANCE), on=_TARGET, take=("node",)), *node.NODE, *labels)


def _level(settings: Settings, target: Gauge, series: Gauge) -> Recording:
    return recording(target, _hosted(_raw(settings, of_source(series, settings, SOURCE))))


def _cpu(settings: Settings, modes: str) -> Selector[Counter]:
    return of_source(host.CPU, settings, SOURCE, Matcher("mode", "=~", modes))


def _cpu_used(settings: Settings) -> Vector:
    """CPUs less their idle time: two modes in place of eight for every CPU of the fleet."""
    idle = sum_by(_raw(settings, rate(_cpu(settings, "idle|iowait"), "5m"), "cpu", "mode"), *_TARGET)
    cpus = count_by(_raw(settings, _cpu(settings, "idle"), "cpu"), *_TARGET)
    return _hosted(cpus - idle)


def _pressure(settings: Settings) -> tuple[Recording, ...]:
    return tuple(
        recording(
            node.PRESSURE,
            _hosted(_raw(settings, rate(of_source(counter, settings, SOURCE), "5m"))),
            resource=resource,
        )
        for resource, counter in host.PRESSURE.items()
    )


def _disks(settings: Settings) -> tuple[Recording, ...]:
    def of_mounts(series: Series) -> Vector:
        return _raw(settings, of_source(series, settings, SOURCE, _LOCAL, _OWN_MOUNTS), "mountpoint")

    total, free = of_mounts(host.FILESYSTEM_SIZE), of_mounts(host.FILESYSTEM_FREE)
    return (
        recording(node.DISK_TOTAL, _hosted(total, "mountpoint")),
        recording(node.DISK_USED, _hosted(total - free, "mountpoint")),
    )


def _ports(settings: Settings, counter: Counter) -> Vector:
    """The rate of a counter, summed over the ports of a target."""
    condition = (_PORTS,) if counter.name.startswith("node_network_") else ()
    labels = ("device", "port") if "port" in counter.labels else ("device",)
    each = rate(of_source(counter, settings, SOURCE, *condition), "5m")
    return sum_by(_raw(settings, each, *labels), *_TARGET)


def _line_rate(settings: Settings, speed: Gauge) -> Vector:
    condition = (_PORTS,) if speed.name.startswith("node_network_") else ()
    labels = ("device", "port") if "port" in speed.labels else ("device",)
    each = _raw(settings, of_source(speed, settings, SOURCE, *condition), *labels).compare(">", 0)
    return _hosted(sum_by(each, *_TARGET))


def _flow(settings: Settings, counter: Counter) -> Vector:
    return _hosted(_ports(settings, counter))


def _errors(settings: Settings, counters: tuple[Counter, ...]) -> Vector:
    """The sum of several counters, of which a host need not have all."""
    each = [label_replace(_ports(settings, counter), "part", counter.name, "", "") for counter in counters]
    return _hosted(sum_by(first_of(*each), *_TARGET))
