"""Versions: does every node run the same?"""

from __future__ import annotations

from gpuscope_generator.normalized import fleet
from gpuscope_generator.panels.fleet_choice import of_nodes
from gpuscope_generator.promql import count_by, group_by
from gpuscope_generator.view import Explanation, LabelColumn, Table, Unit, ValueColumn, ValueText

__all__ = ["COMPONENTS", "versions"]

COMPONENTS = {
    "driver": ValueText("NVIDIA driver"),
    "cuda": ValueText("newest CUDA of the driver"),
    "vbios": ValueText("firmware of the GPU (VBIOS)"),
    "kernel": ValueText("Linux kernel"),
    "kubelet": ValueText("kubelet"),
    "agent": ValueText("gpuscope agent"),
}


def versions() -> Table:
    """How many nodes run which version of what."""
    keys = ("cluster", "component", "version")
    each = group_by(of_nodes(fleet.VERSION), *keys, "node")
    return Table(
        key="versions",
        title="Versions of software",
        explanation=Explanation(
            shows="How many of the chosen nodes run each version of driver, firmware, kernel, kubelet and agent. "
            "Firmware differs between GPU models by nature: choose one above.",
            source="the gpuscope agent, the driver label of dcgm-exporter, node-exporter and kube-state-metrics.",
            good="One row for each component.",
            do="Two drivers in one pool are a usual cause of jobs that fail on some nodes only: the table of nodes has "
            "the driver of each.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="component", title="Component", texts=COMPONENTS),
            LabelColumn(label="version", title="Version"),
            ValueColumn(title="Nodes", expression=count_by(each, *keys), unit=Unit.COUNT),
        ),
        sort_by="Component",
        descending=False,
        height=8,
        paginate=True,
        no_value="No source tells any version",
    )
