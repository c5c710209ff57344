"""AMD's device-metrics-exporter: its percentages, MiB, MHz and microjoules, by GPU and by partition."""

from __future__ import annotations

from gpuscope_generator.external import amd
from gpuscope_generator.normalized import gpu, mig, source
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Matcher,
    Vector,
    avg_by,
    avg_over_time,
    clamp,
    first_of,
    group_by,
    join,
    label_replace,
    max_by,
    max_over_time,
    select,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.rules.sources.labels import first_label, labelled
from gpuscope_generator.rules.sources.ownership import not_of_exporter, owners
from gpuscope_generator.settings import Settings

__all__ = ["amd_rules"]

SOURCE = "amd"
_MIB = 2**20
_MAIN = Matcher("gpu_partition_id", "=~", "0|NA|")
"""The GPU as a whole, or its first partition, which tells of the GPU as a whole."""
_WHOLE = Matcher("gpu_compute_partition_type", "!~", "(?i)(cpx|qpx|tpx|dpx).*")
_PARTITIONS = Matcher("gpu_compute_partition_type", "=~", "(?i)(cpx|qpx|tpx|dpx).*")
_SYSTEM_CLOCK = Matcher("clock_type", "=~", "(?i)(gpu_clock_type_)?system")
_OWN_PODS = Matcher("pod", "!~", ".*(device-metrics-exporter|metrics-exporter).*|")
_BY_SERIAL = ("cluster", "node", "uuid")


def amd_rules(settings: Settings) -> RuleFile:
    """Rules that make normalized series of what the exporter publishes."""
    exporter = _Exporter(settings)
    rules = (*_levels(exporter), *_activity(exporter), *_owners(exporter), *_partitions(exporter))
    return RuleFile(
        path="recording/amd.yaml",
        comment="From AMD's device-metrics-exporter to normalized series of GPUs and of their partitions.",
        groups=(Group("gpuscope-normalize-amd", settings.intervals.normalize, rules),),
    )


class _Exporter:
    """The exporter's series, as rules read them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def raw(self, series: Gauge | Counter, *conditions: Matcher) -> Vector:
        """As it was scraped."""
        return of_source(series, self.settings, SOURCE, *conditions)

    def named(self, vector: Vector) -> Vector:
        """With our labels for cluster, node and GPU; the model in the words of its series, else by its number."""
        with_uuid = first_label(vector, "uuid", "serial_number")
        with_gpu = first_label(with_uuid, "gpu", "gpu_id")
        with_model = first_label(with_gpu, "model", "card_series", "card_model")
        return canonical(with_model, self.settings, node_from=("node", "hostname"))

    def of_gpu(self, *series: Gauge | Counter, conditions: tuple[Matcher, ...] = ()) -> Vector:
        """One series a GPU, of the first of these metrics that it has."""
        found = (max_by(self.named(self.raw(one, _MAIN, *conditions)), *gpu.GPU) for one in series)
        return first_of(*found)

    def presence(self, *conditions: Matcher) -> Vector:
        """Some sample of every GPU or partition, with all labels."""
        markers = (amd.VRAM_TOTAL, amd.GFX_ACTIVITY, *amd.POWERS[:2])
        return self.named(first_of(*(self.raw(series, *conditions) for series in markers)))

    def pods(self) -> Vector:
        """Samples of GPUs that a pod holds, with ``namespace`` and ``pod`` of that pod; never the exporter's own."""
        exported = self.presence(Matcher("exported_pod", "!=", ""))
        plain = self.presence(Matcher("exported_pod", "=", ""), _OWN_PODS)
        return first_of(
            first_label(first_label(exported, "pod", "exported_pod"), "namespace", "exported_namespace"),
            not_of_exporter(plain, self.settings),
        )

    def main_of(self, vector: Vector, *extra: str) -> Vector:
        """Values by partition as values of the GPU, whose number is that of its first partition."""
        numbers = max_by(self.presence(_MAIN), *gpu.GPU)
        return join(max_by(vector, *_BY_SERIAL, *extra), group_by(numbers, *gpu.GPU), on=_BY_SERIAL, take=("gpu",))


def _serials(exporter: _Exporter) -> Vector:
    known = exporter.presence(_MAIN, Matcher("serial_number", "!=", ""))
    return group_by(label_replace(known, "serial", "$1", "serial_number", "(.+)"), *gpu.GPU, "serial")


def _levels(exporter: _Exporter) -> tuple[Recording, ...]:
    seen = exporter.presence(_MAIN)
    unhealthy = exporter.of_gpu(amd.HEALTH).compare("==", 0, as_bool=True)
    power = exporter.of_gpu(*amd.POWERS)
    return (
        recording(gpu.INFO, group_by(seen, *gpu.GPU, "model"), vendor="amd"),
        recording(gpu.SERIAL, _serials(exporter)),
        recording(gpu.UP, group_by(seen, *gpu.GPU)),
        recording(gpu.FAULT, unhealthy, fault="health_check"),
        recording(gpu.POWER, power),
        recording(gpu.ENERGY, exporter.of_gpu(amd.ENERGY) / 1_000_000),
        recording(gpu.TEMPERATURE, exporter.of_gpu(amd.JUNCTION_TEMPERATURE, amd.EDGE_TEMPERATURE)),
        recording(gpu.MEMORY_TEMPERATURE, exporter.of_gpu(amd.MEMORY_TEMPERATURE)),
        recording(gpu.CLOCK, exporter.of_gpu(amd.CLOCK, conditions=(_SYSTEM_CLOCK,)) * 1_000_000),
        recording(gpu.MEMORY_USED, exporter.of_gpu(amd.VRAM_USED, conditions=(_WHOLE,)) * _MIB),
        recording(gpu.MEMORY_TOTAL, exporter.of_gpu(amd.VRAM_TOTAL, conditions=(_WHOLE,)) * _MIB),
        recording(gpu.ECC_ERRORS, exporter.of_gpu(amd.ERRORS_CORRECTED), severity="corrected"),
        recording(gpu.ECC_ERRORS, exporter.of_gpu(amd.ERRORS_UNCORRECTED), severity="uncorrected"),
        recording(gpu.PCIE_REPLAYS, exporter.of_gpu(amd.PCIE_REPLAYS)),
        recording(gpu.THROTTLED, _throttled(exporter)),
    )


