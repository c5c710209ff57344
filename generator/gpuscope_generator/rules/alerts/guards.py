"""When an alert must keep still although its value is bad."""

from __future__ import annotations

from gpuscope_generator.normalized import node
from gpuscope_generator.promql import Vector, select

__all__ = ["BOOT_GRACE_S", "after_boot", "outside_maintenance"]

BOOT_GRACE_S = 900
"""Links, GPUs and services come up one after the other within this time."""


def outside_maintenance(found: Vector) -> Vector:
    """What is not on a node under planned maintenance. A node that is merely cordoned is not: a fault may be why."""
    return found.unless(select(node.MAINTENANCE).compare("==", 1), on=node.NODE)


def after_boot(found: Vector) -> Vector:
    """What is not on a node that has just booted; where nobody knows when that was, everything."""
    return found.unless(select(node.UPTIME).compare("<", BOOT_GRACE_S), on=node.NODE)
