"""Why an attempt ended: one verdict out of all that is known of it.

The rules are data (``classification.csv``) in the order of their weight, so that neither the order of the evidence nor
the noise of a teardown changes a verdict: XID 43 and 45, and the SIGTERM and SIGKILL that end the healthy ranks after
the first failure, are no causes. Nothing that fits is ``unknown``, and unknown never becomes an action.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuscope.faults.xids import XidCatalogue
from gpuscope.workloads.attribution_window import explains
from gpuscope.workloads.classification_rules import SHARED, Rule, Term, load_rules, plain
from gpuscope.workloads.fault import Classification, Domain, Scope
from gpuscope.workloads.observation import Evidence, Outcome

__all__ = ["MANY_JOBS", "REPEATS", "classify"]

MANY_JOBS = 3
"""So many other, unrelated jobs with the same fault at the same time make it one event of the cluster's."""

REPEATS = 3
"""So many jobs that application XIDs of one GPU ended make that GPU the suspect."""

_TEARDOWN = frozenset({9, 15})  # SIGKILL, SIGTERM
_LAST_SIGNAL = 64

Facts = Mapping[str, Mapping[str, str]]
"""Source of a term -> word -> how it was told, for people."""


def classify(
    evidence: Evidence, outcome: Outcome, xids: XidCatalogue, rules: Sequence[Rule] | None = None
) -> Classification:
    """What the end of an attempt was.

    Args:
        evidence: all that is known of it.
        outcome: how the scheduler says that it ended.
        xids: the catalogue that says what an XID means.
        rules: other rules than those that ship.
    """
    if outcome is Outcome.SUCCEEDED:
        return Classification("none", Domain.PLANNED, Scope.JOB, "high", "it succeeded")
    facts = _facts(evidence, outcome, xids)
    if rules is None:
        rules = load_rules()
    holding = [(rule, told) for rule in rules if (told := _holds(rule, facts)) is not None]
    if not holding:
        return Classification("unknown", Domain.UNKNOWN, Scope.UNKNOWN, "low", "nothing that is known explains it")
    rule, told = holding[0]
    why = _why(rule, told)
    if rule.domain is Domain.PLANNED:
        beside = next((pair for pair in holding if pair[0].domain is Domain.INFRASTRUCTURE), None)
        why += f"; seen besides: {_why(*beside)}" if beside else ""
        return Classification(rule.fault_type, rule.domain, rule.scope, rule.confidence, why)
    if rule.shared and evidence.shared_by >= MANY_JOBS:
        why += f"; so did {evidence.shared_by} unrelated jobs"
        return Classification(rule.shared, Domain.INFRASTRUCTURE, SHARED[rule.shared], "medium", why)
    confidence = rule.confidence
    if evidence.nodes_shared and confidence == "high" and any(term.source == "xid" for term in rule.terms):
        confidence = "medium"
        why += "; other jobs held GPUs of the same nodes"
    return Classification(rule.fault_type, rule.domain, rule.scope, confidence, why)


def _why(rule: Rule, told: Sequence[str]) -> str:
    details = ", ".join(word for word in told if word)
    return f"{rule.meaning} ({details})" if details else rule.meaning


def _holds(rule: Rule, facts: Facts) -> list[str] | None:
    found = []
    for term in rule.terms:
        told = _told(term, facts)
        if told is None:
            return None
        found.append(told)
    return found


def _told(term: Term, facts: Facts) -> str | None:
    known = facts[term.source]
    if term.source == "text":
        near = [(word, message) for message in known for word in term.words if f"_{word}_" in f"_{message}_"]
        return min(near)[0].replace("_", " ") if near else None
    return next((known[word] for word in term.words if word in known), None)


def _facts(evidence: Evidence, outcome: Outcome, xids: XidCatalogue) -> Facts:
    # Who works on a node, or asks for a requeue, causes faults afterwards; what came before may be the reason for it.
    only_before = evidence.maintenance or bool(evidence.requested_by_user)
    asked_by_nobody = outcome is Outcome.CANCELLED and evidence.requested_by_user is False
    return {
        "outcome": {} if asked_by_nobody else {outcome.value: ""},
        "said": dict(_said(evidence)),
        "text": {plain(evidence.reason): ""},
        "xid": _xids(evidence, xids, only_before),
        "node": {
            plain(word): f"{word}{_when(before)}"
            for word, before in sorted(evidence.node_signals, key=lambda signal: (signal[1], signal[0]))
            if explains(before, only_before=only_before)
        },
        "log": {plain(word): word for word in sorted(evidence.log_signals)},
        **_processes(evidence),
        "fact": dict(_plain_facts(evidence)),
    }


def _said(evidence: Evidence) -> Iterator[tuple[str, str]]:
    # A reason counts as the scheduler's word when it is all of the reason; a message may use the same word otherwise.
    states = re.split(r"[\s,+|]+", evidence.state)
    for word in sorted({*evidence.container_reasons, *evidence.pod_reasons, evidence.reason, *states}):
        yield plain(word), word


def _xids(evidence: Evidence, xids: XidCatalogue, only_before: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    near = [(before, code) for code, before in evidence.xids if explains(before, only_before=only_before)]
    # The earliest one of a class is told: it is the nearest to the cause.
    for before, code in sorted(near, key=lambda xid: (-xid[0], xid[1])):
        entry = xids.entry(code)
        if entry.action == "ignore":
            continue
        told = f"XID {code}{_when(before)}"
        found.setdefault(entry.fault_class, told)
        found.setdefault(str(code), told)
    return found


def _processes(evidence: Evidence) -> Facts:
    """How the first process failed by itself; if none did, by which signals they were ended."""
    exits: dict[str, str] = {}
    signals: dict[str, str] = {}
    killed: dict[str, str] = {}
    ends: list[tuple[int | None, int | None]] = [(code, _signal_of(code)) for code in evidence.exit_codes if code]
    ends += [(None, number) for number in evidence.signals if number]
    for code, number in ends:
        if number in _TEARDOWN:
            killed[str(number)] = f"signal {number}"
        elif not exits and not signals:
            if number is None:
                exits = dict.fromkeys((str(code), "own"), f"exit code {code}")
            else:
                signals = dict.fromkeys((str(number), "any"), f"signal {number}")
    return {"exit": exits, "signal": signals, "killed": {} if exits or signals else killed}


def _signal_of(code: int) -> int | None:
    """The signal in an exit code: 128 + n of a shell or a container, -n of a launcher in Python."""
    number = -code if code < 0 else code - 128
    return number if 0 < number <= _LAST_SIGNAL else None


def _plain_facts(evidence: Evidence) -> Iterator[tuple[str, str]]:
    if evidence.maintenance:
        yield "maintenance", ""
    if evidence.nodes_lost:
        yield "node_lost", " ".join(sorted(evidence.nodes_lost)[:3])
    if evidence.nodes_watched:
        yield "nodes_watched", ""
    if evidence.gpu_jobs >= REPEATS:
        yield "repeated_gpu", f"{evidence.gpu_jobs} jobs"
    if evidence.requested_by_user:
        yield "requested_by_user", ""


def _when(before: float) -> str:
    return f" {before:.0f} s before the end" if before >= 0 else f" {-before:.0f} s after the end"
