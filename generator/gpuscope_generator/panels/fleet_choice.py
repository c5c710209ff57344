"""What is chosen on the Cluster board: pool, node, GPU model and GPU, and what of a fleet is left by that."""

from __future__ import annotations

from gpuscope_generator.normalized import node
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NODE
from gpuscope_generator.promql import Gauge, Info, Matcher, Selector, Vector, select
from gpuscope_generator.view import ALL_NEGATED, LabelValues, Link, Noun, cell, line

__all__ = [
    "CHOSEN_GPUS",
    "GPU_MODEL",
    "IN_GPU",
    "IN_MODEL",
    "NODE_POOL",
    "gpu_cell_links",
    "node_cell_links",
    "node_line_links",
    "of_nodes",
    "of_pool_and_model",
    "only_node_links",
]

IN_GPU = Matcher("gpu", "=~", "$gpu")
IN_MODEL = Matcher("model", "=~", "$gpu_model")
CHOSEN_GPUS = (IN_CLUSTER, IN_NODE, IN_GPU)

NODE_POOL = LabelValues(
    name="node_pool",
    label="Node pool",
    selector=select(node.INFO, IN_CLUSTER),
    values_of="pool",
    all_value=ALL_NEGATED,
)
GPU_MODEL = LabelValues(
    name="gpu_model",
    label="GPU model",
    selector=select(node.GPU_FACTS, IN_CLUSTER),
    values_of="model",
    all_value=ALL_NEGATED,
)


def of_nodes(series: Gauge | Info, *conditions: Matcher, **equal: str) -> Vector:
    """A series of the chosen nodes."""
    same = tuple(Matcher(label, "=", value) for label, value in equal.items())
    selected: Selector[Gauge | Info] = select(series, IN_CLUSTER, IN_NODE, *conditions, *same)
    return of_pool_and_model(selected)


def of_pool_and_model(found: Vector) -> Vector:
    """Without nodes of other pools and of other GPU models.

    A node of which neither is known stays: a dead node must not vanish from the board.
    """
    elsewhere = select(node.INFO, IN_CLUSTER, Matcher("pool", "!~", "$node_pool"))
    others = select(node.GPU_FACTS, IN_CLUSTER, Matcher("model", "!~", "$gpu_model"))
    return found.unless(elsewhere, on=node.NODE).unless(others, on=node.NODE)


def only_node_links() -> tuple[Link, ...]:
    """From a cell with the node to the same board with that node."""
    return (Link("Only this node", Noun.CLUSTER, {"cluster": cell("cluster"), "node": cell("node")}),)


def node_cell_links() -> tuple[Link, ...]:
    """From a cell with the node to all that there is about it."""
    here = {"cluster": cell("cluster"), "node": cell("node")}
    return (
        *only_node_links(),
        Link("Its MIG instances", Noun.PARTITION, here),
        Link("Its file systems", Noun.FILESYSTEM, here),
    )


def gpu_cell_links() -> tuple[Link, ...]:
    """From a cell with the index of the GPU."""
    here = {"cluster": cell("cluster"), "node": cell("node"), "gpu": cell("gpu")}
    return (Link("Only this GPU", Noun.CLUSTER, here), Link("Its MIG instances", Noun.PARTITION, here))


def node_line_links() -> tuple[Link, ...]:
    """From a line of a node."""
    return (Link("Node ${__field.labels.node}", Noun.CLUSTER, {"node": line("node")}),)
