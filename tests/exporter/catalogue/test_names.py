"""Names, units, labels and texts: what promtool does not see, and what users rely on."""

import importlib
import re

import pytest

from gpuscope.catalogue import ALWAYS_ON, DEFAULT_OFF, METRICS, SUBJECTS, by_name
from gpuscope.catalogue.metric import Kind, Level, Metric, MigBehaviour, Sample, Tier, Unit
from gpuscope.sampling.exposition import Exposition, render_blocks

UNIT_WORDS = {unit.value for unit in Unit if unit}
FOREIGN_UNITS = ("percent", "milliwatts", "mib", "kib", "mb", "kb", "mhz", "ms", "milliseconds", "microseconds", "ns")
RESERVED_BY_PROMETHEUS = {"instance", "job", "le", "quantile"}
LABELS = {
    # identity
    "gpu", "uuid", "mig_uuid", "gi", "ci", "profile", "mig_index", "pci_bus_id", "xid", "sxid",
    # facts on info series
    "model", "arch", "minor", "serial", "vbios", "compute_capability", "numa_node", "board_part", "module_id",
    "cluster_uuid", "clique_id", "version", "revision", "python", "nvidia_ml_py", "driver_version", "cuda_version",
    "nvml_version", "kernel_module",
    # what a series of the family stands for
    "action", "availability", "bin", "cause", "clock", "condition", "direction", "engine", "fan", "health", "kind",
    "limit", "link", "location", "mode", "number", "pipe", "reason", "sensor", "severity", "state", "threshold", "type",
    "unit",
    # of who holds what
    "container", "job_id", "namespace", "pod", "pod_uid", "replica", "resource", "user",
    # of file systems
    "event", "filesystem", "mountpoint", "operation", "options", "pages", "param", "source", "target",
    # of the agent
    "call", "code", "collector", "metric", "tier",
}  # fmt: skip

every_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def base(metric: Metric) -> str:
    return metric.name.removesuffix("_total").removesuffix("_info")


def test_names_are_unique_and_found() -> None:
    names = [metric.name for metric in METRICS]
    assert sorted(set(names)) == sorted(names)
    assert [by_name(name).name for name in names] == names
    with pytest.raises(KeyError):
        by_name("gpuscope_gpu_nothing")


def test_no_name_is_another_with_a_suffix_of_its_type() -> None:
    """``x`` beside ``x_total`` is one family twice in OpenMetrics."""
    names = {metric.name for metric in METRICS}
    assert [name for name in names if name.removesuffix("_total").removesuffix("_info") in names - {name}] == []


@every_metric
def test_name_is_well_formed_and_says_the_level(metric: Metric) -> None:
    assert re.fullmatch(r"gpuscope(_[a-z0-9]+)+", metric.name)
    prefix = {Level.GPU: "gpuscope_gpu_", Level.MIG: "gpuscope_mig_"}.get(metric.level)
    if prefix:
        assert metric.name.startswith(prefix)
    else:
        assert not metric.name.startswith(("gpuscope_gpu_", "gpuscope_mig_"))


@every_metric
def test_suffix_says_the_type(metric: Metric) -> None:
    assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
    assert metric.name.endswith("_info") == (metric.kind is Kind.INFO)
    # These mean something else to Prometheus.
    assert not metric.name.endswith(("_count", "_sum", "_bucket", "_created", "_gcount", "_gsum"))


@every_metric
def test_name_ends_in_its_unit_and_in_no_other(metric: Metric) -> None:
    if metric.unit:
        assert base(metric).endswith(f"_{metric.unit}")
    else:
        assert not base(metric).endswith(tuple(f"_{word}" for word in UNIT_WORDS))
    assert not set(base(metric).split("_")) & set(FOREIGN_UNITS)


@every_metric
def test_labels_are_of_the_vocabulary(metric: Metric) -> None:
    assert set(metric.labels) <= LABELS
    assert len(set(metric.labels)) == len(metric.labels)
    # A scrape would rename them to exported_instance and exported_job.
    assert not set(metric.labels) & RESERVED_BY_PROMETHEUS
    assert metric.kind is Kind.INFO or "model" not in metric.labels


@every_metric
def test_label_values_are_words_of_which_none_repeats(metric: Metric) -> None:
    assert len(metric.values) in {0, len(metric.extra)}
    for label, values in metric.closed_labels.items():
        assert label in metric.extra
        assert len(set(values)) == len(values) >= 2
        assert all(re.fullmatch(r"[a-z0-9_]+", value) for value in values)


@every_metric
def test_help_is_a_sentence_that_adds_to_the_name(metric: Metric) -> None:
    assert re.fullmatch(r"[A-Z0-9].*\.", metric.help)
    assert "\n" not in metric.help
    assert "  " not in metric.help
    assert len(metric.help) <= 200
    words = set(re.findall(r"[a-z]+", metric.help.lower()))
    assert len(words - set(metric.name.split("_")) - {"the", "a", "of", "in", "and", "by"}) >= 2


@every_metric
def test_note_is_of_sentences(metric: Metric) -> None:
    assert metric.note == "" or (metric.note.endswith(".") and metric.note == metric.note.strip())


