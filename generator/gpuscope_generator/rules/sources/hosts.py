"""From scrape targets of node-exporter to the nodes that they run on."""

from __future__ import annotations

from gpuscope_generator.normalized import node
from gpuscope_generator.promql import Vector, join, max_by, select
from gpuscope_generator.rules.sources.canonical import clustered
from gpuscope_generator.settings import Settings

__all__ = ["TARGET", "of_nodes", "of_targets"]

TARGET = ("cluster", "instance")


def of_targets(inner: Vector, settings: Settings, *labels: str) -> Vector:
    """One series a scrape target: the larger of two that scrape the same one.

    Args:
        inner: a selector, or a rate of one.
        settings: for the label of the cluster.
        labels: what it keeps beside cluster and instance.
    """
    return max_by(clustered(inner, settings), *TARGET, *labels)


def of_nodes(inner: Vector, *labels: str) -> Vector:
    """One series a node; one that is scraped under two addresses counts once.

    Args:
        inner: by scrape target.
        labels: what it keeps beside cluster and node.
    """
    return max_by(join(inner, select(node.INSTANCE), on=TARGET, take=("node",)), *node.NODE, *labels)
