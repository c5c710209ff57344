"""Nodes, in the JSON of ``sinfo --json`` (21.08, 22.05) and ``scontrol --json show nodes``, and in scontrol's text."""

import re
from collections.abc import Mapping

from gpuscope.workloads.slurm.problems import Problems
from gpuscope.workloads.slurm.row import NodeRow
from gpuscope.workloads.slurm.tres import gpus_in_gres, gpus_in_tres, names_gpus
from gpuscope.workloads.slurm.value import moment, text, words

__all__ = ["nodes_of_json", "nodes_of_text"]

_MARKS = {
    "*": "NOT_RESPONDING", "~": "POWERED_DOWN", "#": "POWERING_UP", "%": "POWERING_DOWN", "!": "POWER_DOWN",
    "$": "MAINTENANCE", "@": "REBOOT_REQUESTED", "^": "REBOOT_ISSUED", "-": "PLANNED",
}  # fmt: skip
_REASON = re.compile(r"(?P<reason>.*?)\s*\[(?P<by>[^\[\]@]*)@(?P<at>[^\[\]@]+)]", re.DOTALL)
_PAIR = re.compile(r"(?:^|\s)([A-Za-z]+)=(\S*)")


def nodes_of_json(records: object, problems: Problems) -> list[NodeRow]:
    """Rows of the list ``nodes``; what is no node is counted as ``malformed_node``."""
    rows: list[NodeRow] = []
    for record in records if isinstance(records, list) else []:
        name = text(record.get("name")) if isinstance(record, Mapping) else ""
        states = _without_marks(words(record.get("state")) + words(record.get("state_flags"))) if name else ()
        if not states:
            problems.add("malformed_node", str(record))
            continue
        partitions = record.get("partitions")
        rows.append(
            NodeRow(
                name=name,
                states=states,
                reason=text(record.get("reason")),
                reason_by=text(record.get("reason_set_by_user")),
                reason_at=moment(record.get("reason_changed_at")),
                gpus=_gpus(record.get("gres"), record.get("tres")),
                gpus_used=_gpus(record.get("gres_used"), record.get("tres_used")),
                partitions=tuple(one for one in partitions if isinstance(one, str))
                if isinstance(partitions, list)
                else (),
            )
        )
    return rows


def nodes_of_text(output: str, problems: Problems) -> list[NodeRow]:
    """Rows of ``scontrol --details show node``: blocks of lines ``Key=value Key=value``, parted by empty lines."""
    rows: list[NodeRow] = []
    for block in re.split(r"\n\s*\n(?=NodeName=)", output):
        if not block.strip() or block.lstrip().startswith("No nodes in the system"):
            continue
        fields: dict[str, str] = {}
        reason = ""
        for line in block.splitlines():
            key, _, value = line.strip().partition("=")
            if key == "Reason":
                reason = value
            elif key not in {"OS", "Comment", "Extra"}:
                fields |= _PAIR.findall(line)
        name, states = text(fields.get("NodeName")), _without_marks(words(fields.get("State")))
        if not name or not states:
            problems.add("malformed_node", block)
            continue
        match = _REASON.fullmatch(reason)
        rows.append(
            NodeRow(
                name=name,
                states=states,
                reason=text(match["reason"] if match else reason),
                reason_by=text(match["by"]) if match else "",
                reason_at=moment(match["at"]) if match else None,
                gpus=_gpus(fields.get("Gres"), fields.get("CfgTRES")),
                gpus_used=_gpus(fields.get("GresUsed"), fields.get("AllocTRES")),
                partitions=tuple(one for one in text(fields.get("Partitions")).split(",") if one),
            )
        )
    return rows


def _gpus(gres: object, tres: object) -> int | None:
    """What the GRES say: where they are told and name no GPU, there is none. Else the TRES, if they name GPUs."""
    if isinstance(gres, str):
        found = gpus_in_gres(text(gres))
        if found is not None or names_gpus(text(gres)):
            return found
        counted = gpus_in_tres(text(tres))
        return 0 if counted is None and not names_gpus(text(tres)) else counted
    return gpus_in_tres(text(tres))


def _without_marks(states: tuple[str, ...]) -> tuple[str, ...]:
    """``IDLE*`` is ``IDLE`` and ``NOT_RESPONDING``."""
    found: list[str] = []
    for state in states:
        bare = state.rstrip("".join(_MARKS))
        found += [bare, *(_MARKS[mark] for mark in state[len(bare) :])]
    return tuple(dict.fromkeys(one for one in found if one))