@every_metric
def test_bounds_leave_room_for_real_values_only(metric: Metric) -> None:
    assert metric.low < metric.high
    if metric.kind is not Kind.GAUGE:
        assert (metric.low, metric.high) == (0.0, float("inf"))
    elif metric.unit is Unit.RATIO:
        assert metric.low == 0
        assert metric.high == (2 if "fan" in metric.name else 1)
    elif metric.unit is Unit.CELSIUS:
        assert metric.low == (-150 if "headroom" in metric.name else -50)
        assert metric.high == 150
    elif metric.unit is Unit.WATTS:
        assert (metric.low, metric.high) == (0, 6000 if "module" in metric.name else 3000)
    elif metric.unit is Unit.BYTES:
        # A file system has no largest size; what a GPU has fits into terabytes.
        assert (metric.low, metric.high) == (
            0,
            float("inf") if metric.name.startswith("gpuscope_filesystem_") else 4 * 2**40,
        )
    elif metric.unit is Unit.HERTZ:
        assert 5e9 <= metric.high <= 20e9
    elif metric.level is not Level.NODE and metric.unit is not Unit.SECONDS:
        assert metric.high < float("inf"), "a reading of hardware has a largest possible value"


BLANKS = (2147483632, 9223372036854775794, 1.40737488355328e14, 0xFFFFFFFF)
"""What NVML and DCGM give in place of a value that they do not have."""


@every_metric
def test_no_gauge_of_hardware_lets_a_blank_value_through(metric: Metric) -> None:
    wide = {Unit.SECONDS, Unit.BYTES, Unit.HERTZ, Unit.BYTES_PER_SECOND}
    if metric.kind is Kind.GAUGE and metric.level is not Level.NODE and metric.unit not in wide:
        assert [blank for blank in BLANKS if metric.low <= blank <= metric.high] == []


@every_metric
def test_source_is_named(metric: Metric) -> None:
    assert metric.source


@every_metric
def test_states_are_given_for_state_sets_only(metric: Metric) -> None:
    assert bool(metric.states) == (metric.kind is Kind.STATE_SET)
    assert metric.kind is not Kind.STATE_SET or metric.extra


@every_metric
def test_mig_behaviour_fits_the_level(metric: Metric) -> None:
    if metric.level is Level.MIG:
        assert metric.mig is MigBehaviour.INSTANCE
    elif metric.level is Level.NODE:
        assert metric.mig is MigBehaviour.NOT_APPLICABLE
    else:
        assert metric.mig is not MigBehaviour.INSTANCE
    assert (metric.tier is Tier.SELF) <= (metric.level is Level.NODE or metric.name == "gpuscope_gpu_worker_stuck")


@pytest.mark.parametrize("metric", [one for one in METRICS if one.level is Level.MIG], ids=lambda metric: metric.name)
def test_twins_of_gpu_and_mig_instance_agree(metric: Metric) -> None:
    twins = [one for one in METRICS if one.name == metric.name.replace("gpuscope_mig_", "gpuscope_gpu_")]
    if metric.name == "gpuscope_mig_info":
        return
    for twin in twins:
        assert (twin.kind, twin.unit, twin.extra, twin.tier) == (metric.kind, metric.unit, metric.extra, metric.tier)
        assert (twin.low, twin.high, twin.dcgm_pairs) == (metric.low, metric.high, metric.dcgm_pairs)


def test_every_ratio_of_activity_has_its_seconds() -> None:
    names = {metric.name for metric in METRICS}
    ratios = [name for name in names if name.endswith("_active_ratio") and "engine" not in name]
    assert len(ratios) == 10
    assert [name for name in ratios if name.replace("_ratio", "_seconds_total") not in names] == []


@pytest.mark.parametrize("subject", SUBJECTS)
def test_module_of_a_subject_exports_what_it_declares(subject: str) -> None:
    module = importlib.import_module(f"gpuscope.catalogue.{subject}")
    declared = {name: value for name, value in vars(module).items() if isinstance(value, Metric)}
    assert set(module.__all__) == {*declared, "METRICS"}
    assert set(module.METRICS) == set(declared.values())
    assert SUBJECTS[subject] == module.METRICS
    assert all(name == name.upper() for name in declared)


def test_a_subject_is_on_or_off_as_a_whole() -> None:
    assert set(SUBJECTS) >= DEFAULT_OFF | ALWAYS_ON
    assert not DEFAULT_OFF & ALWAYS_ON
    for subject, metrics in SUBJECTS.items():
        assert {metric.default for metric in metrics} == {subject not in DEFAULT_OFF}


def test_promtool_has_nothing_to_say_about_any_metric(promtool) -> None:
    values = {"gpu": "0", "uuid": "GPU-1", "mig_uuid": "MIG-1", "gi": "2", "profile": "3g.40gb"}
    samples = [Sample(metric, tuple(values.get(label, "some") for label in metric.labels), 1.0) for metric in METRICS]
    assert promtool(Exposition([render_blocks(samples)], METRICS).body().decode()) == ""
