"""What users call a file system, and which of its options matter."""

import posixpath

from gpuscope.filesystems.mountinfo import Mount, text

__all__ = ["filesystem_name", "telling_options"]

_PLAIN = frozenset({"ro", "rw", "hard", "soft", "softerr", "flock", "localflock", "noflock", "sync", "lazystatfs"})
_WITH_VALUE = frozenset(
    {
        "vers",
        "proto",
        "timeo",
        "retrans",
        "nconnect",
        "rsize",
        "wsize",
        "port",
        "mountproto",
        "lookupcache",
        "readcache",
    }
)
_BEEGFS_DEFAULT = "beegfs-client"


def filesystem_name(mount: Mount) -> str:
    """The name by which users know a file system.

    =========  ==================================  ==============
    type       source                              name
    =========  ==================================  ==============
    lustre     10.0.0.1@tcp:10.0.0.2@tcp:/fs1/dir  fs1
    nfs, nfs4  server:/export                      server:/export
    wekafs     10.0.0.1,10.0.0.2/default           default
    gpfs       /dev/gpfs0                          gpfs0
    beegfs     beegfs_nodev, cfgFile=…/scratch.conf  scratch
    local      /dev/md0 on /scratch                /scratch
    =========  ==================================  ==============
    """
    source = text(mount.source)
    match mount.type:
        case "lustre":
            return source.rpartition(":/")[2].strip("/").partition("/")[0] or source
        case "wekafs":
            return source.rstrip("/").rpartition("/")[2] or source
        case "gpfs":
            return posixpath.basename(source.rstrip("/")) or source
        case "beegfs":
            return _beegfs(mount)
    return text(mount.mountpoint) if source.startswith("/dev/") or mount.type == "zfs" else source


def telling_options(mount: Mount) -> str:
    """Options that change how a mount behaves when its server is slow or gone, in the kernel's order.

    Addresses, users and secrets are never among them.
    """
    words = [word for word in mount.options if word in _PLAIN or word.partition("=")[0] in _WITH_VALUE]
    if "ro" in words and "rw" in words:  # one is of the mount, one of the superblock; read-only wins
        words.remove("rw")
    return ",".join(words)


def _beegfs(mount: Mount) -> str:
    for word in mount.options:
        key, _, value = word.partition("=")
        if key == "cfgFile":
            stem = posixpath.basename(value).removesuffix(".conf")
            return "beegfs" if stem == _BEEGFS_DEFAULT else stem.removeprefix("beegfs-client-") or "beegfs"
    return "beegfs"
