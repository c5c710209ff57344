"""Mounts by node-exporter's collector ``filesystem``, where our agent does not watch them."""

from __future__ import annotations

from gpuscope.catalogue import filesystem as ours
from gpuscope_generator.external import node_exporter as host
from gpuscope_generator.normalized import filesystem, mount
from gpuscope_generator.promql import Gauge, Matcher, Vector, group_by, label_join, label_replace, on
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import of_source
from gpuscope_generator.rules.sources.filesystem import fsx_id, told
from gpuscope_generator.rules.sources.hosts import of_nodes, of_targets
from gpuscope_generator.rules.sources.node_exporter import SOURCE
from gpuscope_generator.settings import Settings

__all__ = ["node_filesystem_rules"]

# The disks of the system itself, and what container runtimes mount of other file systems once more.
_NOT_DATA = Matcher("mountpoint", "!~", "/|/(boot|run|etc|snap|dev|proc|sys)(/.*)?|/var/lib/(docker|containers?d?)/.+")
_TYPES = Matcher(
    "fstype",
    "=~",
    "lustre|nfs4?|gpfs|wekafs|beegfs|ceph|cifs|smb3|glusterfs|virtiofs|fuse[.].+|ext[234]|xfs|btrfs|zfs|f2fs|bcachefs",
)
_NAMES = (
    "lustre;.*:/+([^/;]+)[^;]*;.*",  # 10.0.0.1@tcp:/lustre01/folder
    "(?:gpfs|wekafs);(?:[^;]*/)?([^/;]+)/?;.*",
    "(beegfs);.*",  # its device says nothing
    "[^;]*;/dev/[^;]*;(.*)",  # a local one is known by its mount point
    "zfs;[^;]*;(.*)",
    "[^;]*;([^;]+);.*",
)
"""From type, device and mount point to the name by which our agent knows the file system."""


def node_filesystem_rules(settings: Settings) -> RuleFile:
    """Rules of mounts by node-exporter."""
    known = told(settings, ours.INFO, *mount.ON_NODE)

    def of_mounts(series: Gauge, *labels: str) -> Vector:
        found = of_targets(
            of_source(series, settings, SOURCE, _TYPES, _NOT_DATA), settings, "device", "fstype", "mountpoint"
        )
        # Volumes of pods come and go: they are one mount of the node.
        placed = label_replace(found, "mountpoint", "", "mountpoint", "/var/lib/kubelet/.*")
        named = label_join(placed, "filesystem", ";", "fstype", "device", "mountpoint")
        for pattern in _NAMES:
            named = label_replace(named, "filesystem", "$1", "filesystem", pattern)
        named = label_replace(named, "fs_type", "$1", "fstype", "(.*)")
        return of_nodes(named, "filesystem", "mountpoint", *labels)

    def level(series: Gauge) -> Vector:
        return of_mounts(series).unless(known, on=mount.ON_NODE)

    mounts = of_mounts(host.FILESYSTEM_ERROR, "fs_type").unless(known, on=mount.ON_NODE)
    limited = of_mounts(host.FILESYSTEM_FILES).compare(">", 0)
    addresses = label_replace(of_mounts(host.FILESYSTEM_SIZE, "device"), "source", "$1", "device", "(.*)")
    ids = group_by(fsx_id(addresses), *filesystem.FILESYSTEM, "id")
    rules = (
        recording(mount.INFO, group_by(mounts, *mount.MOUNT, "fs_type")),
        recording(mount.UP, level(host.FILESYSTEM_ERROR).compare("==", 0, as_bool=True)),
        recording(mount.READ_ONLY, level(host.FILESYSTEM_READ_ONLY)),
        recording(mount.SIZE, level(host.FILESYSTEM_SIZE)),
        recording(mount.USED, on(level(host.FILESYSTEM_SIZE), "-", of_mounts(host.FILESYSTEM_FREE), mount.MOUNT)),
        recording(mount.AVAILABLE, level(host.FILESYSTEM_AVAILABLE)),
        recording(mount.FILES, limited.unless(known, on=mount.ON_NODE)),
        recording(mount.FILES_FREE, level(host.FILESYSTEM_FILES_FREE)),
        recording(
            filesystem.FSX,
            ids.unless(told(settings, ours.INFO, *filesystem.FILESYSTEM), on=filesystem.FILESYSTEM),
        ),
    )
    return RuleFile(
        path="recording/node-filesystem.yaml",
        comment="From node-exporter to normalized series of mounts: shared file systems, and local ones for data. What "
        "the gpuscope agent watches on the same node comes first.",
        groups=(Group("gpuscope-normalize-node-filesystem", settings.intervals.normalize, rules),),
    )
