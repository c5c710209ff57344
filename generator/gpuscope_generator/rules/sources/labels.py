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
    joined = label_join(inner, target, ";", *sources)
    return label_replace(joined, target, "$1", target, ";*([^;]*).*")


def labelled(inner: Vector, **values: str) -> Vector:
    """Sets labels to fixed values; an empty value takes the label away, and still counts as carried."""
    result = inner
    for name, value in values.items():
        result = label_replace(result, name, value, name, ".*")
    return result
