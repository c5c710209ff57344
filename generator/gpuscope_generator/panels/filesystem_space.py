"""Space and inodes, over time and by mount."""

from __future__ import annotations

from gpuscope_generator.normalized import filesystem, mount
from gpuscope_generator.panels.filesystem import used_colors, used_share
from gpuscope_generator.panels.filesystem_choice import (
    FILESYSTEM_LINE,
    filesystem_links,
    node_links,
    of_filesystems,
    of_mounts,
)
from gpuscope_generator.promql import Vector, max_by, min_by, ratio, sum_by, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Query,
    Stat,
    Table,
    TimeSeries,
    Unit,
    ValueColumn,
)

__all__ = ["compression", "fullest_mounts", "inodes", "space", "used_over_time"]

_KEYS = filesystem.FILESYSTEM
_SOURCE = "the gpuscope agent, node-exporter, an exporter of Lustre or GPFS, or FSx through YACE."


def space() -> Stat:
    """Total, used and free space."""
    totals = (("total", filesystem.SIZE), ("used", filesystem.USED), ("free", filesystem.AVAILABLE))
    return Stat(
        key="space",
        title="Space",
        explanation=Explanation(
            shows="Size, used and free space, summed over the chosen file systems that nodes share. Free is what users "
            "can fill.",
            source=_SOURCE,
            good="Free space for several checkpoints of every job that runs.",
            do="Delete old checkpoints first; they are the largest files on most clusters.",
        ),
        queries=tuple(
            Query(expression=sum_by(of_filesystems(series), "cluster"), legend=name) for name, series in totals
        ),
        unit=Unit.BYTES,
        width=8,
        height=6,
        decimals=1,
        no_value="No shared file system is known",
    )


def compression() -> Stat:
    """What compression saves."""
    return Stat(
        key="compression",
        title="Compression saves",
        explanation=Explanation(
            shows="Share of the data's size that compression on the servers saves, for the file systems that have it.",
            source="FSx for Lustre through YACE: LogicalDiskUsage and PhysicalDiskUsage. FSx for Lustre has no "
            "deduplication.",
            good="Anything above 0; text compresses well, images and checkpoints hardly.",
            do="Nothing; with 0 everywhere compression may be switched off to spare the servers.",
        ),
        queries=(Query(expression=max_by(of_filesystems(filesystem.SAVED), *_KEYS), legend="{{filesystem}}"),),
        unit=Unit.RATIO,
        width=4,
        height=6,
        low=0,
        high=1,
        no_value="No file system that tells of compression",
    )


def used_over_time(settings: Settings) -> TimeSeries:
    """Used share over time, with the limits of the alerts."""
    return TimeSeries(
        key="used_over_time",
        title="Used space",
        explanation=Explanation(
            shows="Used share of each chosen file system; the dashed lines are the limits of the alerts.",
            source=_SOURCE,
            good="Below the lines. Saw teeth are checkpoints that somebody tidies up.",
            do="A steady rise: find the writer in the row Clients. A jump: a new data set, or a core dump.",
        ),
        queries=(Query(expression=topk(20, used_share()), legend="{{filesystem}}"),),
        unit=Unit.RATIO,
        width=12,
        low=0,
        high=1,
        thresholds=used_colors(settings),
        limits_as_lines=True,
        links=(FILESYSTEM_LINE,),
        no_value="No shared file system is known",
    )


def inodes(settings: Settings) -> TimeSeries:
    """Used share of inodes."""
    total = max_by(of_filesystems(filesystem.FILES), *_KEYS)
    free = min_by(of_filesystems(filesystem.FILES_FREE), *_KEYS)
    return TimeSeries(
        key="inodes",
        title="Used inodes",
        explanation=Explanation(
            shows="Share of the files (inodes) that a file system can have and that exist. At 100 % no file can be "
            "made, however much space is left.",
            source="the gpuscope agent, node-exporter, or an exporter of Lustre or GPFS. FSx does not tell it.",
            good="Well below the space that is used.",
            do="Many small files: pack data sets into archives (tar, WebDataset), clean up caches of packages.",
        ),
        queries=(Query(expression=topk(20, ratio(total - free, total)), legend="{{filesystem}}"),),
        unit=Unit.RATIO,
        width=12,
        low=0,
        high=1,
        thresholds=used_colors(settings),
        limits_as_lines=True,
        links=(FILESYSTEM_LINE,),
        no_value="No file system with a limit of inodes",
    )


def fullest_mounts(settings: Settings) -> Table:
    """The fullest mounts of single nodes, local disks among them."""
    keys = mount.MOUNT
    size = max_by(of_mounts(mount.SIZE), *keys)
    used = ratio(max_by(of_mounts(mount.USED), *keys), size)
    most = topk(50, used)

    def beside(value: Vector) -> Vector:
        return value.and_(most, on=keys)

    files = max_by(of_mounts(mount.FILES), *keys)
    files_free = min_by(of_mounts(mount.FILES_FREE), *keys)
    return Table(
        key="fullest_mounts",
        title="Fullest mounts of nodes",
        explanation=Explanation(
            shows="The fifty fullest mounts of the chosen nodes, with local disks for data, which no other panel has.",
            source="the gpuscope agent, else node-exporter.",
            good="No local scratch disk near its end: jobs on that node fail alone.",
            do="Clean up the node's scratch disk, or drain the node until somebody has.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=node_links()),
            LabelColumn(label="filesystem", title="File system", links=filesystem_links()),
            LabelColumn(label="mountpoint", title="Mount point"),
            ValueColumn(
                title="Used",
                expression=most,
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
                thresholds=used_colors(settings),
            ),
            ValueColumn(title="Size", expression=beside(size), unit=Unit.BYTES, decimals=1),
            ValueColumn(
                title="Inodes used",
                expression=beside(ratio(files - files_free, files)),
                unit=Unit.RATIO,
                cell=Cell.COLORED_TEXT,
                thresholds=used_colors(settings),
            ),
        ),
        sort_by="Used",
        paginate=True,
        no_value="No mount is watched on the chosen nodes",
    )
