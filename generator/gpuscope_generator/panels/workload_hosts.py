"""CPU, memory, network and waiting for files of the chosen workloads and of the nodes that they run on."""

from __future__ import annotations

from gpuscope_generator.normalized import mount, node, workload
from gpuscope_generator.panels.chosen import GROUP_LEGEND, by_group, chosen_nodes, of_pods
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Gauge, Matcher, Vector, max_by, select, sum_by, topk
from gpuscope_generator.view import (
    Explanation,
    LineStyle,
    Link,
    Noun,
    Query,
    Thresholds,
    TimeSeries,
    Unit,
    line,
    palette,
)

__all__ = [
    "cpu",
    "cpu_throttling",
    "file_traffic",
    "io_pressure",
    "memory",
    "network_errors",
    "node_network",
    "oom_kills",
    "pod_network",
]

_CADVISOR = "cAdvisor in kubelet; requests and limits from kube-state-metrics."
_NO_PODS = "No data: cAdvisor is absent, or these are Slurm jobs, which have no pods"
_NODE = Link(
    "Node ${__field.labels.node} on the cluster board",
    Noun.CLUSTER,
    {"cluster": line("cluster"), "node": line("node")},
)
_FILES = Link(
    "File systems of ${__field.labels.node}", Noun.FILESYSTEM, {"cluster": line("cluster"), "node": line("node")}
)
_FILESYSTEM = Link(
    "File system ${__field.labels.filesystem} on ${__field.labels.node}",
    Noun.FILESYSTEM,
    {"cluster": line("cluster"), "node": line("node"), "filesystem": line("filesystem")},
)
_DASHED = {"/^requested /": LineStyle(dashed=True), "/^limit /": LineStyle(dashed=True, color=palette.BAD)}


def _used(used: Gauge, requested: Gauge, limit: Gauge) -> tuple[Query, ...]:
    return (
        Query(expression=by_group(of_pods(used)), legend=GROUP_LEGEND),
        Query(expression=by_group(of_pods(requested)), legend=f"requested {GROUP_LEGEND}"),
        Query(expression=by_group(of_pods(limit)), legend=f"limit {GROUP_LEGEND}"),
    )


def cpu() -> TimeSeries:
    """CPU use against request and limit."""
    return TimeSeries(
        key="cpu",
        title="CPU use, requested and limit",
        explanation=Explanation(
            shows="CPUs at work, summed over all containers of a group, and dashed what was requested and what is "
            "allowed.",
            source=_CADVISOR,
            good="Below the limit; near the request.",
            do="At the limit: the pod is slowed down, see the graph beside; raise the limit or remove it.",
        ),
        queries=_used(workload.POD_CPU, workload.POD_CPU_REQUEST, workload.POD_CPU_LIMIT),
        unit=Unit.COUNT,
        low=0,
        width=12,
        styles=_DASHED,
        no_value=_NO_PODS,
    )


def cpu_throttling() -> TimeSeries:
    """How often the limit slows pods down."""
    return TimeSeries(
        key="cpu_throttling",
        title="CPU periods cut short",
        explanation=Explanation(
            shows="Share of periods of 0.1 s in which a pod had used up its CPU limit and had to wait, for the pod of "
            "a group that had to wait most.",
            source="cAdvisor in kubelet; only pods with a CPU limit have it.",
            good="0, or below 5 %.",
            do="Data loaders and tokenizers that wait for CPU leave GPUs idle: raise the limit or remove it.",
        ),
        queries=(Query(expression=by_group(of_pods(workload.POD_CPU_THROTTLED), "max"), legend=GROUP_LEGEND),),
        unit=Unit.RATIO,
        low=0,
        high=1,
        width=12,
        thresholds=None,
        no_value="No pod with a CPU limit, or no cAdvisor",
    )


def memory() -> TimeSeries:
    """Memory against request and limit."""
    return TimeSeries(
        key="memory",
        title="Memory use, requested and limit",
        explanation=Explanation(
            shows="Working set, which is memory that cannot be given back, summed over all containers of a group, and "
            "dashed what was requested and what is allowed.",
            source=_CADVISOR,
            good="Below the limit, without a steady rise.",
            do="Near the limit: the kernel will kill the process. Raise the limit, or use fewer data loaders.",
        ),
        queries=_used(workload.POD_MEMORY, workload.POD_MEMORY_REQUEST, workload.POD_MEMORY_LIMIT),
        unit=Unit.BYTES,
        low=0,
        width=12,
        styles=_DASHED,
        no_value=_NO_PODS,
    )


def oom_kills() -> TimeSeries:
    """Processes that were killed for memory."""
    return TimeSeries(
        key="oom_kills",
        title="Processes killed for memory (within an hour)",
        explanation=Explanation(
            shows="Processes of a group that the kernel killed within the hour before, as their pod was over its "
            "limit.",
            source="cAdvisor in kubelet.",
            good="0.",
            do="Raise the memory limit, or find what grows. A killed data loader may leave a job hanging without an "
            "error.",
        ),
        queries=(Query(expression=by_group(of_pods(workload.POD_OOM)), legend=GROUP_LEGEND),),
        unit=Unit.COUNT,
        low=0,
        width=12,
        bars=True,
        no_value=_NO_PODS,
    )


