"""Makes the collector's series of what is known."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from gpuscope.catalogue import CLUSTER_METRICS
from gpuscope.catalogue import scheduler as s
from gpuscope.catalogue import training as t
from gpuscope.catalogue.metric import Sample
from gpuscope.collector.debut import Debut
from gpuscope.collector.follower import Follower
from gpuscope.collector.rendering import Rendering
from gpuscope.sampling.exposition import Exposition, render_blocks
from gpuscope.sampling.process import process_text
from gpuscope.workloads.agents import AgentFaults
from gpuscope.workloads.book import Book
from gpuscope.workloads.job_series import seconds_samples, steady_samples, steady_state
from gpuscope.workloads.observation import NodeState, Observation, ObservedNode, PartitionState
from gpuscope.workloads.record import JobRecord

__all__ = ["exposition", "waiting_exposition"]


def exposition(
    book: Book, followers: Iterable[Follower], seen: Mapping[str, Observation], debut: Debut, rendering: Rendering,
    agents: AgentFaults | None = None, *, saved: bool = True,
) -> Exposition:  # fmt: skip
    """The metrics of this moment.

    Args:
        book: jobs.
        followers: how each scheduler answers.
        seen: the last look at each scheduler.
        debut: holds counters that are new.
        rendering: keeps the lines of what does not change.
        agents: how the agents answer, ``None`` where nobody reads them.
        saved: whether all that was counted is written.
    """
    rendering.add([Sample(s.LEADER, (), 1.0), Sample(s.SAVED, (), float(saved))])
    rendering.add(debut.shown(book.counters()))
    selection = book.selection()
    rendering.add(book.totals(selection))
    for one in selection.own:
        rendering.keep(one.key, steady_state(one), partial(steady_samples, one))
        rendering.keep(("seconds", one.key), (one.facts, *one.seconds.items()), partial(seconds_samples, one))
    for follower in followers:
        rendering.add(_source(follower))
        rendering.add(debut.shown(_problems(follower)))
    if agents is not None:
        answers = (("answering", agents.answering), ("failed", agents.failed))
        rendering.add(Sample(t.AGENTS, (state,), float(count)) for state, count in answers)
        rendering.add(debut.shown(_agent_failures(agents)))
    for look in seen.values():
        for node in look.nodes:
            rendering.keep(("node", look.source, node.name), node, partial(_node, look.source, node))
        rendering.add(_partitions(look))
        for pod, key in look.pods.items():
            record = book.jobs.get(key)
            if record is not None:
                rendering.keep(("pod", *pod), (record.facts, key), partial(_pod, *pod, record))
    return Exposition([rendering.finish()], CLUSTER_METRICS, process_text())


def waiting_exposition() -> Exposition:
    """The metrics of a collector that waits: none of jobs, so that a sum over all collectors does not double."""
    return Exposition([render_blocks([Sample(s.LEADER, (), 0.0)])], CLUSTER_METRICS, process_text())


def _source(follower: Follower) -> Iterator[Sample]:
    status, name = follower.status, follower.status.name
    yield Sample(s.SOURCE_UP, (name,), float(not status.reason))
    if status.reason:
        yield Sample(s.SOURCE_FAILURE, (name, status.reason), 1.0)
    if status.answered is not None:
        yield Sample(s.LAST_SUCCESS, (name,), status.answered)
    yield Sample(s.LOOK_SECONDS, (name,), status.seconds)
    if status.clock_offset is not None:
        yield Sample(s.CLOCK_OFFSET, (name,), status.clock_offset)


def _problems(follower: Follower) -> Iterator[Sample]:
    for reason, count in sorted(follower.problems.items()):
        yield Sample(s.PROBLEMS, (follower.status.name, reason), float(count))


def _agent_failures(agents: AgentFaults) -> Iterator[Sample]:
    for reason in t.AGENT_FAILURES.closed_labels["reason"]:
        yield Sample(t.AGENT_FAILURES, (reason,), float(agents.failures[reason]))


def _node(source: str, node: ObservedNode) -> Iterator[Sample]:
    own = (source, node.name)
    for state in NodeState:
        yield Sample(s.NODE_STATE, (*own, state.value), float(state is node.state))
    if node.reason:
        yield Sample(s.NODE_REASON, (*own, node.reason), 1.0)
    for kind, count in (("total", node.gpus), ("allocated", node.gpus_allocated)):
        if count is not None:
            yield Sample(s.NODE_GPUS, (*own, kind), float(count))


def _partitions(look: Observation) -> Iterator[Sample]:
    members: dict[str, list[ObservedNode]] = {}
    for node in look.nodes:
        for name in node.partitions:
            members.setdefault(name, []).append(node)
    for partition in look.partitions:
        own, nodes = (look.source, partition.name), members.get(partition.name, [])
        for state in PartitionState:
            yield Sample(s.PARTITION_STATE, (*own, state.value), float(state is partition.state))
        counts = Counter(node.state for node in nodes)
        for good_for in NodeState:
            yield Sample(s.PARTITION_NODES, (*own, good_for.value), float(counts[good_for]))
        held = [node.gpus_allocated for node in nodes]
        for kind, gpus in (("total", [node.gpus for node in nodes]), ("allocated", held)):
            told = [count for count in gpus if count is not None]
            if len(told) == len(gpus):
                yield Sample(s.PARTITION_GPUS, (*own, kind), float(sum(told)))


def _pod(namespace: str, name: str, record: JobRecord) -> Iterator[Sample]:
    facts = record.facts
    labels = (namespace, name, facts.kind, facts.name, record.key.uid, facts.team, facts.queue)
    yield Sample(s.POD_WORKLOAD, labels, 1.0)
