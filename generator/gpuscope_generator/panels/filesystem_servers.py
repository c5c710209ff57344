"""Servers and targets: which limit is reached, and is the load even?"""

from __future__ import annotations

from gpuscope_generator.normalized import filesystem, storage_target
from gpuscope_generator.panels.filesystem import used_colors
from gpuscope_generator.panels.filesystem_choice import filesystem_links, of_filesystems, of_targets
from gpuscope_generator.promql import Gauge, Vector, avg_by, max_by, ratio, sum_by, topk
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    LineStyle,
    Query,
    StatusHistory,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    palette,
)

__all__ = [
    "backlog",
    "hot_spots",
    "server_balance",
    "server_cache",
    "server_cpu",
    "server_limits",
    "server_network",
    "target_load",
    "targets",
]

_KEYS = filesystem.FILESYSTEM
_SERVER = (*_KEYS, "server")
_YACE = "FSx for Lustre through YACE. Of your own servers node-exporter tells it, on the cluster board."
_NO_FSX = "No FSx for Lustre, or YACE does not ask for this dimension"


def server_cpu() -> TimeSeries:
    """CPU of file servers."""
    return TimeSeries(
        key="server_cpu",
        title="Server CPU",
        explanation=Explanation(
            shows="Share of its CPU that each file server uses, the mean of a period.",
            source=f"{_YACE} FSx for Lustre tells nothing about the memory of its servers.",
            good="Below 80 %.",
            do="A metadata server at its limit: fewer and larger files. An object server: stripe over more targets.",
        ),
        queries=(
            Query(
                expression=topk(20, max_by(of_filesystems(filesystem.SERVER_USE, resource="cpu"), *_SERVER)),
                legend="{{filesystem}} {{server}}",
            ),
        ),
        unit=Unit.RATIO,
        width=12,
        low=0,
        high=1,
        no_value=_NO_FSX,
    )


def server_limits(settings: Settings) -> TimeSeries:
    """What limits there are, and how near."""
    limits = ("network", "disk_throughput", "disk_iops")
    return TimeSeries(
        key="server_limits",
        title="Network and disks of servers",
        explanation=Explanation(
            shows="Share in use of what a file server may move over its network, and of the bytes and operations that "
            "its disks can do.",
            source=_YACE,
            good="Below the line.",
            do="The one that is at 100 % is the limit of your throughput: raise the throughput capacity, or spread "
            "the load.",
        ),
        queries=tuple(
            Query(
                expression=topk(10, max_by(of_filesystems(filesystem.SERVER_USE, resource=limit), *_SERVER)),
                legend=f"{limit.replace('_', ' ')} {{{{filesystem}}}} {{{{server}}}}",
            )
            for limit in limits
        ),
        unit=Unit.RATIO,
        width=12,
        low=0,
        high=1,
        thresholds=Thresholds(base=palette.OK, steps=((settings.thresholds.storage_high_ratio, palette.WARN),)),
        limits_as_lines=True,
        no_value=_NO_FSX,
    )


def server_balance() -> TimeSeries:
    """Credits for bursts."""
    found = topk(20, max_by(of_filesystems(filesystem.SERVER_BALANCE), *_SERVER, "resource"))
    return TimeSeries(
        key="server_balance",
        title="Credits for bursts",
        explanation=Explanation(
            shows="Share of the credits that are left with which a file server goes above its base line for a while.",
            source=_YACE,
            good="Above 20 %.",
            do="At 0 the file system falls back to its base line: raise the throughput capacity, or write less often.",
        ),
        queries=(Query(expression=found, legend="{{resource}} {{filesystem}} {{server}}"),),
        unit=Unit.RATIO,
        width=8,
        low=0,
        high=1,
        spaced_names=True,
        no_value=_NO_FSX,
    )


def server_cache() -> TimeSeries:
    """Hits of the server's cache."""
    return TimeSeries(
        key="server_cache",
        title="Reads from the server's memory",
        explanation=Explanation(
            shows="Share of reads that a file server answers from its memory instead of its disks.",
            source=_YACE,
            good="High while many nodes read the same data.",
            do="Low with busy disks: let jobs read one data set after the other, or cache it on the nodes.",
        ),
        queries=(
            Query(
                expression=topk(20, max_by(of_filesystems(filesystem.SERVER_CACHE_HITS), *_SERVER)),
                legend="{{filesystem}} {{server}}",
            ),
        ),
        unit=Unit.RATIO,
        width=8,
        low=0,
        high=1,
        no_value=_NO_FSX,
    )


def server_network() -> TimeSeries:
    """Network of file servers."""

    def moved(direction: str) -> Vector:
        return topk(10, max_by(of_filesystems(filesystem.SERVER_BYTES, direction=direction), *_SERVER))

    return TimeSeries(
        key="server_network",
        title="Network traffic of servers",
        explanation=Explanation(
            shows="Bytes a second that each file server sends (above the line) and receives (below it): sums of "
            "CloudWatch, divided by their period.",
            source=_YACE,
            good="Servers of one kind look alike.",
            do="One server with most of the traffic: files are striped over too few targets.",
        ),
        queries=(
            Query(expression=moved("sent"), legend="sent {{filesystem}} {{server}}"),
            Query(expression=moved("received"), legend="received {{filesystem}} {{server}}"),
        ),
        unit=Unit.BYTES_PER_SECOND,
        width=8,
        styles={"/^received /": LineStyle(below_zero=True)},
        no_value=_NO_FSX,
    )