def pod_network() -> TimeSeries:
    """Network of pods."""
    return TimeSeries(
        key="pod_network",
        title="Pod network",
        explanation=Explanation(
            shows="Traffic of the pods' own network: received above, sent below the line. A pod on the host's network "
            "shows the traffic of its host. InfiniBand and EFA are not in it, see the graph beside.",
            source="cAdvisor in kubelet.",
            good="It follows the loading of data.",
            do="At the limit of the network card: the job waits for data. Use a nearer copy, or cache it.",
        ),
        queries=(
            Query(expression=by_group(of_pods(workload.POD_NETWORK, direction="rx")), legend=f"in {GROUP_LEGEND}"),
            Query(expression=by_group(of_pods(workload.POD_NETWORK, direction="tx")), legend=f"out {GROUP_LEGEND}"),
        ),
        unit=Unit.BYTES_PER_SECOND,
        width=12,
        styles={"/^out /": LineStyle(below_zero=True)},
        no_value=_NO_PODS,
    )


def _of_nodes(series: Gauge, *conditions: Matcher) -> Vector:
    return select(series, IN_CLUSTER, *conditions).and_(chosen_nodes(), on=node.NODE)


def node_network() -> TimeSeries:
    """Network of the nodes on which the chosen workloads run, by fabric."""
    keys = ("cluster", "node", "fabric")

    def flow(direction: str) -> Vector:
        return topk(20, sum_by(_of_nodes(node.NETWORK_BYTES, Matcher("direction", "=", direction)), *keys))

    return TimeSeries(
        key="node_network",
        title="Network of the nodes",
        explanation=Explanation(
            shows="Traffic of the nodes on which the chosen workloads run, by fabric: Ethernet, InfiniBand (RoCE "
            "included) and EFA. Received above, sent below the line. Other work on the same node is in it.",
            source="node-exporter and its InfiniBand part; the EFA exporter.",
            good="Nodes of one job look alike.",
            do="One node lower than the others: a bad link makes all wait. See errors beside, then the cluster board.",
        ),
        queries=(
            Query(expression=flow("rx"), legend="in {{node}} {{fabric}}"),
            Query(expression=flow("tx"), legend="out {{node}} {{fabric}}"),
        ),
        unit=Unit.BYTES_PER_SECOND,
        width=12,
        styles={"/^out /": LineStyle(below_zero=True)},
        links=(_NODE,),
        no_value="No data: node-exporter is absent, or its nodes have other names",
    )


def network_errors() -> TimeSeries:
    """Errors of these networks."""
    found = topk(20, sum_by(_of_nodes(node.NETWORK_ERRORS), "cluster", "node", "fabric", "type"))
    return TimeSeries(
        key="network_errors",
        title="Network errors of the nodes",
        explanation=Explanation(
            shows="Errors, drops, retransmissions and links that went down, a second, on the nodes on which the chosen "
            "workloads run.",
            source="node-exporter and its InfiniBand part; the EFA exporter.",
            good="0.",
            do="Errors on one node: its cable or port. Retransmissions on all: congestion. Collective operations slow "
            "down long before they fail.",
        ),
        queries=(Query(expression=found, legend="{{node}} {{fabric}} {{type}}"),),
        unit=Unit.COUNT_PER_SECOND,
        low=0,
        width=12,
        links=(_NODE,),
        no_value="No data: node-exporter is absent, or its nodes have other names",
    )


def io_pressure() -> TimeSeries:
    """Waiting for files."""
    found = topk(20, max_by(_of_nodes(node.PRESSURE, Matcher("resource", "=", "io")), "cluster", "node"))
    return TimeSeries(
        key="io_pressure",
        title="Time that tasks wait for files",
        explanation=Explanation(
            shows="Share of time in which some task on the node waited for reading or writing, on the nodes on which "
            "the chosen workloads run (pressure stall information of Linux).",
            source="node-exporter with PSI in the kernel.",
            good="Below 10 %, with peaks while a checkpoint is written.",
            do="High while compute activity is low: data loading is the bottleneck. Open the file systems of the node.",
        ),
        queries=(Query(expression=found, legend="{{node}}"),),
        unit=Unit.RATIO,
        low=0,
        high=1,
        width=12,
        links=(_FILES, _NODE),
        thresholds=Thresholds(base=palette.NEUTRAL),
        no_value="No data: node-exporter is absent, or the kernel has no PSI",
    )


def file_traffic() -> TimeSeries:
    """What the nodes of the chosen workloads read from and write to file systems."""

    def moved(direction: str) -> Vector:
        found = _of_nodes(mount.BYTES, Matcher("direction", "=", direction))
        return topk(20, sum_by(found, *mount.ON_NODE))

    return TimeSeries(
        key="file_traffic",
        title="Files read and written on the nodes",
        explanation=Explanation(
            shows="Bytes a second that programs read from (above the line) and write to (below it) Lustre, NFS and "
            "GPFS, on the nodes on which the chosen workloads run. Other work on the same node is in it.",
            source="the gpuscope agent, an exporter of Lustre or GPFS, or node-exporter with mountstats. FSx through "
            "YACE tells of no single node.",
            good="Nodes of one job look alike; peaks of writing are checkpoints.",
            do="Little while tasks wait for files: the file system is slow, open its board from the line. Much: the "
            "data loader reads more than it needs, or small pieces.",
        ),
        queries=(
            Query(expression=moved("read"), legend="read {{node}} {{filesystem}}"),
            Query(expression=moved("write"), legend="write {{node}} {{filesystem}}"),
        ),
        unit=Unit.BYTES_PER_SECOND,
        width=12,
        styles={"/^write /": LineStyle(below_zero=True)},
        links=(_FILESYSTEM, _NODE),
        no_value="No data: no client of Lustre, NFS or GPFS tells its traffic",
    )
