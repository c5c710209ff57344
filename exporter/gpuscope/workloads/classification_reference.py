"""The tables of ``docs/classification.md``."""

from collections.abc import Iterable

from gpuscope.document import markdown_table, replace_part
from gpuscope.workloads.classification_rules import SHARED, load_rules
from gpuscope.workloads.fault import Domain

__all__ = ["MARKERS", "rule_table", "type_table", "update"]

MARKERS = {
    "types": ("<!-- fault types: made by `gpuscope classification --update`, do not edit -->", "<!-- /fault types -->"),
    "rules": ("<!-- rules: made by `gpuscope classification --update`, do not edit -->", "<!-- /rules -->"),
}

_MANY = "many unrelated jobs met the same at one time"


def type_table() -> str:
    """A Markdown table: each fault type once, with the domains, scopes and confidences that it may have."""
    types: dict[str, list[tuple[str, ...]]] = {}
    for rule in load_rules():
        own = (rule.domain.value, rule.scope.value, rule.confidence, rule.meaning)
        types.setdefault(rule.fault_type, []).append(own)
    for shared in dict.fromkeys(rule.shared for rule in load_rules() if rule.shared):
        types.setdefault(shared, []).append((Domain.INFRASTRUCTURE.value, SHARED[shared].value, "medium", _MANY))
    rows = [
        (f"`{name}`", *(_each(cells, "; " if cells is columns[-1] else ", ") for cells in columns))
        for name, found in types.items()
        for columns in [list(zip(*found, strict=True))]
    ]
    return markdown_table(("Fault type", "Domain", "Scope", "Confidence", "Meaning"), rows)


def rule_table() -> str:
    """A Markdown table of the rules in their order."""
    rows = [
        (
            str(number),
            " and ".join(_term(term) for term in rule.when.split()),
            f"`{rule.fault_type}`",
            rule.domain.value,
            rule.scope.value,
            rule.confidence,
            f"`{rule.shared}`" if rule.shared else "",
        )
        for number, rule in enumerate(load_rules(), start=1)
    ]
    return markdown_table(("Rank", "When", "Fault type", "Domain", "Scope", "Confidence", "In many jobs"), rows)


def update(document: str) -> str:
    """The document with fresh tables between its markers.

    Raises:
        ValueError: the document lacks a marker.
    """
    for name, table in (("types", type_table()), ("rules", rule_table())):
        document = replace_part(document, *MARKERS[name], table)
    return document


def _term(term: str) -> str:
    source, _, words = term.partition(":")
    return f"{source} " + " or ".join(f"`{word}`" for word in words.split("|"))


def _each(words: Iterable[str], between: str) -> str:
    return between.join(dict.fromkeys(words))
