"""Links from rows of tables to the node or the GPU that they are about."""

from __future__ import annotations

from gpuscope_generator.view import Link, Noun, cell

__all__ = ["gpu_links", "node_links"]


def node_links() -> tuple[Link, ...]:
    """From a cell with the node."""
    here = {"cluster": cell("cluster"), "node": cell("node")}
    return (
        Link("Instances of this node", Noun.PARTITION, here),
        Link("Node on the cluster board", Noun.CLUSTER, here),
    )


def gpu_links() -> tuple[Link, ...]:
    """From a cell with the index of the GPU."""
    here = {"cluster": cell("cluster"), "node": cell("node"), "gpu": cell("gpu")}
    return (
        Link("Instances of this GPU", Noun.PARTITION, here),
        Link("GPU on the cluster board", Noun.CLUSTER, here),
    )
