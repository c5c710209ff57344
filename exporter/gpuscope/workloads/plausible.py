"""What cannot be so in an answer: it costs one value or one job, and never the others.

Anybody may write a job's name, and a scheduler may tell any number. Times that are no times would spoil every page that
lists them, text that is no text every answer, and text without end the memory of whoever stores the series.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gpuscope.workloads.observation import (
    WHY_LENGTH,
    Attempt,
    JobFacts,
    JobKey,
    Observation,
    ObservedJob,
    ObservedNode,
    Progress,
)

__all__ = ["LABEL_LENGTH", "Plausible", "is_time", "mended", "mended_attempt", "mended_facts", "plausible"]

LABEL_LENGTH = 128
"""Longest text of a label, in characters; the last one of a text that was longer is an ellipsis."""

_MESSAGE_LENGTH = 1000
_NAME_LENGTH = 253
_SKEW_S = 24 * 3600.0
"""So far ahead may the clock of a scheduler be."""
_LATEST = 253_402_214_400.0
"""A day before the year 10000, after which no calendar writes a date."""
_TEXTS = ("state", "reason", "container_reasons", "pod_reasons", "nodes_lost", "log_signals", "node_signals")
"""Fields of the evidence that hold text."""
_MOST_GPUS = 1_000_000
_MOST_RESTARTS = 100_000


@dataclass(slots=True)
class Plausible:
    """An answer without what cannot be so.

    Attributes:
        seen: the answer; jobs that were left out are in its ``hidden``, and its ``problems`` count what was found.
        examples: reason -> the first that was found.
    """

    seen: Observation
    examples: Mapping[str, str]


@dataclass(slots=True)
class _Findings:
    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, example: object) -> None:
        self.counts[reason] += 1
        self.examples.setdefault(reason, str(example))

    def text(self, value: str, limit: int = LABEL_LENGTH) -> str:
        if len(value) <= limit and value.isascii():
            return value
        found = mended(value)
        if found != value:
            self.add("malformed_text", value)
        if len(found) > limit:
            self.add("long_text", found)
        return mended(found, limit)


def plausible(seen: Observation) -> Plausible:
    """An answer, checked.

    Reasons: ``malformed_time``, ``malformed_restarts`` and ``malformed_key`` leave a job out; ``malformed_gpus``,
    ``malformed_progress`` and the time of a node make that value unknown; ``malformed_text`` and ``long_text`` mend or
    cut a text; ``malformed_node`` leaves a node out.
    """
    findings = _Findings()
    jobs, hidden = [], set(seen.hidden)
    for job in seen.jobs:
        reason = _impossible(job, seen.at)
        if reason:
            findings.add(reason, f"{job.key.namespace}/{job.key.uid}".lstrip("/"))
            hidden.add(job.key)
        else:
            jobs.append(_job(job, seen.at, findings))
    nodes = [found for node in seen.nodes if (found := _node(node, seen.at, findings)) is not None]
    pods = seen.pods if not hidden else {pod: key for pod, key in seen.pods.items() if key not in hidden}
    problems = dict(Counter(seen.problems) + findings.counts)
    checked = replace(seen, jobs=jobs, nodes=nodes, pods=pods, hidden=frozenset(hidden), problems=problems)
    return Plausible(checked, findings.examples)


def is_time(value: float | None, latest: float = _LATEST) -> bool:
    """Whether a unix time can be written as a date and is not after ``latest``; nothing told is fine."""
    return value is None or 0 < value <= min(latest, _LATEST)


def mended(text: str, limit: int | None = None) -> str:
    """A text that can be written in UTF-8, cut where it is longer than ``limit`` characters."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def mended_facts(facts: JobFacts) -> JobFacts:
    """What a job is, as it can be told."""
    return _facts(facts, _Findings())


def mended_attempt(attempt: Attempt) -> Attempt:
    """An attempt, as it can be told."""
    return _attempt(attempt, _Findings())


