"""Links from a cell, a line or a board to another board, which carry what was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

__all__ = ["Link", "Noun", "WebLink", "cell", "line"]


class Noun(StrEnum):
    """The boards; ``uid`` is what links name, and stays for ever."""

    TASK = "task"
    TRAINING = "training"
    INFERENCE = "inference"
    CLUSTER = "cluster"
    FILESYSTEM = "filesystem"
    PARTITION = "partition"

    @property
    def uid(self) -> str:
        """Fixed id of the board in Grafana."""
        return f"gpuscope-{self.value}"


@dataclass(frozen=True, slots=True)
class Link:
    """A link to one of our boards.

    Attributes:
        title: what the menu shows, such as ``Node ${__value.text} on the cluster board``.
        board: where to.
        carry: variable of the target → where its value comes from: ``cell("node")`` in a table, ``line("node")`` on a
            graph, or plain text. Time range, data source and cluster are always carried; the cluster of the row or
            line where ``cluster`` is given here.
    """

    title: str
    board: Noun
    carry: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WebLink:
    """A link to a page that is no board, such as a runbook. ``url`` may hold variables of Grafana."""

    title: str
    url: str


def cell(label: str) -> str:
    """The value of a label in the same row of a table; the table puts its column's title in."""
    return f"\x00cell:{label}\x00"


def line(label: str) -> str:
    """The value of a label of a line, bar or stat."""
    return f"${{__field.labels.{label}:percentencode}}"
