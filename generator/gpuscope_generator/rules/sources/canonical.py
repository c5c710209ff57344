"""From the labels of any source to ours: which cluster, which node."""

from __future__ import annotations

from typing import TypeVar

from gpuscope_generator.promql import Matcher, Selector, Series, Vector, label_join, label_replace, matchers, select
from gpuscope_generator.settings import Settings

__all__ = ["canonical", "clustered", "of_object", "of_source"]

T = TypeVar("T", bound=Series)


def of_source(series: T, settings: Settings, source: str, *conditions: Matcher) -> Selector[T]:
    """A raw series of a source, with the conditions that the settings give for that source.

    Args:
        series: what to read.
        settings: for ``selectors``.
        source: name of the source in ``selectors``, such as ``dcgm``.
        conditions: more of them.
    """
    return select(series, *conditions).also(*matchers(settings.selectors.get(source, "")))


def canonical(inner: Vector, settings: Settings, *, node_from: tuple[str, ...] = ()) -> Vector:
    """Gives a raw vector the labels ``cluster`` and ``node``.

    The node is the first that is not empty of ``node_from``, ``node``, and the host of ``instance``.

    Args:
        inner: a selector, or a rate of one, with its own labels still there.
        settings: for ``cluster_label``.
        node_from: labels in which the source itself names the node, such as ``Hostname`` and ``hostname``.
    """
    sources = tuple(dict.fromkeys((*node_from, "node", "instance")))
    own = sources.index("node")
    # VictoriaMetrics writes the joined text over "node" while it reads it: only as the first part it stays whole.
    found = label_join(inner, "node", ";", *sources[own:])
    for label in reversed(sources[:own]):
        found = label_replace(found, "node", "$1", label, "(.+)")
    return clustered(label_replace(found, "node", "$1", "node", ";*([^;:]+).*"), settings)


def clustered(inner: Vector, settings: Settings) -> Vector:
    """Gives a raw vector the label ``cluster`` under whatever name the settings know it."""
    if settings.cluster_label == "cluster":
        return inner
    return label_replace(inner, "cluster", "$1", settings.cluster_label, "(.+)")


def of_object(inner: Vector, settings: Settings, *labels: str) -> Vector:
    """Gives a vector that describes Kubernetes objects its cluster, and the objects' own labels.

    Where a scrape does not honor labels, those of the object are called ``exported_…``, and the plain ones are of
    the exporter itself.

    Args:
        inner: a selector, or a rate of one.
        settings: for ``cluster_label``.
        labels: labels of the object, such as ``namespace`` and ``pod``.
    """
    for label in labels:
        inner = label_replace(inner, label, "$1", f"exported_{label}", "(.+)")
    return clustered(inner, settings)
