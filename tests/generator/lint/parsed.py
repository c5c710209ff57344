"""Queries as trees, with the variables of Grafana filled in."""

from collections.abc import Iterator
from dataclasses import dataclass

import promql_parser

from gpuscope_generator.promql.filling import Filling, filled, variables_of

COUNTING = {"rate", "irate", "increase", "resets", "changes", "last_over_time", "present_over_time", "absent"}


def parse(text: str) -> promql_parser.Expr:
    """The tree of a query; variables become what they are when everything is chosen."""
    values = dict.fromkeys(variables_of(text), "1") | {"aggregate_by": "pod"}
    return promql_parser.parse(filled(text, Filling(values=values)))


@dataclass(frozen=True)
class Found:
    """A selector, and the functions around it from the inside out."""

    name: str
    labels: dict[str, str]
    around: tuple[str, ...]


def selectors(text: str) -> list[Found]:
    """Every selector of a query."""
    return list(_selectors(parse(text), ()))


def _selectors(tree: promql_parser.Expr, around: tuple[str, ...]) -> Iterator[Found]:
    if isinstance(tree, promql_parser.MatrixSelector):
        yield from _selectors(tree.vector_selector, around)
    elif isinstance(tree, promql_parser.VectorSelector):
        matchers = {matcher.name: matcher.value for matcher in tree.matchers.matchers}
        yield Found(tree.name or matchers.get("__name__", ""), matchers, around)
    for child in children(tree):
        inner = (tree.func.name, *around) if isinstance(tree, promql_parser.Call) else around
        yield from _selectors(child, inner)


def children(tree: promql_parser.Expr) -> Iterator[promql_parser.Expr]:
    """The operands of the outermost operator or function."""
    for name in ("lhs", "rhs", "expr", "param"):
        child = getattr(tree, name, None)
        if child is not None:
            yield child
    yield from getattr(tree, "args", None) or ()


def every(tree: promql_parser.Expr) -> Iterator[promql_parser.Expr]:
    """A tree and all that is inside."""
    yield tree
    for child in children(tree):
        yield from every(child)


def unguarded_divisions(text: str) -> list[str]:
    """Divisors that may be 0: neither a number, nor kept above 0 by a comparison, nor clamped."""
    found = []
    for tree in every(parse(text)):
        if isinstance(tree, promql_parser.BinaryExpr) and str(tree.op) == "/":
            right = tree.rhs
            while isinstance(right, promql_parser.ParenExpr):
                right = right.expr
            if not _is_never_zero(right):
                found.append(right.prettify().replace("\n", " "))
    return found


def _is_never_zero(tree: promql_parser.Expr) -> bool:
    if isinstance(tree, promql_parser.NumberLiteral):
        return bool(tree.val)
    if isinstance(tree, promql_parser.BinaryExpr):
        return str(tree.op) in (">", "!=") or (str(tree.op) in ("and", "unless") and _is_never_zero(tree.lhs))
    return isinstance(tree, promql_parser.Call) and tree.func.name in ("clamp_min", "scalar", "time")
