"""Nodes with MIG: what they have, and how it is configured."""

from __future__ import annotations

from gpuscope_generator.normalized import partition
from gpuscope_generator.panels.mig import IN_PROFILE
from gpuscope_generator.panels.mig_links import node_links
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NODE
from gpuscope_generator.promql import Vector, group_by, max_by, ratio, select, sum_by
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Query,
    StateTimeline,
    Table,
    TimeSeries,
    Unit,
    ValueColumn,
    ValueText,
    palette,
)

__all__ = ["config_states", "configs", "instance_changes", "nodes_with_mig"]

_PLACE = (IN_CLUSTER, IN_NODE)
_SOURCE = "the gpuscope agent, or dcgm-exporter, counted by recording rules."
_MANAGER = "kube-state-metrics, with the labels nvidia.com/mig.config and nvidia.com/mig.config.state of nodes allowed."
_STATES = {
    "1": ValueText("success", palette.OK),
    "2": ValueText("pending", palette.WARN),
    "3": ValueText("rebooting", palette.WARN),
    "4": ValueText("failed", palette.BAD),
    "5": ValueText("other", palette.NEUTRAL),
}


def nodes_with_mig() -> Table:
    """One row a node: with MIG, without, or both."""
    keys = ("cluster", "node")

    def slices(state: str) -> Vector:
        return sum_by(select(partition.NODE_SLICES, IN_CLUSTER, IN_NODE, state=state), *keys)

    def instances(state: str) -> Vector:
        return sum_by(select(partition.NODE_INSTANCES, IN_CLUSTER, IN_NODE, IN_PROFILE, state=state), *keys)

    return Table(
        key="nodes_with_mig",
        title="Nodes",
        explanation=Explanation(
            shows="GPUs in MIG mode, instances and slices of each node that has GPUs; nodes without MIG show 0.",
            source=_SOURCE,
            good="Nodes of one pool have one layout.",
            do="Open a node on this board for its instances, or on the cluster board for its health.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(
                label="node",
                title="Node",
                links=node_links(),
            ),
            ValueColumn(
                title="GPUs in MIG mode",
                expression=sum_by(select(partition.NODE_GPUS, IN_CLUSTER, IN_NODE), *keys),
                unit=Unit.COUNT,
            ),
            ValueColumn(title="Instances", expression=instances("total"), unit=Unit.COUNT),
            ValueColumn(title="Free instances", expression=instances("free"), unit=Unit.COUNT),
            ValueColumn(
                title="Slices held",
                expression=ratio(slices("allocated"), slices("total")),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
            ),
            ValueColumn(
                title="Slices working",
                expression=ratio(slices("busy"), slices("total")),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
            ),
        ),
        sort_by="GPUs in MIG mode",
        paginate=True,
        no_value="No GPU is known: see Data health",
    )


def configs() -> Table:
    """What each node was asked for."""
    asked = select(partition.CONFIG, *_PLACE)
    return Table(
        key="configs",
        title="MIG configuration of nodes",
        explanation=Explanation(
            shows="The layout that NVIDIA's MIG manager was asked for on each node, and how far it is.",
            source=_MANAGER,
            good="success on all nodes.",
            do="failed or pending for long: pods that still hold the GPUs keep it from changing them; drain the node.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(label="node", title="Node", links=node_links()),
            LabelColumn(label="config", title="Layout"),
            LabelColumn(
                label="state",
                title="State",
                texts={
                    "success": ValueText("success", palette.OK),
                    "pending": ValueText("pending", palette.WARN),
                    "rebooting": ValueText("rebooting", palette.WARN),
                    "failed": ValueText("failed", palette.BAD),
                },
            ),
            ValueColumn(title="Known", expression=max_by(asked, "cluster", "node", "config", "state"), hidden=True),
        ),
        sort_by="Node",
        descending=False,
        width=12,
        no_value="Unknown: kube-state-metrics does not publish the labels nvidia.com/mig.config and .state of nodes",
    )


def config_states() -> StateTimeline:
    """How far the MIG manager was, over time."""
    keys = ("cluster", "node")
    known = {"success": 1, "pending": 2, "rebooting": 3, "failed": 4}
    asked = select(partition.CONFIG, *_PLACE)
    states = group_by(asked, *keys) * 5
    for state, number in reversed(known.items()):
        states = (group_by(select(partition.CONFIG, *_PLACE, state=state), *keys) * number).or_(states)
    return StateTimeline(
        key="config_states",
        title="State of the MIG manager",
        explanation=Explanation(
            shows="How far NVIDIA's MIG manager was on each node: it writes pending while it waits for the GPUs.",
            source=_MANAGER,
            good="success throughout.",
            do="failed: its log names the GPU; a process that still runs is the usual reason.",
        ),
        queries=(Query(expression=states, legend="{{node}}"),),
        width=12,
        texts=_STATES,
        no_value="Unknown: kube-state-metrics does not publish the labels nvidia.com/mig.config and .state of nodes",
    )


def instance_changes() -> TimeSeries:
    """Number of instances over time: where it changes, somebody changed a layout."""
    present = select(partition.NODE_INSTANCES, *_PLACE, IN_PROFILE, state="total")
    return TimeSeries(
        key="instance_changes",
        title="Instances by node and profile",
        explanation=Explanation(
            shows="MIG instances that exist, by node and profile. A step is a change of the layout.",
            source="the gpuscope agent, or dcgm-exporter.",
            good="Flat, apart from changes that you made.",
            do="A step that nobody made: look for a driver reset, or for the MIG manager, in the log of that node.",
        ),
        queries=(Query(expression=sum_by(present, "cluster", "node", "profile"), legend="{{node}} {{profile}}"),),
        unit=Unit.COUNT,
        width=12,
        low=0,
        no_value="No MIG instances on the chosen nodes",
    )
