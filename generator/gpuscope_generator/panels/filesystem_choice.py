"""What is chosen on the board about file systems: its variables, and conditions that follow from them."""

from __future__ import annotations

from collections.abc import Mapping

from gpuscope_generator.normalized import filesystem, mount, storage_target
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NODE
from gpuscope_generator.promql import Gauge, Info, Matcher, Vector, group_by, select
from gpuscope_generator.view import LabelValues, Link, Noun, cell, line

__all__ = [
    "FILESYSTEM",
    "FILESYSTEM_LINE",
    "FS_TYPE",
    "IN_FILESYSTEM",
    "MOUNTPOINT",
    "NODE",
    "NODE_LINE",
    "TARGET",
    "filesystem_links",
    "node_links",
    "of_filesystems",
    "of_mounts",
    "of_mounts_of_nodes",
    "of_nodes",
    "of_targets",
]

IN_FILESYSTEM = Matcher("filesystem", "=~", "$filesystem")
_IN_TYPE = Matcher("fs_type", "=~", "$fs_type")
_AT_MOUNTPOINT = Matcher("mountpoint", "=~", "$mountpoint")
_AT_OR_UNKNOWN = Matcher("mountpoint", "=~", "$mountpoint|")
_IN_TARGET = Matcher("target", "=~", "$target")
_NAMES = filesystem.FILESYSTEM

FS_TYPE = LabelValues(name="fs_type", label="Type", selector=select(filesystem.INFO, IN_CLUSTER), values_of="fs_type")
MOUNTPOINT = LabelValues(
    name="mountpoint",
    label="Mount point",
    selector=select(filesystem.INFO, IN_CLUSTER, _IN_TYPE),
    values_of="mountpoint",
)
FILESYSTEM = LabelValues(
    name="filesystem",
    label="File system",
    selector=select(filesystem.INFO, IN_CLUSTER, _IN_TYPE, _AT_MOUNTPOINT),
    values_of="filesystem",
)
NODE = LabelValues(name="node", label="Node", selector=select(mount.INFO, IN_CLUSTER, IN_FILESYSTEM), values_of="node")
TARGET = LabelValues(
    name="target", label="Target", selector=select(storage_target.INFO, IN_CLUSTER, IN_FILESYSTEM), values_of="target"
)

FILESYSTEM_LINE = Link(
    "File system ${__field.labels.filesystem}",
    Noun.FILESYSTEM,
    {"cluster": line("cluster"), "filesystem": line("filesystem")},
)
NODE_LINE = Link(
    "Node ${__field.labels.node} on the cluster board",
    Noun.CLUSTER,
    {"cluster": line("cluster"), "node": line("node")},
)


def filesystem_links() -> tuple[Link, ...]:
    """From a cell with the file system."""
    return (
        Link(
            "Only this file system",
            Noun.FILESYSTEM,
            {"cluster": cell("cluster"), "filesystem": cell("filesystem")},
        ),
    )


def node_links() -> tuple[Link, ...]:
    """From a cell with the node."""
    here = {"cluster": cell("cluster"), "node": cell("node")}
    return (
        Link("Node on the cluster board", Noun.CLUSTER, here),
        Link("Mounts of this node", Noun.FILESYSTEM, here),
    )


def _chosen(found: Vector) -> Vector:
    """Of the chosen type and mount point: only the description of a file system has these labels."""
    known = select(filesystem.INFO, IN_CLUSTER, IN_FILESYSTEM, _IN_TYPE, _AT_MOUNTPOINT)
    return found.and_(group_by(known, *_NAMES), on=_NAMES)


def _equal(labels: Mapping[str, str]) -> tuple[Matcher, ...]:
    return tuple(Matcher(label, "=", value) for label, value in labels.items())


def of_filesystems(series: Gauge | Info, *more: Matcher, **equal: str) -> Vector:
    """A series of the chosen file systems."""
    return _chosen(select(series, IN_CLUSTER, IN_FILESYSTEM, *more, *_equal(equal)))


def of_mounts(series: Gauge | Info, *more: Matcher, **equal: str) -> Vector:
    """A series of the chosen file systems on the chosen nodes, at the chosen mount points where they are known."""
    return _chosen(select(series, IN_CLUSTER, IN_NODE, IN_FILESYSTEM, _AT_OR_UNKNOWN, *more, *_equal(equal)))


def of_mounts_of_nodes(series: Gauge) -> Vector:
    """A series of the chosen file systems on the chosen nodes that has no mount point."""
    return _chosen(select(series, IN_CLUSTER, IN_NODE, IN_FILESYSTEM))


def of_nodes(series: Gauge | Info, **equal: str) -> Vector:
    """A series of the chosen nodes which is not of any file system."""
    return select(series, IN_CLUSTER, IN_NODE, *_equal(equal))


def of_targets(series: Gauge, *more: Matcher, **equal: str) -> Vector:
    """A series of the chosen targets of the chosen file systems."""
    return _chosen(select(series, IN_CLUSTER, IN_FILESYSTEM, _IN_TARGET, *more, *_equal(equal)))
