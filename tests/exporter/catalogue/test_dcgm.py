"""DCGM and nvidia-smi twins, held against the names that NVIDIA gave them."""

import csv
import re
from collections import defaultdict
from pathlib import Path

import pytest

from gpuscope.catalogue import METRICS
from gpuscope.catalogue.metric import Kind, Level, Metric, Tier, Unit

# Field ids and names as in dcgm_fields.h of DCGM 4.5.3 and 4.6.0; a field that 4.6 brought has no older name.
with (Path(__file__).parent / "dcgm_fields.csv").open(encoding="utf-8") as file:
    FIELDS = {(row["until_4_5"], row["since_4_6"]): int(row["id"]) for row in csv.DictReader(file)}

twinned = pytest.mark.parametrize("metric", [one for one in METRICS if one.dcgm_pairs], ids=lambda metric: metric.name)


@twinned
def test_dcgm_names_are_those_of_one_field(metric: Metric) -> None:
    assert [pair for pair in metric.dcgm_pairs if pair not in FIELDS] == []


def test_no_field_of_the_table_is_unused() -> None:
    assert set(FIELDS) == {pair for metric in METRICS for pair in metric.dcgm_pairs}


@twinned
def test_dcgm_names_have_no_prefix_and_no_repetition(metric: Metric) -> None:
    names = [*metric.dcgm, *metric.dcgm46]
    assert all(re.fullmatch(r"(DEV|PROF|SYSTEM|CUDA|DRIVER|NVML)_[A-Z0-9_]+", name) for name in names)
    assert len(set(metric.dcgm_pairs)) == len(metric.dcgm_pairs)
    assert metric.dcgm46 != metric.dcgm, "names that did not change are not given twice"


@twinned
def test_matchers_pick_series_that_exist(metric: Metric) -> None:
    assert len(metric.dcgm_labels) in {0, len(metric.dcgm_pairs)}
    for matchers in metric.dcgm_labels:
        for label, value in re.findall(r'(\w+)="([^"]*)"', matchers):
            assert label in metric.extra
            assert value in metric.closed_labels.get(label, (value,))
        assert re.fullmatch(r'(\w+="[^"]*"(,(?=\w))?)*', matchers)


@twinned
def test_a_field_that_stands_for_one_series_of_many_says_which(metric: Metric) -> None:
    """Else nobody can tell GPU_TEMP from MEMORY_TEMP; facts, codes and masks are decoded instead."""
    # Fans and links have a number with DCGM, too; what has a word with us has a field of its own there.
    one_of_many = metric.kind in {Kind.GAUGE, Kind.COUNTER} and metric.closed_labels
    decoded = metric.dcgm_note.startswith(("decode", "bit test"))
    assert bool(metric.dcgm_labels) == bool(one_of_many and not decoded)


@twinned
def test_conversion_leads_to_the_base_unit(metric: Metric) -> None:
    names = " ".join(metric.dcgm or metric.dcgm46)
    note = metric.dcgm_note
    if metric.unit is Unit.BYTES and ("_FB_" in names or "BAR1" in names):
        assert note == "x1048576"
    elif metric.unit is Unit.HERTZ:
        assert note == "x1000000"
    elif metric.unit is Unit.JOULES:
        assert note == "/1000"
    elif metric.unit is Unit.RATIO and "PROF_" not in names and "BER" not in names:
        assert note == "/100", "DCGM gives percent outside its profiling fields"
    elif "_NS" in names:
        assert note == "/1e9"
    elif metric.kind is Kind.INFO:
        assert note == "label"
    elif metric.kind is Kind.COUNTER and re.search(r"PROF_\w+_BYTES( |$)", names):
        assert "rate" in note, "the profiling byte fields are rates"


def test_a_field_that_two_of_our_metrics_carry_is_explained() -> None:
    owners: dict[tuple[str, str], set[Metric]] = defaultdict(set)
    for metric in METRICS:
        for pair in metric.dcgm_pairs:
            owners[pair].add(metric)
    for pair, metrics in owners.items():
        # DCGM tells a MIG instance by a label and we by the name: that is the one good reason without a word.
        levels = [metric.level for metric in metrics]
        assert len(set(levels)) == len(levels) or all(metric.dcgm_note for metric in metrics), pair
        assert len(metrics) == 1 or Level.NODE not in levels


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("gpuscope_gpu_power_watts", 155),
        ("gpuscope_gpu_energy_joules_total", 156),
        ("gpuscope_gpu_temperature_headroom_celsius", 153),
        ("gpuscope_gpu_utilization_ratio", 203),
        ("gpuscope_gpu_sm_occupancy_ratio", 1003),
        ("gpuscope_mig_dram_active_ratio", 1005),
        ("gpuscope_gpu_recovery_action", 1523),
        ("gpuscope_gpu_memory_unrepairable", 1507),
        ("gpuscope_gpu_ecc_sram_threshold_exceeded", 346),
        ("gpuscope_gpu_vgpu_license_licensed", 526),
    ],
)
def test_well_known_fields_are_those_with_their_id(name: str, field: int) -> None:
    metric = next(one for one in METRICS if one.name == name)
    assert [FIELDS[pair] for pair in metric.dcgm_pairs] == [field]


@pytest.mark.parametrize("metric", [one for one in METRICS if one.smi], ids=lambda metric: metric.name)
def test_nvidia_smi_fields_are_well_formed(metric: Metric) -> None:
    fields = metric.smi.split(", ")
    assert all(re.fullmatch(r"[a-z0-9_]+(\.[a-zA-Z0-9_]+)*", field) for field in fields)
    assert len(set(fields)) == len(fields)
    assert metric.level is not Level.MIG, "nvidia-smi --query-gpu knows no MIG instances"
    assert metric.tier is not Tier.SELF


def test_no_nvidia_smi_field_leads_to_two_metrics() -> None:
    fields = [field for metric in METRICS for field in metric.smi.split(", ") if field]
    assert sorted(fields) == sorted(set(fields))
