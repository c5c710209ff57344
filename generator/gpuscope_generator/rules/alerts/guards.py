"""When an alert must keep still although its value is bad."""

from __future__ import annotations

from gpuscope_generator.normalized import node
from gpuscope_generator.promql import Matcher, Vector, group_by, join, max_over_time, select
from gpuscope_generator.rules.sources.labels import labelled

__all__ = ["BOOT_GRACE_S", "after_boot", "outside_maintenance", "with_gpus", "with_rack", "worked_on"]

BOOT_GRACE_S = 900
"""Links, GPUs and services come up one after the other within this time."""


def outside_maintenance(found: Vector) -> Vector:
    """What is not on a node under planned maintenance. A node that is merely cordoned is not: a fault may be why."""
    return found.unless(select(node.MAINTENANCE).compare("==", 1), on=node.NODE)


def after_boot(found: Vector) -> Vector:
    """What is not on a node that has just booted; where nobody knows when that was, everything."""
    return found.unless(select(node.UPTIME).compare("<", BOOT_GRACE_S), on=node.NODE)


def with_gpus(found: Vector) -> Vector:
    """What is on a node that has GPUs, or had some within a day."""
    counted = select(node.GPUS, Matcher("state", "=~", "expected|installed")).compare(">", 0)
    known = group_by(counted, *node.NODE).or_(group_by(select(node.COUNTED_MODEL), *node.NODE))
    return found.and_(known, on=node.NODE)


def worked_on(found: Vector) -> Vector:
    """What is on a node whose GPUs somebody held within the last hour: when a node dies, its pods are soon gone."""
    return found.and_(max_over_time(select(node.GPUS, state="allocated"), "1h").compare(">", 0), on=node.NODE)


def with_rack(found: Vector, *identity: str) -> Vector:
    """Found, with the rack of its node where somebody tells; an alert of the rack inhibits by this label.

    Args:
        found: with ``cluster`` and ``node`` among its labels.
        identity: its labels.
    """
    return join(found, select(node.RACK), on=node.NODE, take=("rack",)).or_(labelled(found, rack=""), on=identity)
