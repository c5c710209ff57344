"""What the node's other sources do not tell, for the status page: mounts, allocations, collectors."""

from collections.abc import Iterator
from typing import NamedTuple

from gpuscope.api.status_words import FILESYSTEM_ADVICE, KUBELET_ADVICE, SOURCES
from gpuscope.catalogue import agent, attribution, filesystem
from gpuscope.catalogue.metric import Metric
from gpuscope.sampling.snapshot import Snapshot

__all__ = ["SourceNotice", "source_notices"]

_MOUNTS_SHOWN = 5


class SourceNotice(NamedTuple):
    """A notice: ``bad`` for what stops jobs, ``warn`` for what fails, ``note`` for what may be as it should be."""

    look: str
    title: str
    texts: tuple[str, ...]


def source_notices(snapshot: Snapshot) -> list[SourceNotice]:
    """Notices about all that does not answer, the worst first."""
    return [*_mounts(snapshot), *_allocations(snapshot), *_collectors(snapshot)]


def _rows(snapshot: Snapshot, metric: Metric, value: float) -> Iterator[tuple[str, ...]]:
    return (one.labels for one in snapshot.node_samples if one.metric is metric and one.value == value)


def _mounts(snapshot: Snapshot) -> Iterator[SourceNotice]:
    reasons = {labels[:2]: labels[2] for labels in _rows(snapshot, filesystem.FAILURE_INFO, 1.0)}
    down = list(_rows(snapshot, filesystem.UP, 0.0))
    for labels in down[:_MOUNTS_SHOWN]:
        name, mountpoint = labels
        reason = reasons.get((name, mountpoint), "error")
        title = f"{mountpoint} is not mounted" if reason == "missing" else f"{mountpoint} does not answer"
        source = f"File system {name}." if name not in {"", mountpoint} else ""
        yield SourceNotice("bad", title, (source, FILESYSTEM_ADVICE.get(reason, FILESYSTEM_ADVICE["error"])))
    if len(down) > _MOUNTS_SHOWN:
        more = len(down) - _MOUNTS_SHOWN
        yield SourceNotice("bad", f"{more} more mounts do not answer", ("See gpuscope_filesystem_failure_info.",))


def _allocations(snapshot: Snapshot) -> Iterator[SourceNotice]:
    for source, reason in _rows(snapshot, attribution.SOURCE_FAILURE, 1.0):
        who, advice = SOURCES.get(source, ("a source does", "The agent's log has the details."))
        if source == "kubelet":
            advice = KUBELET_ADVICE.get(reason, advice)
        title = f"{who[0].upper()}{who[1:]} not tell who holds which GPU ({reason.replace('_', ' ')})"
        look = "note" if reason == "missing" else "warn"  # there need not be a kubelet
        yield SourceNotice(look, title, (advice,))


def _collectors(snapshot: Snapshot) -> Iterator[SourceNotice]:
    failed = [labels[0] for labels in _rows(snapshot, agent.COLLECTOR_SUCCESS, 0.0)]
    if failed and snapshot.driver.ok:
        text = "Some of their series are missing; the agent's log says why."
        yield SourceNotice("warn", f"Collectors that fail: {', '.join(sorted(failed))}", (text,))
