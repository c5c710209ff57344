"""GPUs in parts: what is left over, and what is shared without MIG."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, mig, partition
from gpuscope_generator.panels.mig import IN_PROFILE
from gpuscope_generator.panels.mig_links import gpu_links, node_links
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NODE
from gpuscope_generator.promql import Vector, count_by, max_by, on, select, sum_by
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Prose,
    Query,
    Table,
    Thresholds,
    TimeSeries,
    Unit,
    ValueColumn,
    palette,
)

__all__ = [
    "fragmentation",
    "free_by_size",
    "shared_gpus",
    "sharing_note",
]

_PLACE = (IN_CLUSTER, IN_NODE)
_SOURCE = "the gpuscope agent, or dcgm-exporter; owners from kubelet, from the exporter, or from Slurm."


def fragmentation() -> Table:
    """Slices of each GPU that nobody can use, or that nobody uses."""
    keys = ("cluster", "node", "gpu")

    def slices(state: str) -> Vector:
        return sum_by(select(partition.GPU_SLICES, *_PLACE, state=state), *keys)

    instance = on(
        select(mig.SLICES, *_PLACE),
        "*",
        select(mig.ALLOCATED, *_PLACE).compare("==", 0, as_bool=True),
        mig.MIG,
    )
    return Table(
        key="fragmentation",
        title="Free slices by GPU",
        explanation=Explanation(
            shows="Of each GPU in MIG mode: slices in no instance, slices of free instances, and the largest instance "
            "that is free. A pod fits where the largest free instance is at least what it asks for; slices that are "
            "spread over small instances, or are in none, cannot be put together without a new layout.",
            source=_SOURCE,
            good="Few slices in no instance, and a largest free instance of the size that people ask for.",
            do="Many free slices and a small largest one: drain the GPU and give it another layout.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(label="node", title="Node", links=node_links()),
            LabelColumn(label="gpu", title="GPU", links=gpu_links()),
            ValueColumn(
                title="Slices in no instance",
                expression=slices("total") - slices("configured"),
                unit=Unit.COUNT,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(palette.TEXT, ((1, palette.WARN),)),
            ),
            ValueColumn(title="Slices held", expression=slices("allocated"), unit=Unit.COUNT),
            ValueColumn(title="Slices free", expression=slices("free"), unit=Unit.COUNT),
            ValueColumn(title="Largest free instance", expression=max_by(instance, *keys), unit=Unit.COUNT),
        ),
        sort_by="Slices free",
        paginate=True,
        width=16,
        no_value="No GPU of the chosen nodes is in MIG mode",
    )


def free_by_size() -> TimeSeries:
    """Free instances by profile on the chosen nodes."""
    free = select(partition.NODE_INSTANCES, *_PLACE, IN_PROFILE, state="free")
    return TimeSeries(
        key="free_by_size",
        title="Free instances of the chosen nodes",
        explanation=Explanation(
            shows="MIG instances that nobody holds, by profile: each is a place for one pod that asks for it.",
            source=_SOURCE,
            good="Some of each profile that people ask for.",
            do="0 of a profile while pods wait for it: change the layout of GPUs that are free.",
        ),
        queries=(Query(expression=sum_by(free, "cluster", "profile"), legend="{{profile}}"),),
        unit=Unit.COUNT,
        low=0,
        no_value="No MIG instances on the chosen nodes, or their owners are unknown",
    )


def sharing_note() -> Prose:
    """What numbers of a shared GPU mean."""
    return Prose(
        key="sharing_note",
        title="GPUs that are shared without MIG",
        explanation=Explanation(
            shows="How to read numbers of a GPU that several pods share by time-slicing or MPS.",
            source="this text.",
            good="You know which GPUs are shared.",
            do="Use MIG where each owner must have numbers, and memory, of its own.",
        ),
        content=(
            "Pods that share a GPU by **time-slicing** or **MPS** share its numbers too: activity, memory and power "
            "are of the whole device, the same for each of its pods, and are never added up. What one pod uses of it, "
            "the driver tells only for memory. A pod's part on other boards is an equal share: an "
            "estimate."
        ),
        width=8,
        height=10,
    )


def shared_gpus() -> Table:
    """GPUs with more than one owner, outside MIG mode."""
    keys = (*gpu.GPU,)
    split = select(gpu.MIG_MODE, *_PLACE).compare("==", 1)
    owners = count_by(select(gpu.OWNER, *_PLACE), *keys).unless(split, on=gpu.GPU)
    several = owners.compare(">", 1)

    def of_shared(value: Vector) -> Vector:
        return max_by(value.and_(several, on=gpu.GPU), "cluster", "node", "gpu")

    return Table(
        key="shared_gpus",
        title="Shared GPUs",
        explanation=Explanation(
            shows="GPUs outside MIG mode that several pods or jobs hold, with activity and memory of the device.",
            source=_SOURCE,
            good="As many owners as you set replicas for, or fewer.",
            do="Memory near the end: owners can crash each other. Activity near 100 %: each waits for the others.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster", hidden=True),
            LabelColumn(label="node", title="Node", links=node_links()),
            LabelColumn(label="gpu", title="GPU", links=gpu_links()),
            ValueColumn(title="Owners", expression=max_by(several, "cluster", "node", "gpu"), unit=Unit.COUNT),
            ValueColumn(
                title="Compute of the device",
                expression=of_shared(select(gpu.COMPUTE_ACTIVE, *_PLACE)),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
            ),
            ValueColumn(
                title="Memory of the device",
                expression=of_shared(
                    on(
                        select(gpu.MEMORY_USED, *_PLACE),
                        "/",
                        select(gpu.MEMORY_TOTAL, *_PLACE).compare(">", 0),
                        gpu.GPU,
                    )
                ),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
            ),
        ),
        sort_by="Owners",
        paginate=True,
        width=16,
        no_value="No GPU of the chosen nodes has several owners outside MIG mode",
    )
