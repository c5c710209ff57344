"""The connections to metadata and object targets, as samples."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping

from gpuscope.catalogue import lustre as m
from gpuscope.catalogue.metric import Metric, Sample
from gpuscope.filesystems.lustre.imports import CONNECTED, parse_import, parse_state, split_instance
from gpuscope.filesystems.lustre.rpc_stats import parse_rpc_stats
from gpuscope.filesystems.lustre.sums import Sums

__all__ = ["Targets"]

_Bad = Callable[[str], None]
_Parts = dict[Hashable, dict[str, float]]


class Targets:
    """Turns ``rpc_stats``, ``import`` and ``state`` of all targets into samples.

    A file system that is mounted twice has two connections to each target: counters and RPCs in flight are added up,
    and the target is up when both are. The same is done for all targets of a file system where they are not told apart.

    Args:
        apart: whether each target has series of its own; else their label is empty.
    """

    def __init__(self, *, apart: bool = True) -> None:
        self._apart = apart
        self._rpcs = Sums()
        self._imports = Sums()
        self._evicted: Counter[tuple[str, str]] = Counter()
        self._evictions: dict[str, set[int]] = {}

    def rpc_stats(self, texts: Mapping[str, str], bad: _Bad) -> list[Sample]:
        """RPCs in flight, pages that wait, and RPCs by their size."""
        levels: Counter[tuple[Metric, tuple[str, ...]]] = Counter()
        parts: _Parts = defaultdict(dict)
        for name, text in texts.items():
            owner = self._owner(name)
            if owner is None:
                continue
            filesystem, target = owner
            stats = parse_rpc_stats(text, bad)
            for kind, count in stats.in_flight.items():
                levels[m.RPCS_IN_FLIGHT, (filesystem, target, kind)] += count
            for direction, pages in stats.pending.items():
                levels[m.PENDING_PAGES, (filesystem, target, direction)] += pages
            for (direction, size), count in stats.pages.items():
                parts[m.RPCS, (filesystem, direction, str(size))][name] = float(count)
        return [Sample(metric, labels, float(value)) for (metric, labels), value in levels.items()] + _totals(
            self._rpcs, parts
        )

    def imports(self, texts: Mapping[str, str], bad: _Bad) -> list[Sample]:
        """Whether targets are connected, and what went wrong with requests."""
        states: dict[tuple[str, str], list[str]] = defaultdict(list)
        parts: _Parts = defaultdict(dict)
        for name, text in texts.items():
            labels = self._owner(name)
            found = parse_import(text, bad) if labels else None
            if labels is None or found is None:
                continue
            states[labels].append(found.state)
            for metric, value in ((m.CONNECTION_ATTEMPTS, found.attempts), (m.REQUEST_TIMEOUTS, found.timeouts)):
                if value is not None:
                    parts[metric, labels][name] = float(value)
        samples = []
        for labels, seen in states.items():
            broken = sorted({state for state in seen if state not in CONNECTED})
            samples.append(Sample(m.TARGET_UP, labels, float(not broken)))
            samples += (Sample(m.TARGET_FAILURE_INFO, (*labels, state.lower()), 1.0) for state in broken)
        return samples + _totals(self._imports, parts)

    def states(self, texts: Mapping[str, str], bad: _Bad) -> list[Sample]:
        """Evictions since the first look."""
        seen: dict[str, set[int]] = {}
        owners = set()
        for name, text in texts.items():
            owner = self._owner(name)
            if owner is None:
                continue
            owners.add(owner)
            times = set(parse_state(text, bad))
            known = self._evictions.get(name)
            if known is not None:
                self._evicted[owner] += len(times - known)
            seen[name] = times | (known or set()) if times else known or set()
        self._evictions = seen
        return [Sample(m.EVICTIONS, owner, float(self._evicted[owner])) for owner in sorted(owners)]

    def _owner(self, name: str) -> tuple[str, str] | None:
        found = split_instance(name)
        return None if found is None else (found[0], found[1] if self._apart else "")


def _totals(sums: Sums, parts: _Parts) -> list[Sample]:
    samples = []
    for key, total in sums.update(parts).items():
        assert isinstance(key, tuple)
        samples.append(Sample(key[0], key[1], total))
    return samples