def _target(series: Gauge, **equal: str) -> Vector:
    return sum_by(of_targets(series, **equal), *storage_target.TARGET)


def _load() -> Vector:
    return sum_by(of_targets(storage_target.BYTES), *storage_target.TARGET)


def hot_spots() -> TimeSeries:
    """How uneven the targets are."""
    used = max_by(of_targets(storage_target.USED), *storage_target.TARGET)
    return TimeSeries(
        key="hot_spots",
        title="Hottest target over the mean",
        explanation=Explanation(
            shows="Traffic of the busiest storage target over the mean of all targets, and the same of their used "
            "space: 1 is even.",
            source="FSx through YACE, or lustre_exporter on the object storage servers.",
            good="Below 1.5.",
            do="Traffic uneven: stripe large files over more targets (`lfs setstripe -c`). Space uneven: one target "
            "fills first, and writing to it fails; migrate files (`lfs migrate`).",
        ),
        queries=(
            Query(expression=ratio(max_by(_load(), *_KEYS), avg_by(_load(), *_KEYS)), legend="traffic {{filesystem}}"),
            Query(expression=ratio(max_by(used, *_KEYS), avg_by(used, *_KEYS)), legend="space {{filesystem}}"),
        ),
        unit=Unit.NONE,
        width=12,
        low=0,
        no_value="Unknown: no source tells of single targets",
    )


def target_load() -> StatusHistory:
    """Traffic of each target, as a share of the busiest."""
    busiest = max_by(_load(), *_KEYS)
    share = ratio(topk(40, _load()), busiest, on=_KEYS, many="left")
    return StatusHistory(
        key="target_load",
        title="Traffic of targets",
        explanation=Explanation(
            shows="Traffic of each storage target as a share of the busiest one at that moment.",
            source="FSx through YACE, or lustre_exporter on the object storage servers.",
            good="All rows look alike.",
            do="One row that stands out for long: a large file with a single stripe, or a full neighbor.",
        ),
        queries=(Query(expression=share, legend="{{filesystem}} {{target}}"),),
        unit=Unit.RATIO,
        width=12,
        low=0,
        high=1,
        thresholds=Thresholds(base=palette.IDLE, steps=((0.25, palette.NEUTRAL), (0.75, palette.INFO))),
        no_value="Unknown: no source tells of single targets, or nothing is read or written",
    )


def targets(settings: Settings) -> Table:
    """One row a target."""
    return Table(
        key="targets",
        title="Targets",
        explanation=Explanation(
            shows="Storage targets (OSTs hold data, MDTs metadata): how full, how busy, requests that wait for their "
            "answer on all clients, and clients without a connection.",
            source="FSx through YACE or lustre_exporter on servers; requests and connections from the gpuscope agent.",
            good="Evenly full, no client without a connection.",
            do="A target that many clients lost: its server is down or fails over; look at the server. A full one: "
            "migrate files off it.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="filesystem", title="File system", links=filesystem_links()),
            LabelColumn(label="target", title="Target"),
            ValueColumn(
                title="Used",
                expression=max_by(of_targets(storage_target.USED), *storage_target.TARGET),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
                thresholds=used_colors(settings),
            ),
            ValueColumn(
                title="Read",
                expression=_target(storage_target.BYTES, direction="read"),
                unit=Unit.BYTES_PER_SECOND,
                decimals=1,
            ),
            ValueColumn(
                title="Written",
                expression=_target(storage_target.BYTES, direction="write"),
                unit=Unit.BYTES_PER_SECOND,
                decimals=1,
            ),
            ValueColumn(
                title="Disk operations",
                expression=_target(storage_target.IO),
                unit=Unit.IO_PER_SECOND,
                decimals=0,
            ),
            ValueColumn(title="Disk use", expression=_target(storage_target.DISK_USE), unit=Unit.RATIO, decimals=0),
            ValueColumn(title="Requests waiting", expression=_target(storage_target.IN_FLIGHT), unit=Unit.COUNT),
            ValueColumn(
                title="Clients down",
                expression=_target(storage_target.CLIENTS_DOWN),
                unit=Unit.COUNT,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.OK, steps=((1, palette.BAD),)),
            ),
        ),
        sort_by="Used",
        paginate=True,
        no_value="Unknown: no source tells of single targets",
    )


def backlog() -> TimeSeries:
    """What waits for the data repository."""
    return TimeSeries(
        key="backlog",
        title="Backlog of the data repository",
        explanation=Explanation(
            shows="Age of the oldest change that FSx has still to import from S3, or to export to it, by direction.",
            source="FSx for Lustre with a data repository association, through YACE (AgeOfOldestQueuedMessage).",
            good="Near 0.",
            do="While it is not 0, files written here are not all in S3: do not delete the file system. If it grows, "
            "look at failed imports and exports in its log group.",
        ),
        queries=(
            Query(
                expression=max_by(of_filesystems(filesystem.BACKLOG), *_KEYS, "publisher"),
                legend="{{filesystem}} {{publisher}}",
            ),
        ),
        unit=Unit.SECONDS,
        width=12,
        low=0,
        no_value="No FSx for Lustre with a data repository",
    )
