"""What agents told of their nodes: faults with their times, and how long each node was watched.

Only the last hour is kept; the window that may explain an end is shorter.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gpuscope.workloads.attribution_window import NodeEvent

__all__ = ["KEEP_S", "FaultView", "NodeFaults"]

KEEP_S = 3600.0
"""So long a fault is remembered after its time."""


class FaultView(Protocol):
    """What judging the end of an attempt needs of the agents."""

    @property
    def read_at(self) -> float:
        """Unix time at which the last round of reading all agents began; 0 before the first has ended."""

    def xids(self, nodes: Iterable[str]) -> Sequence[NodeEvent[int]]:
        """XIDs of these nodes, under the names that were asked for."""

    def signals(self, nodes: Iterable[str]) -> Sequence[NodeEvent[str]]:
        """Other findings of these nodes."""

    def watched(self, nodes: Sequence[str], at: float) -> bool:
        """Whether agents watched all of these nodes at that unix time or later; false for no node."""


@dataclass(slots=True)
class _Node:
    xids: set[NodeEvent[int]] = field(default_factory=set)
    signals: set[NodeEvent[str]] = field(default_factory=set)
    watched_until: float = 0.0


class NodeFaults:
    """The memory; any thread may use it.

    A scheduler may know a node by its short name and the agent by its full one: where that is unambiguous the two are
    one node.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nodes: dict[str, _Node] = {}
        self._short: dict[str, set[str]] = {}
        self._read_at = 0.0

    @property
    def read_at(self) -> float:
        """Unix time at which the last round of reading all agents began; 0 before the first has ended."""
        return self._read_at

    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes of which something is known."""
        with self._lock:
            return tuple(sorted(self._nodes))

    def ended_round(self, began: float) -> None:
        """All agents that answer were read; forgets what is old."""
        with self._lock:
            self._read_at = began
            for node in self._nodes.values():
                node.xids = {event for event in node.xids if began - event.at <= KEEP_S}
                node.signals = {event for event in node.signals if began - event.at <= KEEP_S}
            for name in [name for name, node in self._nodes.items() if began - node.watched_until > KEEP_S]:
                if not self._nodes[name].xids and not self._nodes[name].signals:
                    del self._nodes[name]
                    self._short[_short(name)].discard(name)

    def note(
        self,
        node: str,
        xids: Iterable[NodeEvent[int]],
        signals: Iterable[NodeEvent[str]],
        watched_until: float | None,
    ) -> None:
        """Remembers one answer.

        Args:
            node: name of the node.
            xids: its XIDs; those already known change nothing.
            signals: its other findings.
            watched_until: unix time of the answer; ``None`` where the agent answers and does not see its GPUs.
        """
        with self._lock:
            known = self._nodes.setdefault(node, _Node())
            self._short.setdefault(_short(node), set()).add(node)
            known.xids.update(xids)
            known.signals.update(signals)
            if watched_until is not None:
                known.watched_until = max(known.watched_until, watched_until)

    def xids(self, nodes: Iterable[str]) -> Sequence[NodeEvent[int]]:
        """XIDs of these nodes, under the names that were asked for."""
        with self._lock:
            return [
                NodeEvent(name, event.what, event.at, event.uuid)
                for name in nodes
                if (node := self._find(name)) is not None
                for event in node.xids
            ]

    def signals(self, nodes: Iterable[str]) -> Sequence[NodeEvent[str]]:
        """Other findings of these nodes, under the names that were asked for."""
        with self._lock:
            return [
                NodeEvent(name, event.what, event.at, event.uuid)
                for name in nodes
                if (node := self._find(name)) is not None
                for event in node.signals
            ]

    def watched(self, nodes: Sequence[str], at: float) -> bool:
        """Whether agents watched all of these nodes at that unix time or later; false for no node."""
        with self._lock:
            found = [self._find(name) for name in nodes]
        return bool(found) and all(node is not None and node.watched_until >= at for node in found)

    def _find(self, name: str) -> _Node | None:
        if name in self._nodes:
            return self._nodes[name]
        alike = self._short.get(_short(name), set())
        if len(alike) != 1:
            return None
        (full,) = alike
        # Two full names that differ are two nodes, however they begin.
        return self._nodes[full] if "." not in name or "." not in full else None


def _short(name: str) -> str:
    return name.partition(".")[0]
