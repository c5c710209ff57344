"""Labels of a raw vector under other names, and fixed ones."""

from __future__ import annotations

from gpuscope_generator.promql import Vector, label_join, label_replace

__all__ = ["first_label", "labelled"]


def first_label(inner: Vector, target: str, *sources: str) -> Vector:
    """Sets a label to the first of several that is not empty; where all are, it is not there.

    Values with a semicolon do not occur in the names of GPUs, pods and hosts that this is for.
    """
    if len(sources) == 1:
        return label_replace(inner, target, "$1", sources[0], "(.*)")
    # VictoriaMetrics writes the joined text over the target while it reads it: only as the first part it stays whole.
    own = sources.index(target) if target in sources else 0
    if len(sources) - own > 1:
        inner = label_join(inner, target, ";", *sources[own:])
        inner = label_replace(inner, target, "$1", target, ";*([^;]*).*")
    for label in reversed(sources[:own]):
        inner = label_replace(inner, target, "$1", label, "(.+)")
    return inner


def labelled(inner: Vector, **values: str) -> Vector:
    """Sets labels to fixed values; an empty value takes the label away, and still counts as carried."""
    result = inner
    for name, value in values.items():
        result = label_replace(result, name, value, name, ".*")
    return result
