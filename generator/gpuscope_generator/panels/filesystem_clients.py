"""Who reads and writes: nodes, the work on them, and jobs."""

from __future__ import annotations

from gpuscope_generator.normalized import filesystem, mount, node, storage_target, workload
from gpuscope_generator.panels.filesystem_choice import (
    FILESYSTEM_LINE,
    filesystem_links,
    node_links,
    of_filesystems,
    of_mounts,
)
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NODE
from gpuscope_generator.promql import Vector, group_by, max_by, on, select, sum_by, topk
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Link,
    Noun,
    Query,
    Table,
    TimeSeries,
    Unit,
    ValueColumn,
    cell,
)

__all__ = ["busiest_jobs", "busiest_nodes", "busiest_workloads", "connections"]

_KEYS = filesystem.FILESYSTEM
_PODS = ("cluster", "namespace", "workload_kind", "workload", "pod", "node")


def connections() -> TimeSeries:
    """Who has it mounted, by the clients and by the servers."""

    def mounts(state: str) -> Vector:
        return sum_by(of_filesystems(filesystem.MOUNTS, state=state), *_KEYS)

    return TimeSeries(
        key="connections",
        title="Clients",
        explanation=Explanation(
            shows="Nodes on which a file system is mounted and answers, those on which it does not answer, and the "
            "clients that the servers of FSx count.",
            source="the gpuscope agent or node-exporter for mounts; YACE for the servers' count.",
            good="As many as there are nodes. The servers may count more: clients outside of this cluster.",
            do="A step down: nodes were lost, or their mounts; the row Mounts names them.",
        ),
        queries=(
            Query(expression=topk(20, mounts("up")), legend="mounted {{filesystem}}"),
            Query(expression=topk(20, mounts("down").compare(">", 0)), legend="down {{filesystem}}"),
            Query(
                expression=max_by(of_filesystems(filesystem.CONNECTIONS), *_KEYS), legend="servers count {{filesystem}}"
            ),
        ),
        unit=Unit.COUNT,
        width=12,
        low=0,
        links=(FILESYSTEM_LINE,),
        no_value="Unknown: nobody watches mounts, and no FSx",
    )


def _moved(*labels: str, direction: str) -> Vector:
    return sum_by(of_mounts(mount.BYTES, direction=direction), *labels)


def busiest_nodes() -> Table:
    """Nodes by traffic and by metadata operations."""
    keys = mount.ON_NODE
    metadata = sum_by(of_mounts(mount.IO, kind="metadata"), *keys)
    read, written = _moved(*keys, direction="read"), _moved(*keys, direction="write")
    many = topk(50, read).or_(topk(50, written)).or_(topk(50, metadata))

    def among(value: Vector) -> Vector:
        return value.and_(many, on=keys)

    return Table(
        key="busiest_nodes",
        title="Busiest nodes",
        explanation=Explanation(
            shows="Nodes with the most bytes read, bytes written or metadata operations a second, by file system.",
            source="clients: the gpuscope agent, an exporter of Lustre or GPFS, or node-exporter with mountstats.",
            good="Nodes of one job look alike.",
            do="One node with most of the metadata operations: open it on the cluster board and see whose work runs "
            "there.",
        ),
        width=24,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="node", title="Node", links=node_links()),
            LabelColumn(label="filesystem", title="File system", links=filesystem_links()),
            ValueColumn(title="Read", expression=among(read), unit=Unit.BYTES_PER_SECOND, decimals=1),
            ValueColumn(title="Written", expression=among(written), unit=Unit.BYTES_PER_SECOND, decimals=1),
            ValueColumn(
                title="Metadata operations", expression=among(metadata), unit=Unit.OPERATIONS_PER_SECOND, decimals=1
            ),
        ),
        sort_by="Read",
        paginate=True,
        no_value="Unknown: FSx tells of no single client, and no client tells itself",
    )


def busiest_workloads() -> Table:
    """What runs on the nodes that read and write."""
    held = (select(series, IN_CLUSTER, IN_NODE) for series in (workload.POD_GPU_SHARE, workload.POD_MIG_SHARE))
    whole, parts = (group_by(one, *_PODS) for one in held)
    pods = whole.or_(parts)

    def of_pods(value: Vector) -> Vector:
        return on(pods, "*", topk(30, value), node.NODE, many="left")

    return Table(
        key="busiest_workloads",
        title="Work on the busiest nodes",
        explanation=Explanation(
            shows="Pods and jobs that hold GPUs on the thirty nodes with the most traffic, each with the traffic of "
            "its whole node: nodes are counted, not pods, so several on one node have the same numbers.",
            source="traffic from the clients, holders of GPUs from the gpuscope agent or dcgm-exporter.",
            good="The jobs that you expect to load data or to save checkpoints.",
            do="Open the workload, and ask its owner about the pattern that the rows above show.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="namespace", title="Namespace"),
            LabelColumn(label="workload_kind", title="Kind"),
            LabelColumn(
                label="workload",
                title="Workload",
                links=(
                    Link(
                        "Workload on the task board",
                        Noun.TASK,
                        {
                            "cluster": cell("cluster"),
                            "namespace": cell("namespace"),
                            "workload_kind": cell("workload_kind"),
                            "workload": cell("workload"),
                        },
                    ),
                ),
            ),
            LabelColumn(
                label="pod",
                title="Pod",
                links=(
                    Link(
                        "Pod on the task board",
                        Noun.TASK,
                        {"cluster": cell("cluster"), "namespace": cell("namespace"), "pod": cell("pod")},
                    ),
                ),
            ),
            LabelColumn(label="node", title="Node", links=node_links()),
            ValueColumn(
                title="Node reads",
                expression=of_pods(_moved(*node.NODE, direction="read")),
                unit=Unit.BYTES_PER_SECOND,
                cell=Cell.PLAIN,
                decimals=1,
            ),
            ValueColumn(
                title="Node writes",
                expression=of_pods(_moved(*node.NODE, direction="write")),
                unit=Unit.BYTES_PER_SECOND,
                decimals=1,
            ),
        ),
        sort_by="Node reads",
        paginate=True,
        no_value="Unknown: no client tells its traffic, or nobody holds GPUs on these nodes",
    )


def busiest_jobs() -> Table:
    """Jobs as the servers of Lustre count them."""
    keys = (*_KEYS, "job_id")

    def moved(direction: str) -> Vector:
        return topk(50, sum_by(of_filesystems(storage_target.JOB_BYTES, direction=direction), *keys))

    return Table(
        key="busiest_jobs",
        title="Jobs, as the servers count them",
        explanation=Explanation(
            shows="The fifty jobs that read or write most, by the job id that clients send along (Lustre job "
            "statistics): with jobid_var=SLURM_JOB_ID it is the id in Slurm.",
            source="lustre_exporter on the object storage servers; FSx does not tell it.",
            good="The jobs that you expect.",
            do="Open the job on the task board.",
        ),
        width=24,
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="filesystem", title="File system", links=filesystem_links()),
            LabelColumn(
                label="job_id",
                title="Job",
                links=(
                    Link("Job on the task board", Noun.TASK, {"cluster": cell("cluster"), "workload": cell("job_id")}),
                ),
            ),
            ValueColumn(title="Read", expression=moved("read"), unit=Unit.BYTES_PER_SECOND, decimals=1),
            ValueColumn(title="Written", expression=moved("write"), unit=Unit.BYTES_PER_SECOND, decimals=1),
        ),
        sort_by="Read",
        paginate=True,
        no_value="Unknown: no lustre_exporter on the servers, or their job statistics are off",
    )
