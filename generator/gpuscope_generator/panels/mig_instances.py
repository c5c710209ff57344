"""Single MIG instances: who holds them, and what they do."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, mig, partition
from gpuscope_generator.panels.mig import IN_PROFILE
from gpuscope_generator.panels.variables import IN_CLUSTER, IN_NAMESPACE, IN_NODE, IN_WORKLOAD
from gpuscope_generator.promql import Gauge, Matcher, Vector, group_by, join, max_by, ratio, select
from gpuscope_generator.promql.joins import one_of
from gpuscope_generator.view import (
    Explanation,
    LabelValues,
    Link,
    Noun,
    Query,
    TimeSeries,
    Unit,
    line,
)

__all__ = [
    "HOLDER_NAMESPACE",
    "HOLDER_WORKLOAD",
    "INSTANCE",
    "PLACE",
    "PROFILE",
    "bandwidth",
    "compute",
    "holders",
    "memory",
    "memory_share",
    "sm_activity",
    "tensor_activity",
    "whole_gpus",
]

IN_GPU = Matcher("gpu", "=~", "$gpu")
IN_INSTANCE = Matcher("gi", "=~", "$gi")
PLACE = (IN_CLUSTER, IN_NODE, IN_GPU, IN_PROFILE, IN_INSTANCE)
_HOLDER = ("namespace", "pod", "workload")
_LEGEND = "{{node}} GPU {{gpu}} {{profile}} #{{gi}} {{namespace}} {{workload}} {{pod}}"
_PROFILING = (
    "the gpuscope agent on Hopper and newer GPUs (GPM), or profiling metrics of dcgm-exporter, by instance. "
    "Plain utilization (GPU_UTIL) does not exist in MIG mode, by design of the driver."
)
_NOT_MEASURED = (
    "Not reported: choose a node with MIG; A100 and A30 need profiling metrics of dcgm-exporter, our agent a Hopper GPU"
)
PROFILE = LabelValues(
    name="profile",
    label="Profile",
    selector=select(partition.CLUSTER_INSTANCES, IN_CLUSTER),
    values_of="profile",
)
INSTANCE = LabelValues(
    name="gi",
    label="GPU instance",
    selector=select(mig.INFO, IN_CLUSTER, IN_NODE, IN_GPU, IN_PROFILE),
    values_of="gi",
)
HOLDER_NAMESPACE = LabelValues(
    name="namespace",
    label="Namespace",
    selector=select(partition.HOLDER, IN_CLUSTER, IN_NODE),
    values_of="namespace",
)
HOLDER_WORKLOAD = LabelValues(
    name="workload",
    label="Workload",
    selector=select(partition.HOLDER, IN_CLUSTER, IN_NODE, IN_NAMESPACE),
    values_of="workload",
)
_ON_TASK = Link(
    "Pod ${__field.labels.pod} on the task board",
    Noun.TASK,
    {
        "cluster": line("cluster"),
        "namespace": line("namespace"),
        "workload": line("workload"),
        "pod": line("pod"),
    },
)
_ON_CLUSTER = Link(
    "GPU ${__field.labels.gpu} of ${__field.labels.node} on the cluster board",
    Noun.CLUSTER,
    {"cluster": line("cluster"), "node": line("node"), "gpu": line("gpu")},
)


def holders() -> Vector:
    """1 for every chosen instance, free ones too as long as no owner is chosen; one owner where several share it."""
    found = select(partition.HOLDER, *PLACE, IN_NAMESPACE, IN_WORKLOAD)
    return one_of(group_by(found, *mig.MIG, "workload_kind", *_HOLDER), *mig.MIG)


def _held(value: Vector) -> Vector:
    return join(value, holders(), on=mig.MIG, take=_HOLDER)


def _of_instances(series: Gauge) -> Vector:
    return _held(max_by(select(series, *PLACE), *mig.MIG))


def memory_share() -> Vector:
    """Memory in use of each chosen instance, of what it has."""
    used = max_by(select(mig.MEMORY_USED, *PLACE), *mig.MIG)
    return ratio(used, max_by(select(mig.MEMORY_TOTAL, *PLACE), *mig.MIG))


def _graph(key: str, title: str, expression: Vector, explanation: Explanation, no_value: str) -> TimeSeries:
    return TimeSeries(
        key=key,
        title=title,
        explanation=explanation,
        queries=(Query(expression=expression, legend=_LEGEND),),
        unit=Unit.RATIO,
        width=12,
        low=0,
        high=1,
        links=(_ON_TASK, _ON_CLUSTER),
        no_value=no_value,
    )


def compute() -> TimeSeries:
    """Compute activity by instance."""
    return _graph(
        "compute",
        "Compute activity by instance",
        _of_instances(mig.COMPUTE_ACTIVE),
        Explanation(
            shows="Share of time in which the compute engine of an instance worked: 100 % is all of that instance, "
            "and not of the GPU.",
            source=_PROFILING,
            good="High while somebody holds it.",
            do="Near 0 for long: the owner needs a smaller instance or none. Near 100 %: a larger one may pay.",
        ),
        _NOT_MEASURED,
    )


def memory() -> TimeSeries:
    """Memory by instance."""
    return _graph(
        "memory",
        "Memory in use by instance",
        _held(memory_share()),
        Explanation(
            shows="Memory that processes hold, of the memory of the instance.",
            source="the gpuscope agent; or dcgm-exporter, which some drivers give no memory of instances.",
            good="Below 90 %, and not below 50 % for long.",
            do="Near the end: take a profile with more memory, the next allocation fails. Far below: a smaller one.",
        ),
        "Not reported: choose a node with MIG; with dcgm-exporter some drivers tell no memory of instances",
    )


def sm_activity() -> TimeSeries:
    """SM activity by instance."""
    return _graph(
        "sm_activity",
        "SM activity by instance",
        _of_instances(mig.SM_ACTIVE),
        Explanation(
            shows="Share of time, and of the streaming multiprocessors (SM, the cores) of the instance, with work.",
            source=_PROFILING,
            good="Above 40 %.",
            do="Low while compute is high: kernels are small; batch more, or take a smaller instance.",
        ),
        _NOT_MEASURED,
    )


def tensor_activity() -> TimeSeries:
    """Tensor activity by instance."""
    return _graph(
        "tensor_activity",
        "Tensor core activity by instance",
        _of_instances(mig.TENSOR_ACTIVE),
        Explanation(
            shows="Share of cycles in which the tensor cores of the instance worked.",
            source=_PROFILING,
            good="Above 10 % for models in reduced precision.",
            do="0 while compute is high: the work does not use tensor cores; see its precision settings.",
        ),
        _NOT_MEASURED,
    )


def bandwidth() -> TimeSeries:
    """Memory bandwidth by instance."""
    return _graph(
        "bandwidth",
        "Memory bandwidth activity by instance",
        _of_instances(mig.DRAM_ACTIVE),
        Explanation(
            shows="Share of cycles in which the memory of the instance moved data.",
            source=_PROFILING,
            good="Below 80 %; serving of language models lies high by nature.",
            do="High with low tensor activity: memory holds the work up; a profile with more memory slices is faster.",
        ),
        _NOT_MEASURED,
    )


def whole_gpus() -> TimeSeries:
    """Compute activity of the GPUs that the instances are parts of."""
    split = select(gpu.MIG_MODE, IN_CLUSTER, IN_NODE, IN_GPU).compare("==", 1)
    active = select(gpu.COMPUTE_ACTIVE, IN_CLUSTER, IN_NODE, IN_GPU).and_(split, on=gpu.GPU)
    return TimeSeries(
        key="whole_gpus",
        title="Compute activity of whole GPUs",
        explanation=Explanation(
            shows="Compute activity of each GPU in MIG mode: that of its instances, weighted by their slices of seven.",
            source=_PROFILING,
            good="It can only reach the share of slices that are in instances.",
            do="Low on a GPU whose slices are all held: its owners hold more than they use.",
        ),
        queries=(Query(expression=active, legend="{{node}} GPU {{gpu}}"),),
        unit=Unit.RATIO,
        width=12,
        low=0,
        high=1,
        links=(_ON_CLUSTER,),
        no_value=_NOT_MEASURED,
    )