def _impossible(job: ObservedJob, now: float) -> str:
    if not _encodable(job.key):
        return "malformed_key"
    latest = now + _SKEW_S
    times = [job.created, job.ended]
    for attempt in job.attempts:
        times += (attempt.started, attempt.running, attempt.ended)
    if not all(is_time(one, latest) for one in times):
        return "malformed_time"
    numbers = [job.restarts or 0, *(attempt.number for attempt in job.attempts)]
    return "" if all(0 <= one <= _MOST_RESTARTS for one in numbers) else "malformed_restarts"


def _encodable(key: JobKey) -> bool:
    own = (key.namespace, key.uid)
    return all(len(text) <= _NAME_LENGTH and (text.isascii() or mended(text) == text) for text in own)


def _job(job: ObservedJob, now: float, findings: _Findings) -> ObservedJob:
    facts = _facts(job.facts, findings)
    attempts = tuple(_attempt(one, findings) for one in job.attempts)
    progress = None if job.progress is None else _progress(job.progress, now, findings)
    why = findings.text(job.why, WHY_LENGTH)
    nodes = tuple(findings.text(name, _NAME_LENGTH) for name in job.nodes)
    told = (facts, attempts, progress, why, nodes)
    if told == (job.facts, job.attempts, job.progress, job.why, job.nodes):
        return job
    return replace(job, facts=facts, attempts=attempts, progress=progress, why=why, nodes=nodes)


def _facts(facts: JobFacts, findings: _Findings) -> JobFacts:
    texts = (facts.name, facts.kind, facts.team, facts.queue, facts.user, facts.priority)
    told = tuple(map(findings.text, texts))
    gpus = _gpus(facts.gpus, findings)
    if told == texts and gpus == facts.gpus:
        return facts
    name, kind, team, queue, user, priority = told
    return JobFacts(name, kind, team, queue, user, gpus, priority, facts.tasks)


def _gpus(count: int | None, findings: _Findings) -> int | None:
    if count is None or 0 <= count <= _MOST_GPUS:
        return count
    findings.add("malformed_gpus", count)
    return None


def _attempt(attempt: Attempt, findings: _Findings) -> Attempt:
    told = attempt.evidence
    texts = {name: _plain(getattr(told, name), findings) for name in _TEXTS}
    evidence = replace(told, **texts)  # type: ignore[arg-type]
    nodes = tuple(findings.text(name, _NAME_LENGTH) for name in attempt.nodes)
    if evidence == told and nodes == attempt.nodes:
        return attempt
    return replace(attempt, evidence=evidence, nodes=nodes)


def _plain(value: object, findings: _Findings) -> object:
    if isinstance(value, str):
        return findings.text(value, _MESSAGE_LENGTH)
    return tuple(_plain(one, findings) for one in value) if isinstance(value, tuple) else value


def _progress(told: Progress, now: float, findings: _Findings) -> Progress | None:
    latest = now + _SKEW_S
    if not is_time(told.at, latest):
        findings.add("malformed_progress", f"time {told.at}")
        return None
    limits = (("ratio", 0.0, 1.0), ("remaining_s", 0.0, 1e12), ("step", 0.0, 1e18), ("checkpoint_at", 0.0, latest))
    wrong: dict[str, None] = {}
    for name, low, high in limits:
        value = getattr(told, name)
        if value is not None and not low <= value <= high:
            findings.add("malformed_progress", f"{name} {value}")
            wrong[name] = None
    return replace(told, **wrong) if wrong else told  # type: ignore[arg-type]


def _node(node: ObservedNode, now: float, findings: _Findings) -> ObservedNode | None:
    if len(node.name) > _NAME_LENGTH or mended(node.name) != node.name:
        findings.add("malformed_node", node.name)
        return None
    since = node.since
    if not is_time(since, now + _SKEW_S):
        findings.add("malformed_time", f"node {node.name}")
        since = None
    return replace(
        node,
        reason=findings.text(node.reason),
        since=since,
        gpus=_gpus(node.gpus, findings),
        gpus_allocated=_gpus(node.gpus_allocated, findings),
        partitions=tuple(map(findings.text, node.partitions)),
    )
