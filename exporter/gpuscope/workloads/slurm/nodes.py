"""Nodes as observed, from their records."""

from collections.abc import Iterable

from gpuscope.workloads.observation import ObservedNode
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import NodeRow
from gpuscope.workloads.slurm.states import node_state, strange_words

__all__ = ["observe_nodes"]


def observe_nodes(rows: Iterable[NodeRow], problems: Problems) -> list[ObservedNode]:
    """All nodes that exist. A word that is not known is counted as ``unknown_node_state``; the others still decide."""
    nodes: list[ObservedNode] = []
    for row in rows:
        for word in strange_words(row.states, of_node=True):
            problems.add("unknown_node_state", word)
        state = node_state(row.states)
        if state is None:
            continue
        by = f" (by {row.reason_by})" if row.reason and row.reason_by else ""
        nodes.append(
            ObservedNode(row.name, state, row.reason + by, row.reason_at, row.gpus, row.gpus_used, row.partitions)
        )
    return nodes