def _throttled(exporter: _Exporter) -> Vector:
    found = []
    for reason, causes in amd.VIOLATIONS.items():
        for series in causes:
            share = avg_over_time(of_source(series, exporter.settings, SOURCE, _MAIN), "5m") / 100
            found.append(labelled(exporter.named(share), reason=reason, cause=series.name))
    return clamp(max_by(first_of(*found), *gpu.GPU, "reason"), high=1)


def _activity(exporter: _Exporter) -> tuple[Recording, ...]:
    by_core = max_by(exporter.named(exporter.raw(amd.GFX_BUSY)), *_BY_SERIAL, "gpu", "xcc_index")
    cores = exporter.main_of(avg_by(by_core, *_BY_SERIAL))
    busy = max_by(cores, *gpu.GPU) / 100
    whole = exporter.of_gpu(amd.GFX_ACTIVITY, conditions=(_WHOLE,)) / 100
    compute = first_of(busy, whole)
    return (
        recording(gpu.COMPUTE_ACTIVE, compute),
        recording(gpu.COMPUTE_SOURCE, group_by(compute, *gpu.GPU), source=SOURCE, method="engine"),
        recording(gpu.SM_ACTIVE, exporter.of_gpu(amd.SM_ACTIVE, conditions=(_WHOLE,)) / 100),
        recording(gpu.OCCUPANCY, exporter.of_gpu(amd.OCCUPANCY, conditions=(_WHOLE,)) / 100),
        recording(gpu.TENSOR_ACTIVE, exporter.of_gpu(amd.TENSOR_ACTIVE, conditions=(_WHOLE,)) / 100),
        recording(gpu.DRAM_ACTIVE, exporter.of_gpu(amd.MEMORY_ACTIVITY) / 100),
    )


def _owners(exporter: _Exporter) -> tuple[Recording, ...]:
    settings = exporter.settings
    pods = exporter.main_of(exporter.pods(), "namespace", "pod")
    with_job = exporter.presence(Matcher("job_id", "!=", ""))
    jobs = exporter.main_of(with_job, "job_id")
    partitions = max_by(exporter.presence(), *_BY_SERIAL, "gpu", "gpu_partition_id")
    held = exporter.main_of(avg_by(_has_owner(exporter, partitions), *_BY_SERIAL))
    attributed = group_by(exporter.pods(), "cluster").or_(group_by(with_job, "cluster"))
    known = max_over_time(select(source.ATTRIBUTES, source=SOURCE), "1h")
    return (
        recording(gpu.OWNER, owners(pods, jobs, settings, gpu.GPU)),
        recording(source.ATTRIBUTES, group_by(attributed, "cluster"), source=SOURCE),
        recording(gpu.ALLOCATED, max_by(held, *gpu.GPU).and_(known, on=("cluster",))),
    )


def _has_owner(exporter: _Exporter, partitions: Vector) -> Vector:
    """1 for partitions that somebody holds, 0 for the others."""
    by = (*_BY_SERIAL, "gpu")
    owned = exporter.pods().or_(exporter.presence(Matcher("job_id", "!=", "")))
    held = (partitions * 0 + 1).and_(max_by(owned, *by), on=by)
    return held.or_(partitions * 0)


def _partitions(exporter: _Exporter) -> tuple[Recording, ...]:
    """Partitions stand where MIG instances do: ``gi`` is their number, ``profile`` how the GPU is split."""

    def placed(vector: Vector, *extra: str) -> Vector:
        with_number = first_label(vector, "gi", "gpu_partition_id")
        with_profile = first_label(with_number, "profile", "gpu_compute_partition_type")
        return exporter.main_of(with_profile, "gi", "profile", *extra)

    def of_each(series: Gauge) -> Vector:
        return placed(exporter.named(exporter.raw(series, _PARTITIONS)))

    cores = first_label(exporter.named(exporter.raw(amd.GFX_BUSY, _PARTITIONS)), "gi", "gpu_partition_id")
    mean = avg_by(first_label(cores, "profile", "gpu_compute_partition_type"), *_BY_SERIAL, "gi", "profile")
    info = placed(labelled(exporter.presence(_PARTITIONS), mig_uuid=""), "mig_uuid", "model")
    return (
        recording(mig.INFO, group_by(info, *mig.MIG, "mig_uuid", "model")),
        recording(mig.COMPUTE_ACTIVE, max_by(exporter.main_of(mean, "gi", "profile"), *mig.MIG) / 100),
        recording(mig.MEMORY_USED, of_each(amd.VRAM_USED) * _MIB),
        recording(mig.MEMORY_TOTAL, of_each(amd.VRAM_TOTAL) * _MIB),
    )
