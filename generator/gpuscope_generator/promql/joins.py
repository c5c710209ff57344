"""Combinations of vectors that stay right when series are doubled, missing or zero."""

from __future__ import annotations

from collections.abc import Iterable

from gpuscope_generator.promql.expression import Binding, QueryError, Vector, check_labels
from gpuscope_generator.promql.functions import max_by

__all__ = ["first_of", "join", "on", "one_of", "ratio", "with_zero"]


def join(left: Vector, facts: Vector, *, on: Iterable[str], take: Iterable[str]) -> Vector:
    """Takes labels over from a constant-1 series, many to one.

    The right side is made unique first, so that a second kube-state-metrics or a replica pair is no error.

    Args:
        left: what keeps its value.
        facts: series whose value is 1, such as an info metric.
        on: labels that both carry and that identify the fact.
        take: labels to take over.

    Raises:
        QueryError: one of the sides lacks a label.
    """
    keys = check_labels(on, left, "join on")
    taken = check_labels(take, facts, "join take")
    check_labels(keys, facts, "join on")
    if set(keys) & set(taken):
        raise QueryError(f"join takes {', '.join(set(keys) & set(taken))}, on which it matches")
    unique = f"topk by ({', '.join(keys)}) (1, {max_by(facts, *keys, *taken).text})"
    group = f"group_left ({', '.join(taken)})" if taken else "group_left ()"
    text = f"{left.inside(Binding.ADD)} * on ({', '.join(keys)}) {group} {unique}"
    labels = None if left.labels is None else left.labels | frozenset(taken)
    return Vector(text, labels, Binding.MULTIPLY, left.series + facts.series)


def on(left: Vector, operator: str, right: Vector, labels: Iterable[str], *, many: str = "") -> Vector:
    """A calculation between vectors that match on some labels only.

    Args:
        left: left operand.
        operator: ``+``, ``-``, ``*`` or ``/``.
        right: right operand.
        labels: labels to match on.
        many: ``left`` or ``right`` where that side has several series for one of the other, and keeps its labels.

    Raises:
        QueryError: one of the sides lacks a label, or the operator is none of those.
    """
    if operator not in ("+", "-", "*", "/"):
        raise QueryError(f"{operator!r} is no calculation")
    keys = check_labels(labels, left, "on")
    check_labels(keys, right, "on")
    binding = Binding.ADD if operator in "+-" else Binding.MULTIPLY
    group = f" group_{many} ()" if many else ""
    text = f"{left.inside(Binding(binding - 1))} {operator} on ({', '.join(keys)}){group} {right.inside(binding)}"
    kept = {"left": left.labels, "right": right.labels}.get(many, frozenset(keys))
    return Vector(text, kept, binding, left.series + right.series)


def ratio(part: Vector, whole: Vector, *, on: Iterable[str] | None = None, many: str = "") -> Vector:
    """A share. Where the whole is 0 there is no share, and no sample: never a NaN.

    Both sides must carry the same labels, unless ``on`` names those to match on.

    Raises:
        QueryError: the labels differ.
    """
    guarded = whole.compare(">", 0)
    if on is not None:
        keys = check_labels(on, part, "ratio on")
        check_labels(keys, whole, "ratio on")
        group = f" group_{many} ()" if many else ""
        text = f"{part.inside(Binding.ADD)} / on ({', '.join(keys)}){group} ({guarded.text})"
        kept = {"left": part.labels, "right": whole.labels}.get(many, frozenset(keys))
        return Vector(text, kept, Binding.MULTIPLY, part.series + whole.series)
    if part.labels is not None and whole.labels is not None and part.labels != whole.labels:
        raise QueryError(
            f"a share of unequal labels: {', '.join(sorted(part.labels))} and {', '.join(sorted(whole.labels))}"
        )
    text = f"{part.inside(Binding.ADD)} / ({guarded.text})"
    return Vector(text, part.labels, Binding.MULTIPLY, part.series + whole.series)


def with_zero(part: Vector, like: Vector) -> Vector:
    """The part, and 0 for every label set of ``like`` that the part lacks: nothing happened, yet it could have.

    ``or vector(0)`` would not do: it has other labels, and a share of it is empty just when all is well.

    Raises:
        QueryError: the labels differ.
    """
    if part.labels is not None and like.labels is not None and part.labels != like.labels:
        raise QueryError(
            f"zeros of unequal labels: {', '.join(sorted(part.labels))} and {', '.join(sorted(like.labels))}"
        )
    return part.or_(like * 0)


def first_of(*candidates: Vector, on: Iterable[str] | None = None) -> Vector:
    """For each label set the first of the candidates that has it.

    Raises:
        QueryError: no candidate is given.
    """
    if not candidates:
        raise QueryError("first_of wants a candidate")
    keys = None if on is None else tuple(on)
    result = candidates[0]
    for candidate in candidates[1:]:
        result = result.or_(candidate, on=keys)
    return result


def one_of(inner: Vector, *by: str) -> Vector:
    """One series for each combination of these labels, with all labels that it has: where two of them disagree.

    Raises:
        QueryError: the operand lacks one of the labels.
    """
    keys = check_labels(by, inner, "one_of")
    return Vector(f"topk by ({', '.join(keys)}) (1, {inner.text})", inner.labels, series=inner.series)
