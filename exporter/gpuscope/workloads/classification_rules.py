"""The rules of classification: a list that ships as ``classification.csv``; the first rule that holds decides.

A rule holds when each of its terms, separated by blanks, holds. A term is ``source:word``, with ``|`` between words of
which one is enough:

- ``outcome``: how the attempt ended;
- ``said``: one word of the scheduler, wherever it stood: a state, a reason, the reason of a container or a pod;
- ``text``: words that stand together in the scheduler's message;
- ``xid``: a class of the XID catalogue, or a code;
- ``node``: what was measured on the attempt's nodes;
- ``log``: what the job's own output told;
- ``exit``, ``signal``: how the first process failed by itself; ``own`` and ``any`` stand for each of them;
- ``killed``: a signal that also ends the healthy ranks of a job, when nothing failed by itself;
- ``fact``: ``maintenance``, ``node_lost``, ``nodes_watched``, ``repeated_gpu``, ``requested_by_user``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from gpuscope.errors import ConfigError
from gpuscope.faults.table import choice, read_rows
from gpuscope.faults.xids import CLASSES
from gpuscope.workloads.fault import Domain, Scope
from gpuscope.workloads.observation import Outcome

__all__ = ["COLUMNS", "CONFIDENCES", "SHARED", "SOURCES", "Rule", "Term", "load_rules", "parse_rules", "plain", "words"]

COLUMNS = ("when", "fault_type", "domain", "scope", "confidence", "shared", "meaning")
CONFIDENCES = ("high", "medium", "low")
SOURCES = ("outcome", "said", "text", "xid", "node", "log", "exit", "signal", "killed", "fact")
SHARED: Mapping[str, Scope] = {
    "fabric": Scope.FABRIC,
    "switch": Scope.FABRIC,
    "storage": Scope.STORAGE,
    "storage_full": Scope.STORAGE,
    "storage_stall": Scope.STORAGE,
    "mass_event": Scope.CLUSTER,
}
"""Fault type and scope of what many unrelated jobs met at the same time; it is always the infrastructure's."""

_FACTS = ("maintenance", "node_lost", "nodes_watched", "repeated_gpu", "requested_by_user")


@dataclass(frozen=True, slots=True)
class Term:
    """One condition: a source, and the words of which one is enough, as ``plain`` writes them."""

    source: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One row.

    Attributes:
        when: the conditions as written.
        terms: the same, read; all must hold.
        fault_type: what it is then, ``none`` for a planned end.
        domain: whose fault.
        scope: how far it reached.
        confidence: ``high``, ``medium`` or ``low``.
        shared: the fault type when many unrelated jobs met it at the same time; empty when that changes nothing.
        meaning: the same for people.
    """

    when: str
    terms: tuple[Term, ...]
    fault_type: str
    domain: Domain
    scope: Scope
    confidence: str
    shared: str
    meaning: str


def plain(text: str) -> str:
    """A word without case and punctuation: ``No space left`` becomes ``no_space_left``."""
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")


@cache
def load_rules() -> tuple[Rule, ...]:
    """The rules that ship, in their order."""
    text = files("gpuscope.workloads").joinpath("classification.csv").read_text(encoding="utf-8")
    return parse_rules("classification.csv", text)


def parse_rules(name: str, text: str) -> tuple[Rule, ...]:
    """Reads rules.

    Args:
        name: the file, for messages.
        text: CSV with the columns ``COLUMNS``.

    Raises:
        ConfigError: a row that cannot be understood; names file, line and column.
    """
    rules = []
    for place, row in read_rows(name, text, COLUMNS):
        if missing := [column for column in COLUMNS if column != "shared" and not row.get(column)]:
            raise ConfigError(f"{place}: {missing[0]}: is empty")
        shared = row.get("shared", "")
        rules.append(
            Rule(
                when=row["when"],
                terms=tuple(_term(place, word) for word in row["when"].split()),
                fault_type=row["fault_type"],
                domain=Domain(choice(place, "domain", row["domain"], tuple(Domain))),
                scope=Scope(choice(place, "scope", row["scope"], tuple(Scope))),
                confidence=choice(place, "confidence", row["confidence"], CONFIDENCES),
                shared=choice(place, "shared", shared, ("", *SHARED)),
                meaning=row["meaning"],
            )
        )
    return tuple(rules)


def words(rules: Sequence[Rule], source: str) -> tuple[str, ...]:
    """Every word of a source that some rule knows, in alphabetical order: what a reader of logs or nodes may tell."""
    return tuple(
        sorted({word for rule in rules for term in rule.terms if term.source == source for word in term.words})
    )


def _term(place: str, text: str) -> Term:
    source, _, alternatives = text.partition(":")
    source = choice(place, "when", source, SOURCES)
    found = tuple(plain(word) for word in alternatives.split("|"))
    allowed: Iterable[str] | None = {
        "outcome": tuple(outcome.value for outcome in Outcome),
        "fact": _FACTS,
        "xid": (*CLASSES, *_numbers(found)),
        "exit": ("own", *_numbers(found)),
        "signal": ("any", *_numbers(found)),
        "killed": _numbers(found),
    }.get(source)
    for word in found:
        if not word:
            raise ConfigError(f"{place}: when: {text[:40]!r} lacks a word")
        if allowed is not None:
            choice(place, "when", word, tuple(allowed))
    return Term(source, found)


def _numbers(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in found if word.isdigit())
