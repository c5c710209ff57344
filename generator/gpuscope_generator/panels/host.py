"""Hosts: CPU, memory, pressure and local disks of the nodes."""

from __future__ import annotations

from gpuscope_generator.normalized import node
from gpuscope_generator.panels.fleet_choice import node_line_links, of_nodes, only_node_links
from gpuscope_generator.promql import Gauge, Vector, max_by, ratio, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Query,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    palette,
)

__all__ = ["disks", "hosts", "pressure"]

_ABSENT = "node-exporter is absent"
_FULL = 0.9
_WAITS = 0.1


def _of(series: Gauge, *labels: str, **equal: str) -> Vector:
    return max_by(of_nodes(series, **equal), *node.NODE, *labels)


def hosts() -> Table:
    """One row a node."""

    def share(title: str, vector: Vector, *steps: tuple[float, str]) -> ValueColumn:
        return ValueColumn(
            title=title,
            expression=vector,
            unit=Unit.RATIO,
            decimals=0,
            cell=Cell.BAR,
            thresholds=Thresholds(base=palette.NEUTRAL, steps=steps),
            low=0,
            high=1,
        )

    full = (_FULL, palette.WARN)
    return Table(
        key="hosts",
        title="Hosts",
        explanation=Explanation(
            shows="CPU at work, load (tasks that run or wait) for each CPU, memory that is not available, and "
            "pressure: the share of time in which some task waited for CPU, memory or disk (PSI).",
            source="node-exporter; pressure needs a kernel with PSI.",
            good="CPU and memory below 90 %, load below 1 for each CPU, pressure near 0.",
            do="CPU full and GPUs not busy: data loading is the bottleneck. Memory pressure: the next step is that the "
            "kernel kills a process. Disk pressure: see Local disks, or the File system board.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=only_node_links()),
            share("CPU", ratio(_of(node.CPU_USED), _of(node.CPUS)), full),
            ValueColumn(
                title="Load for each CPU",
                expression=ratio(_of(node.LOAD), _of(node.CPUS)),
                decimals=2,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.TEXT, steps=((1, palette.WARN),)),
            ),
            share("Memory", ratio(_of(node.SYSTEM_MEMORY_USED), _of(node.SYSTEM_MEMORY_TOTAL)), full),
            *(
                share(f"Waits for {word}", _of(node.PRESSURE, resource=resource), (_WAITS, palette.WARN))
                for resource, word in (("cpu", "CPU"), ("memory", "memory"), ("io", "disk"))
            ),
        ),
        sort_by="CPU",
        paginate=True,
        no_value=_ABSENT,
    )


def pressure() -> TimeSeries:
    """Pressure over time, the highest."""
    return TimeSeries(
        key="pressure",
        title="Nodes that wait for CPU, memory or disk (top 10)",
        explanation=Explanation(
            shows="Share of time in which at least one task of a node waited for CPU, memory or disk (PSI), the ten "
            "highest.",
            source="node-exporter, with a kernel that has PSI.",
            good="Below 10 %.",
            do="io: see Local disks and the File system board. memory: find the workload that grows. cpu: more CPUs "
            "for the data loaders, or fewer of these.",
        ),
        queries=(Query(expression=topk(10, _of(node.PRESSURE, "resource")), legend="{{node}} {{resource}}"),),
        unit=Unit.RATIO,
        width=12,
        low=0,
        links=node_line_links(),
        no_value="node-exporter is absent, or the kernels have no PSI",
    )


def disks(settings: Settings) -> Table:
    """Local disks by node and mount point."""
    keys = (*node.NODE, "mountpoint")
    total = max_by(of_nodes(node.DISK_TOTAL), *keys)
    used = max_by(of_nodes(node.DISK_USED), *keys)
    limits = settings.thresholds
    return Table(
        key="disks",
        title="Local disks",
        explanation=Explanation(
            shows="Root disk and local NVMe of each node; mounts of container runtimes are left out, as they are the "
            "same disk once more. Shared file systems are on their own board.",
            source="node-exporter.",
            good=f"Below {limits.storage_high_ratio:.0%}.",
            do="A full root disk keeps images from being pulled and evicts pods: remove old images and logs. A full "
            "scratch disk: old data of jobs.",
        ),
        width=12,
        height=8,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=only_node_links()),
            LabelColumn(label="mountpoint", title="Mount point"),
            ValueColumn(
                title="In use",
                expression=ratio(used, total),
                unit=Unit.RATIO,
                decimals=0,
                cell=Cell.BAR,
                low=0,
                high=1,
                thresholds=Thresholds(
                    base=palette.NEUTRAL,
                    steps=((limits.storage_high_ratio, palette.WARN), (limits.storage_critical_ratio, palette.BAD)),
                ),
            ),
            ValueColumn(title="Size", expression=total, unit=Unit.BYTES),
        ),
        sort_by="In use",
        paginate=True,
        no_value=_ABSENT,
    )
