"""What only Lustre clients tell: requests, read-ahead, connections, LNet, and where it was read."""

from __future__ import annotations

from gpuscope_generator.normalized import filesystem, mount, storage_target
from gpuscope_generator.panels.filesystem_choice import (
    NODE_LINE,
    node_links,
    of_filesystems,
    of_mounts_of_nodes,
    of_nodes,
    of_targets,
)
from gpuscope_generator.promql import max_by, ratio, sum_by, topk
from gpuscope_generator.view import (
    Explanation,
    LabelColumn,
    LineStyle,
    Query,
    Table,
    TimeSeries,
    Unit,
    ValueColumn,
    ValueText,
    palette,
)

__all__ = ["connection_events", "lnet", "lnet_problems", "read_ahead", "request_sizes", "requests_waiting", "sources"]

_KEYS = filesystem.FILESYSTEM
_AGENT = "the gpuscope agent on Lustre clients"


def requests_waiting() -> TimeSeries:
    """Requests in flight."""
    summed = sum_by(of_targets(storage_target.IN_FLIGHT), *_KEYS, "type")
    largest = max_by(of_targets(storage_target.IN_FLIGHT_MAX), *_KEYS)
    return TimeSeries(
        key="requests_waiting",
        title="Requests that wait for targets",
        explanation=Explanation(
            shows="Requests of all Lustre clients that wait for an answer now, by type, and dashed the most that one "
            "client has at one target.",
            source=f"{_AGENT} (rpc_stats). Other exporters publish a history of it, which is no level.",
            good="The dashed line stays below max_rpcs_in_flight of the clients, which is 8 by default.",
            do="At that limit all the time with idle servers: raise it (`lctl set_param osc.*.max_rpcs_in_flight=16`). "
            "With busy servers: they are the limit.",
        ),
        queries=(
            Query(expression=topk(20, summed), legend="{{type}} {{filesystem}}"),
            Query(expression=largest, legend="most of one client {{filesystem}}"),
        ),
        unit=Unit.COUNT,
        width=8,
        low=0,
        styles={"/^most of /": LineStyle(dashed=True)},
        no_value="Unknown: no gpuscope agent on Lustre clients",
    )


def request_sizes() -> TimeSeries:
    """How well requests are filled."""
    every = of_filesystems(filesystem.RPCS)
    each = sum_by(every, *_KEYS, "direction", "pages")
    whole = sum_by(every, *_KEYS, "direction")
    share = ratio(each, whole, on=(*_KEYS, "direction"), many="left")
    return TimeSeries(
        key="request_sizes",
        title="Size of requests to targets",
        explanation=Explanation(
            shows="Share of the bulk requests of Lustre clients by size: up to so many pages of 4 KiB, for reading and "
            "writing.",
            source=f"{_AGENT}, or an exporter of Lustre on them (rpc_stats).",
            good="Most have 256 pages (1 MiB) or more.",
            do="Many of one page: small or unaligned input and output. Use larger blocks, or pack small files.",
        ),
        queries=(Query(expression=topk(30, share), legend="{{direction}} {{pages}} pages {{filesystem}}"),),
        unit=Unit.RATIO,
        width=8,
        low=0,
        high=1,
        no_value="No Lustre, or no client tells it",
    )


def read_ahead() -> TimeSeries:
    """Hits and misses of read-ahead."""
    events = of_filesystems(filesystem.READ_AHEAD).compare(">", 0)
    return TimeSeries(
        key="read_ahead",
        title="Read-ahead",
        explanation=Explanation(
            shows="Pages a second by what read-ahead of Lustre clients did with them: hits were there before they were "
            "asked for, misses were not.",
            source=f"{_AGENT} (read_ahead_stats).",
            good="Hits far above misses while data is read in order.",
            do="Mostly misses: reads are random. Read whole files, or shuffle by shard instead of by sample.",
        ),
        queries=(Query(expression=topk(20, sum_by(events, *_KEYS, "event")), legend="{{event}} {{filesystem}}"),),
        unit=Unit.OPERATIONS_PER_SECOND,
        width=8,
        low=0,
        spaced_names=True,
        no_value="No Lustre, or no gpuscope agent on its clients",
    )


