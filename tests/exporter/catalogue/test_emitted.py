"""The catalogue against what simulated machines publish."""

import pytest

from gpuscope.catalogue import SUBJECTS
from gpuscope.catalogue.metric import Level, MigBehaviour, Tier

MACHINES = ("h100x8", "h100-mig", "a100-mig", "l40s", "gb200")


@pytest.mark.parametrize("scenario", MACHINES)
def test_every_published_label_value_is_one_that_the_catalogue_knows(machine, scenario: str) -> None:
    node = machine(scenario, collectors=frozenset(SUBJECTS))
    node.cycle()
    node.cycle(10)
    unknown = {
        (sample.metric.name, label, value)
        for sample in node.samples()
        for label, value in zip(sample.metric.labels, sample.labels, strict=True)
        if value not in sample.metric.closed_labels.get(label, (value,))
    }
    assert unknown == set()


def test_what_mig_mode_blocks_is_absent_on_the_gpu_and_there_on_its_neighbors(machine) -> None:
    node = machine("h100-mig", collectors=frozenset(SUBJECTS))
    node.cycle()
    node.cycle(10)
    in_mig_mode = {labels[0] for labels, on in node.series("gpuscope_gpu_mig_mode_enabled").items() if on}
    assert 0 < len(in_mig_mode) < 8
    blocked = [sample for sample in node.samples() if sample.metric.mig is MigBehaviour.BLOCKED]
    assert {sample.labels[0] for sample in blocked} == {str(gpu) for gpu in range(8)} - in_mig_mode


def test_what_is_told_of_the_whole_gpu_stays_when_mig_is_on(machine) -> None:
    node = machine("h100-mig", collectors=frozenset(SUBJECTS))
    node.cycle()
    node.cycle(10)
    in_mig_mode = {labels[0] for labels, on in node.series("gpuscope_gpu_mig_mode_enabled").items() if on}
    whole = [sample for sample in node.samples() if sample.metric.mig is MigBehaviour.PARENT]
    off = {sample.metric.name for sample in whole if sample.labels[0] not in in_mig_mode}
    on = {sample.metric.name for sample in whole if sample.labels[0] in in_mig_mode}
    assert off - on == set()
    assert on - off == {"gpuscope_gpu_mig_utilization_supported"}


@pytest.mark.parametrize("scenario", ["h100-mig", "a100-mig"])
def test_only_gpus_in_mig_mode_have_series_of_instances(machine, scenario: str) -> None:
    node = machine(scenario, collectors=frozenset(SUBJECTS))
    node.cycle()
    node.cycle(10)
    in_mig_mode = {labels[0] for labels, on in node.series("gpuscope_gpu_mig_mode_enabled").items() if on}
    instances = [sample for sample in node.samples() if sample.metric.level is Level.MIG]
    assert {sample.labels[0] for sample in instances} == in_mig_mode


def test_no_gpu_reading_is_of_the_tier_of_the_agent_itself(machine) -> None:
    node = machine("h100-mig")
    node.cycle()
    assert [sample.metric.name for sample in node.samples() if sample.metric.tier is Tier.SELF] == []
