"""Bytes, operations and their latency, whatever the file system."""

from __future__ import annotations

from gpuscope_generator.normalized import filesystem
from gpuscope_generator.panels.filesystem_choice import FILESYSTEM_LINE, of_filesystems
from gpuscope_generator.promql import Matcher, Vector, max_by, ratio, sum_by, topk
from gpuscope_generator.view import Explanation, LineStyle, Query, TimeSeries, Unit

__all__ = ["io_size", "iops", "latency", "metadata", "nfs_latency", "throughput"]

_KEYS = filesystem.FILESYSTEM
_BELOW = {"/^write /": LineStyle(below_zero=True)}
_CLIENTS = (
    "clients: the gpuscope agent, an exporter of Lustre or GPFS, or node-exporter with mountstats; else FSx through "
    "YACE, whose sums are divided by their period."
)


def _bytes(direction: str) -> Vector:
    return sum_by(of_filesystems(filesystem.BYTES, direction=direction), *_KEYS)


def _io(kind: str) -> Vector:
    return sum_by(of_filesystems(filesystem.IO, kind=kind), *_KEYS)


def throughput() -> TimeSeries:
    """Bytes read and written."""
    return TimeSeries(
        key="throughput",
        title="Throughput",
        explanation=Explanation(
            shows="Bytes a second that clients read (above the line) and write (below it). Clients count what their "
            "page cache answers; FSx counts what reaches its servers.",
            source=_CLIENTS,
            good="Peaks of writing while checkpoints are saved, and reading while data is loaded.",
            do="A flat top is a limit: compare with the row Servers. Nothing while GPUs wait: look at latency.",
        ),
        queries=(
            Query(expression=topk(20, _bytes("read")), legend="read {{filesystem}}"),
            Query(expression=topk(20, _bytes("write")), legend="write {{filesystem}}"),
        ),
        unit=Unit.BYTES_PER_SECOND,
        width=12,
        styles=_BELOW,
        links=(FILESYSTEM_LINE,),
        no_value="Unknown: no client tells its traffic",
    )


def iops() -> TimeSeries:
    """Read and write operations."""
    return TimeSeries(
        key="iops",
        title="Read and write operations",
        explanation=Explanation(
            shows="Read (above the line) and write (below it) operations a second. Lustre counts system calls, NFS and "
            "FSx requests to the server.",
            source=_CLIENTS,
            good="Few operations for many bytes: see the size of an operation beside.",
            do="Many operations with little throughput: the data loader reads small pieces. Use larger files, or read "
            "ahead.",
        ),
        queries=(
            Query(expression=topk(20, _io("read")), legend="read {{filesystem}}"),
            Query(expression=topk(20, _io("write")), legend="write {{filesystem}}"),
        ),
        unit=Unit.IO_PER_SECOND,
        width=12,
        styles=_BELOW,
        links=(FILESYSTEM_LINE,),
        no_value="Unknown: no client tells its operations",
    )


def io_size() -> TimeSeries:
    """Bytes an operation moves."""
    return TimeSeries(
        key="io_size",
        title="Mean size of an operation",
        explanation=Explanation(
            shows="Bytes that one read or write operation moves, on average.",
            source=_CLIENTS,
            good="1 MiB and more on Lustre; hundreds of KiB on NFS.",
            do="A few KiB: pack samples into larger files, use buffered or larger reads, align writes.",
        ),
        queries=(
            Query(expression=topk(20, ratio(_bytes("read"), _io("read"))), legend="read {{filesystem}}"),
            Query(expression=topk(20, ratio(_bytes("write"), _io("write"))), legend="write {{filesystem}}"),
        ),
        unit=Unit.BYTES,
        width=12,
        low=0,
        links=(FILESYSTEM_LINE,),
        no_value="Unknown, or nothing is read or written",
    )


def metadata() -> TimeSeries:
    """Metadata operations by type."""
    moved = Matcher("operation", "!~", "read|write")
    by_type = topk(20, sum_by(of_filesystems(filesystem.OPERATIONS, moved).compare(">", 0), "cluster", "operation"))
    told = sum_by(of_filesystems(filesystem.IO, kind="metadata"), *_KEYS)
    untold = told.unless(of_filesystems(filesystem.OPERATIONS, moved), on=_KEYS)
    return TimeSeries(
        key="metadata",
        title="Metadata operations",
        explanation=Explanation(
            shows="Operations a second that move no data, such as open, getattr (stat) and readdir, by type over all "
            "chosen file systems; of FSx without known clients only their sum is told.",
            source=_CLIENTS,
            good="Far fewer than what the metadata server can do; no storm of one type.",
            do="A storm of open or getattr: many small files, or a program that asks again and again. Find the node in "
            "the row Clients.",
        ),
        queries=(
            Query(expression=by_type, legend="{{operation}}"),
            Query(expression=untold, legend="all of {{filesystem}}"),
        ),
        unit=Unit.OPERATIONS_PER_SECOND,
        width=12,
        low=0,
        stacked=True,
        no_value="Unknown: no client tells its operations",
    )


def latency() -> TimeSeries:
    """How long operations take."""
    seconds = sum_by(of_filesystems(filesystem.OPERATION_SECONDS), *_KEYS, "operation")
    count = sum_by(of_filesystems(filesystem.OPERATIONS), *_KEYS, "operation")
    return TimeSeries(
        key="latency",
        title="Time that an operation takes",
        explanation=Explanation(
            shows="Mean time of one operation as the client sees it, by type: the twenty slowest.",
            source="Lustre clients of 2.13 and newer by the gpuscope agent; NFS by the agent or by node-exporter with "
            "mountstats.",
            good="Around a millisecond for metadata, some milliseconds for reading and writing.",
            do="All slow: the server or the network is. Only reads or writes: compare with throughput, it may just be "
            "busy.",
        ),
        queries=(Query(expression=topk(20, ratio(seconds, count)), legend="{{filesystem}} {{operation}}"),),
        unit=Unit.SECONDS,
        width=12,
        low=0,
        links=(FILESYSTEM_LINE,),
        no_value="Unknown: no source tells how long operations take",
    )


def nfs_latency() -> TimeSeries:
    """Where NFS operations wait."""

    def mean(phase: str) -> Vector:
        return topk(10, max_by(of_filesystems(filesystem.NFS_WAIT, phase=phase), *_KEYS))

    return TimeSeries(
        key="nfs_latency",
        title="NFS: slow client or slow server",
        explanation=Explanation(
            shows="Mean time that a request waits in the client before it is sent (queue), and that the server and the "
            "network take for the answer (server).",
            source="node-exporter with its collector mountstats; the gpuscope agent tells only the sum of both.",
            good="Nearly no time in the queue.",
            do="Much in the queue: more connections help (mount option nconnect). Much at the server: it, or the way "
            "to it, is the limit.",
        ),
        queries=(
            Query(expression=mean("queue"), legend="queue {{filesystem}}"),
            Query(expression=mean("server"), legend="server {{filesystem}}"),
        ),
        unit=Unit.SECONDS,
        width=12,
        low=0,
        links=(FILESYSTEM_LINE,),
        no_value="No NFS, or node-exporter runs without its collector mountstats",
    )
