"""Partitions, in the JSON of ``scontrol --json show partitions`` (23.02 and later) and in scontrol's text."""

import re
from collections.abc import Iterable, Mapping

from gpuscope.workloads.observation import ObservedNode, ObservedPartition, PartitionState
from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.value import text, words

__all__ = ["partitions_of_json", "partitions_of_nodes", "partitions_of_text"]

_PAIR = re.compile(r"(?:^|\s)(PartitionName|State)=(\S*)")
_STATES = {state.value.upper(): state for state in PartitionState}


def partitions_of_json(records: object, problems: Problems) -> list[ObservedPartition]:
    """All of the list ``partitions``; what is no partition is counted as ``malformed_partition``."""
    found: list[ObservedPartition] = []
    for record in records if isinstance(records, list) else []:
        name = text(record.get("name")) if isinstance(record, Mapping) else ""
        inner = record.get("partition") if name else None
        states = words(inner.get("state")) if isinstance(inner, Mapping) else ()
        found += _partition(name, states, str(record), problems)
    return found


def partitions_of_text(output: str, problems: Problems) -> list[ObservedPartition]:
    """All of ``scontrol --oneliner show partition``: a line for each."""
    found: list[ObservedPartition] = []
    for line in output.splitlines():
        if line.strip() and not line.startswith("No partitions in the system"):
            fields = dict(_PAIR.findall(line))
            found += _partition(text(fields.get("PartitionName")), words(fields.get("State", "")), line, problems)
    return found


def partitions_of_nodes(nodes: Iterable[ObservedNode]) -> list[ObservedPartition]:
    """Partitions that nodes belong to, where nobody says what state they are in."""
    names = dict.fromkeys(name for node in nodes for name in node.partitions)
    return [ObservedPartition(name, PartitionState.UNKNOWN) for name in names]


def _partition(name: str, states: tuple[str, ...], record: str, problems: Problems) -> list[ObservedPartition]:
    if not name or not states:
        problems.add("malformed_partition", record)
        return []
    # To Slurm "up" is that jobs may come and that they may start, so that it may tell these halves beside it.
    state = PartitionState.UP if "UP" in states else _STATES.get(states[0]) if len(states) == 1 else None
    if state is None:
        problems.add("unknown_partition_state", "+".join(states))
    return [ObservedPartition(name, state or PartitionState.UNKNOWN)]
