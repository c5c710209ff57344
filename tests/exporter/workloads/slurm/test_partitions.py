"""Partitions: their states, in each form, and what is said where nobody tells them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuscope.workloads.observation import ObservedPartition, PartitionState
from gpuscope.workloads.slurm import SlurmSource

Slurm = Callable[[str], Path]
NOW = 1796035240.0
WORDS = [
    ("UP", PartitionState.UP),
    ("DOWN", PartitionState.DOWN),
    ("DRAIN", PartitionState.DRAIN),
    ("INACTIVE", PartitionState.INACTIVE),
    ("UNKNOWN", PartitionState.UNKNOWN),
]


def tell(folder: Path, *states: str) -> None:
    """Both forms: partitions p0, p1, …"""
    line = (folder / "partitions.txt").read_text()
    text = [
        line.replace("PartitionName=ml", f"PartitionName=p{number}").replace("State=UP", f"State={state}")
        for number, state in enumerate(states)
    ]
    (folder / "partitions.txt").write_text("".join(text))
    answer = json.loads((folder / "partitions.json").read_text())
    answer["partitions"] = [
        answer["partitions"][0] | {"name": f"p{number}", "partition": {"state": [state]}}
        for number, state in enumerate(states)
    ]
    (folder / "partitions.json").write_text(json.dumps(answer))


@pytest.mark.parametrize("use_json", [True, False])
@pytest.mark.parametrize(("word", "state"), WORDS)
def test_states(slurm: Slurm, word: str, state: PartitionState, use_json: bool) -> None:
    folder = slurm("24.11-nodedead")
    tell(folder, "UP", word)
    seen = SlurmSource(folder, use_json=use_json).observe(NOW)
    assert seen.partitions == [ObservedPartition("p0", PartitionState.UP), ObservedPartition("p1", state)]
    assert (seen.complete, dict(seen.problems)) == (True, {})


@pytest.mark.parametrize("recorded", ["21.08", "22.05-requeued", "22.05-nodedead", "23.11", "24.05", "26.05-after"])
def test_each_release_is_asked_in_the_form_that_it_knows(slurm: Slurm, recorded: str) -> None:
    folder = slurm(recorded)
    seen = SlurmSource(folder).observe(NOW)
    assert seen.partitions == [ObservedPartition("ml", PartitionState.UP)]
    in_text = recorded[:2] in ("21", "22")
    asked = "--oneliner show partition" if in_text else "--json show partitions"
    assert sum(asked in line for line in (folder / "calls").read_text().splitlines()) == 1


@pytest.mark.parametrize("use_json", [True, False])
def test_a_word_that_is_not_known_is_unknown_and_counted(slurm: Slurm, use_json: bool) -> None:
    folder = slurm("24.11-nodedead")
    tell(folder, "UP", "SLEEPY")
    seen = SlurmSource(folder, use_json=use_json).observe(NOW)
    assert seen.partitions[1].state is PartitionState.UNKNOWN
    assert (seen.complete, dict(seen.problems)) == (True, {"unknown_partition_state": 1})


def test_up_with_the_halves_of_up_is_up_and_two_other_words_are_unknown(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    tell(folder, "UP", "UP")
    answer = json.loads((folder / "partitions.json").read_text())
    answer["partitions"][0]["partition"]["state"] = ["DOWN", "DRAIN", "UP"]
    answer["partitions"][1]["partition"]["state"] = ["DOWN", "DRAIN"]
    (folder / "partitions.json").write_text(json.dumps(answer))
    seen = SlurmSource(folder).observe(NOW)
    assert [one.state for one in seen.partitions] == [PartitionState.UP, PartitionState.UNKNOWN]
    assert dict(seen.problems) == {"unknown_partition_state": 1}


def test_a_partition_that_is_malformed_costs_only_itself(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    tell(folder, "UP", "DRAIN")
    answer = json.loads((folder / "partitions.json").read_text())
    answer["partitions"] += [7, {"name": "x"}, {"name": "y", "partition": {"state": []}}, {"partition": {}}]
    (folder / "partitions.json").write_text(json.dumps(answer))
    with (folder / "partitions.txt").open("a") as file:
        file.write("\nrubbish\nPartitionName=x\n")
    in_json = SlurmSource(folder).observe(NOW)
    in_text = SlurmSource(folder, use_json=False).observe(NOW)
    assert len(in_json.partitions) == len(in_text.partitions) == 2
    assert (dict(in_json.problems), dict(in_text.problems)) == (
        {"malformed_partition": 4},
        {"malformed_partition": 2},
    )
    assert in_json.complete
    assert in_json.jobs


def test_partitions_that_cannot_be_read_are_unknown_and_make_no_job_uncertain(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    (folder / "partitions.txt").unlink()
    seen = SlurmSource(folder).observe(NOW)
    assert seen.partitions == [ObservedPartition("ml", PartitionState.UNKNOWN)]
    assert (seen.complete, dict(seen.problems)) == (True, {"partitions_error": 1})


def test_json_of_partitions_that_is_none_gives_way_to_text(slurm: Slurm) -> None:
    folder = slurm("24.11-nodedead")
    (folder / "partitions.json").write_text("not json")
    seen = SlurmSource(folder).observe(NOW)
    assert seen.partitions == [ObservedPartition("ml", PartitionState.UP)]
    assert dict(seen.problems) == {"json_unusable": 1}


def test_slurmctld_that_goes_away_in_between(slurm: Slurm) -> None:
    """As recorded from 24.11 and 26.05: an empty list that was never updated, and exit code 0."""
    folder = slurm("24.11-nodedead")
    (folder / "partitions.json").write_text('{"partitions": [], "last_update": {"number": 0}, "errors": []}')
    seen = SlurmSource(folder).observe(NOW)
    assert seen.partitions == [ObservedPartition("ml", PartitionState.UNKNOWN)]
    assert dict(seen.problems) == {"partitions_unreachable": 1}


def test_a_cluster_without_partitions(slurm: Slurm) -> None:
    folder = slurm("22.05-requeued")
    (folder / "partitions.txt").write_text("No partitions in the system\n")
    assert SlurmSource(folder).observe(NOW).partitions == []