def connection_events() -> TimeSeries:
    """Signs of bad connections, of Lustre and NFS."""
    return TimeSeries(
        key="connection_events",
        title="Time-outs, reconnects, evictions, retransmissions",
        explanation=Explanation(
            shows="Signs of a bad connection a second, summed over clients. Eviction: a Lustre server throws out a "
            "client that does not answer, and what it had not written is lost.",
            source="the gpuscope agent for Lustre and NFS; node-exporter with mountstats for NFS.",
            good="0.",
            do="On one node: its network. On all: the server, or the network to it. Evictions: look at the kernel log "
            "of the node.",
        ),
        queries=(
            Query(
                expression=topk(20, sum_by(of_filesystems(filesystem.EVENTS), *_KEYS, "event")),
                legend="{{event}} {{filesystem}}",
            ),
        ),
        unit=Unit.COUNT_PER_SECOND,
        width=12,
        low=0,
        no_value="Unknown: no client of Lustre or NFS tells it",
    )


def lnet() -> TimeSeries:
    """Traffic of LNet."""

    def moved(direction: str) -> Query:
        found = topk(20, max_by(of_nodes(mount.LNET_BYTES, direction=direction), "cluster", "node"))
        return Query(expression=found, legend=f"{direction} {{{{node}}}}")

    return TimeSeries(
        key="lnet",
        title="LNet traffic of nodes",
        explanation=Explanation(
            shows="Bytes a second in messages of LNet, the network layer of Lustre, of the chosen nodes: received "
            "above, sent below the line.",
            source=f"{_AGENT}, or an exporter of Lustre on them.",
            good="Nodes of one job look alike.",
            do="One node lower than the others: its link to the storage network.",
        ),
        queries=(moved("receive"), moved("send")),
        unit=Unit.BYTES_PER_SECOND,
        width=12,
        styles={"/^send /": LineStyle(below_zero=True)},
        links=(NODE_LINE,),
        no_value="No Lustre, or no client tells of LNet",
    )


def lnet_problems() -> TimeSeries:
    """Drops and errors, of LNet and of connections by node."""
    of_lnet = topk(10, max_by(of_nodes(mount.LNET_PROBLEMS), "cluster", "node", "problem"))
    of_connections = topk(10, sum_by(of_mounts_of_nodes(mount.EVENTS), "cluster", "node", "event"))
    return TimeSeries(
        key="lnet_problems",
        title="Bad connections by node",
        explanation=Explanation(
            shows="LNet messages dropped and errors, and the events of the graph above, a second, of the ten worst "
            "nodes.",
            source="the gpuscope agent, an exporter of Lustre, or node-exporter with mountstats.",
            good="0.",
            do="One node: check its network port on the cluster board, and drain it.",
        ),
        queries=(
            Query(expression=of_lnet, legend="{{node}} LNet {{problem}}"),
            Query(expression=of_connections, legend="{{node}} {{event}}"),
        ),
        unit=Unit.COUNT_PER_SECOND,
        width=12,
        low=0,
        links=(NODE_LINE,),
        no_value="Unknown: no client of Lustre or NFS tells it",
    )


def sources() -> Table:
    """Where the agent found the counters of Lustre."""
    keys = ("cluster", "node", "param", "source")
    return Table(
        key="lustre_sources",
        title="Where Lustre's counters are read",
        explanation=Explanation(
            shows="The place in which the gpuscope agent found each group of counters on the chosen nodes: releases of "
            "Lustre keep them in debugfs, sysfs or procfs, or only tell them to lctl.",
            source=f"{_AGENT}.",
            good="A place for every group; the same on nodes of one image.",
            do="None: the panels that need this group stay empty. The row Data health gives the reason; most often "
            "debugfs is not mounted, or the agent is not root.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=node_links()),
            LabelColumn(label="param", title="Counters"),
            LabelColumn(label="source", title="Place", texts={"none": ValueText("none", palette.WARN)}),
            ValueColumn(title="Known", expression=max_by(of_nodes(mount.LUSTRE_SOURCE), *keys), hidden=True),
        ),
        paginate=True,
        height=8,
        no_value="No Lustre, or no gpuscope agent on its clients",
    )
