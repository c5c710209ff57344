"""What the GPUs of the chosen workloads do: activity, memory, power, grouped as the reader wants."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu, mig, workload
from gpuscope_generator.panels.chosen import GROUP_LEGEND, by_group, of_pods, of_workloads, share_by_group
from gpuscope_generator.panels.temperature import in_words
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Gauge, Matcher, Vector, max_by, select, sum_by, sum_over_time
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Explanation,
    LineStyle,
    Link,
    Noun,
    Query,
    Stat,
    StateTimeline,
    StatusHistory,
    Thresholds,
    TimeSeries,
    Unit,
    ValueText,
    line,
    palette,
)

__all__ = [
    "activity_by_gpu",
    "compute_activity",
    "energy",
    "gpu_memory",
    "gpu_power",
    "memory_bandwidth",
    "occupancy",
    "sm_activity",
    "tensor_activity",
    "throttled",
]

_HELD_DOWN = 0.1
"""Share of five minutes from which on it is worth a bar, as of the counts on the cluster board."""
IN_GPU = Matcher("gpu", "=~", "$gpu")
_PROFILING = "the gpuscope agent, or dcgm-exporter with profiling metrics in its CSV file."
_ANY = "the gpuscope agent, dcgm-exporter or AMD's device-metrics-exporter; with MIG, of the instances by slices."
_ON_CLUSTER = Link(
    "GPU ${__field.labels.gpu} of ${__field.labels.node} on the cluster board",
    Noun.CLUSTER,
    {"cluster": line("cluster"), "node": line("node"), "gpu": line("gpu")},
)
_ON_PARTITION = Link(
    "MIG instances of ${__field.labels.node}",
    Noun.PARTITION,
    {"cluster": line("cluster"), "node": line("node"), "gpu": line("gpu")},
)


def _activity(key: str, title: str, series: Gauge, explanation: Explanation, no_value: str) -> TimeSeries:
    return TimeSeries(
        key=key,
        title=title,
        explanation=explanation,
        queries=(
            Query(
                expression=share_by_group(of_pods(series), of_pods(workload.POD_GPUS)),
                legend=GROUP_LEGEND,
            ),
        ),
        unit=Unit.RATIO,
        low=0,
        high=1,
        width=12,
        no_value=no_value,
    )


def compute_activity() -> TimeSeries:
    """Whether kernels run."""
    return _activity(
        "compute_activity",
        "Compute activity",
        workload.POD_COMPUTE_ACTIVE,
        Explanation(
            shows="Share of time in which at least one kernel ran, as the mean over the GPUs of a group. It says that "
            "a GPU is not idle, and not that it is used well.",
            source=_ANY,
            good="Above 90 % in training; in serving it follows the requests.",
            do="Low in training: look at the graphs of files and network below, and at CPU throttling. One group lower "
            "than the others: see the activity of each GPU.",
        ),
        "No activity is known: is an exporter of GPU metrics there, and who holds the GPUs?",
    )


def sm_activity() -> TimeSeries:
    """How much of the GPU kernels fill."""
    return _activity(
        "sm_activity",
        "SM activity",
        workload.POD_SM_ACTIVE,
        Explanation(
            shows="Share of streaming multiprocessors (SM, the cores of a GPU) that had work, over time.",
            source=_PROFILING,
            good="Above 80 % for large models; 40 to 70 % is usual.",
            do="Compute activity high and this low: kernels are small, or launches are slow. Batch more, or fuse.",
        ),
        "Not reported: dcgm-exporter needs DCGM_FI_PROF_SM_ACTIVE in its CSV file, our agent a Hopper GPU or newer",
    )


def occupancy() -> TimeSeries:
    """How full the multiprocessors are."""
    return _activity(
        "sm_occupancy",
        "SM occupancy",
        workload.POD_OCCUPANCY,
        Explanation(
            shows="Threads resident on the multiprocessors, of those that fit.",
            source=_PROFILING,
            good="There is no one good value: kernels with much memory per thread run well at 25 %.",
            do="Compare it between versions of the same job; a drop points at other kernels.",
        ),
        "Not reported: dcgm-exporter needs DCGM_FI_PROF_SM_OCCUPANCY in its CSV file, our agent a Hopper GPU or newer",
    )


def tensor_activity() -> TimeSeries:
    """Whether tensor cores work."""
    return _activity(
        "tensor_activity",
        "Tensor core activity",
        workload.POD_TENSOR_ACTIVE,
        Explanation(
            shows="Share of cycles in which tensor cores, the units for matrix products, worked.",
            source=_PROFILING,
            good="20 to 60 % in training of large models with half precision.",
            do="Near 0 with high SM activity: the job computes in full precision, or does something else than matrix "
            "products. Check mixed precision.",
        ),
        "Not reported: dcgm-exporter needs DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, our agent a Hopper GPU or newer",
    )


def memory_bandwidth() -> TimeSeries:
    """Whether the memory is the limit."""
    return _activity(
        "memory_bandwidth",
        "Memory bandwidth in use",
        workload.POD_DRAM_ACTIVE,
        Explanation(
            shows="Share of cycles in which the GPU's memory moved data. It is not the share of memory that is full.",
            source=_PROFILING,
            good="Below 70 % in training; decoding of language models is often near 80 %.",
            do="Above 80 %: the memory is the limit. Larger batches or quantized weights move less.",
        ),
        "Not reported: dcgm-exporter needs DCGM_FI_PROF_DRAM_ACTIVE, our agent a Hopper GPU or newer",
    )


def gpu_memory() -> TimeSeries:
    """Used memory against all of it."""
    return TimeSeries(
        key="gpu_memory",
        title="GPU memory",
        explanation=Explanation(
            shows="Memory in use on the GPUs of each group, and dashed what they have together, without what the "
            "driver reserves. Of a shared GPU each pod is shown an even part, which is an estimate.",
            source=_ANY,
            good="Steady, below the dashed line.",
            do="Rising all the time: a leak, or a growing cache; it ends with an out-of-memory error. Far below the "
            "line: a smaller GPU or a MIG profile would do.",
        ),
        queries=(
            Query(expression=by_group(of_pods(workload.POD_GPU_MEMORY_USED)), legend=GROUP_LEGEND),
            Query(expression=by_group(of_pods(workload.POD_GPU_MEMORY_TOTAL)), legend=f"total {GROUP_LEGEND}"),
        ),
        unit=Unit.BYTES,
        low=0,
        width=12,
        styles={"/^total /": LineStyle(dashed=True)},
    )


def gpu_power() -> TimeSeries:
    """Power by group."""
    return TimeSeries(
        key="gpu_power",
        title="GPU power",
        explanation=Explanation(
            shows="What the GPUs of each group draw. MIG instances are shown their share of the GPU's power by slices.",
            source=_ANY,
            good="GPUs of one job draw alike.",
            do="High compute activity with low power is often a hung collective operation: kernels spin and do "
            "nothing. Look at the job's progress.",
        ),
        queries=(Query(expression=by_group(of_pods(workload.POD_POWER)), legend=GROUP_LEGEND),),
        unit=Unit.WATTS,
        low=0,
        width=12,
    )


def energy(settings: Settings) -> Stat:
    """Energy of the time range."""
    hours = settings.intervals.aggregate / 3600
    found = sum_by(sum_over_time(of_workloads(workload.WORKLOAD_POWER)), "cluster") * hours
    return Stat(
        key="energy",
        title="GPU energy in this range",
        explanation=Explanation(
            shows="Energy that the GPUs of the chosen workloads used in the time range: their power, summed over time.",
            source=_ANY,
            good="It grows with the work that is done.",
            do="Compare two runs of the same job: more energy for the same steps is waste.",
        ),
        queries=(Query(expression=found, instant=True),),
        unit=Unit.WATT_HOURS,
        width=6,
    )


def _held(series: Gauge) -> Vector:
    """A reading of GPUs, of those that something chosen holds."""
    shares = of_pods(workload.POD_GPU_SHARE, IN_GPU)
    parts = of_pods(workload.POD_MIG_SHARE, IN_GPU)
    return select(series, IN_CLUSTER).and_(shares.or_(parts), on=gpu.GPU)


def activity_by_gpu(settings: Settings) -> StatusHistory:
    """Every GPU of the chosen workloads, a row each: stragglers stand out."""
    low = settings.thresholds.low_utilization_ratio
    instances = select(mig.COMPUTE_ACTIVE, IN_CLUSTER).and_(of_pods(workload.POD_MIG_SHARE, IN_GPU), on=mig.MIG)
    whole = select(gpu.COMPUTE_ACTIVE, IN_CLUSTER).and_(of_pods(workload.POD_GPU_SHARE, IN_GPU), on=gpu.GPU)
    return StatusHistory(
        key="activity_by_gpu",
        title="Compute activity of each GPU (stragglers)",
        explanation=Explanation(
            shows="A row for each GPU or MIG instance that the chosen workloads hold, a column for each time: the "
            "darker the color of work, the busier. In a synchronous job the slowest GPU sets the pace of all.",
            source=_ANY,
            good="All rows look alike.",
            do="One row differs: open that node on the cluster board and look for throttling, XID errors and PCIe "
            "replays. All rows wait at the same times: data loading or checkpoints.",
        ),
        queries=(
            Query(expression=max_by(whole, "cluster", "node", "gpu"), legend="{{node}} GPU {{gpu}}", min_step="1m"),
            Query(
                expression=max_by(instances, "cluster", "node", "gpu", "gi", "profile"),
                legend="{{node}} GPU {{gpu}} {{profile}} {{gi}}",
                min_step="1m",
            ),
        ),
        unit=Unit.RATIO,
        low=0,
        high=1,
        width=24,
        height=16,
        thresholds=Thresholds(
            base=palette.IDLE,
            steps=((settings.thresholds.idle_ratio, palette.WARN), (low, palette.NEUTRAL), (0.6, palette.INFO)),
        ),
        links=(_ON_CLUSTER, _ON_PARTITION),
    )


def throttled() -> StateTimeline:
    """When and why clocks were held down."""
    found = max_by(_held(gpu.THROTTLED), "cluster", "node", "gpu", "reason").compare(">", _HELD_DOWN)
    held_down = in_words(found * 0 + 1)
    return StateTimeline(
        key="throttled",
        title="GPUs whose clocks were held down",
        explanation=Explanation(
            shows="A bar for each GPU and reason that held its clocks down for more than a tenth of five minutes. "
            "Idleness and clocks that somebody set are not shown.",
            source="the gpuscope agent, or dcgm-exporter with violation counters or clock events in its CSV file.",
            good="Nothing, or a power cap at full load, which is as the GPU is built.",
            do="Heat: the cooling of that node. Power brake: its power supply. Tell those who run the "
            "cluster; they see it on the cluster board.",
        ),
        queries=(Query(expression=held_down, legend="{{node}} GPU {{gpu}} {{reason}}"),),
        width=24,
        texts={"1": ValueText("held down", palette.WARN)},
        no_value="No GPU was held down in this range, or no source tells reasons",
        links=(_ON_CLUSTER,),
    )
