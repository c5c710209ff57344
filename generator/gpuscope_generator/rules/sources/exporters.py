"""Exporters of GPUs, node by node: which are there, and which should be and are not."""

from __future__ import annotations

from gpuscope_generator.external.sources import UP, source_named
from gpuscope_generator.normalized import node, watch
from gpuscope_generator.promql import (
    Vector,
    count_by,
    first_of,
    group_by,
    last_over_time,
    max_by,
    resampled,
    select,
    with_zero,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.settings import Settings

__all__ = ["exporter_rules"]

_NAMED_BY = {
    "gpuscope": (),
    "dcgm": ("node", "Hostname", "hostname"),
    "amd": ("node", "hostname"),
}
"""Exporters of GPUs, with the labels in which each names its node."""
_TARGET = ("cluster", "job", "instance")
_REMEMBERED = "1d"


def exporter_rules(settings: Settings) -> RuleFile:
    """Rules of the exporters on nodes."""
    return RuleFile(
        path="recording/exporters.yaml",
        comment="From scrape targets that tell of GPUs to the nodes that they are on; one that stops answering, or "
        "that is gone from a node with GPUs, is remembered for a day.",
        groups=(
            Group(
                "gpuscope-normalize-exporters",
                settings.intervals.aggregate,
                (*(_present(key, settings) for key in _NAMED_BY), *_counts(settings)),
            ),
        ),
    )


def _present(key: str, settings: Settings) -> Recording:
    found = first_of(*(of_source(marker, settings, key) for marker in source_named(key).markers))
    named = canonical(found, settings, node_from=_NAMED_BY[key])
    return recording(watch.EXPORTER, group_by(named, *node.NODE, "job", "instance"), source=key)


def _counts(settings: Settings) -> tuple[Recording, ...]:
    each = (*node.NODE, "job", "instance")
    now = group_by(select(watch.EXPORTER), *each)
    up = count_by(now, *node.NODE)
    silent = max_by(canonical(select(UP), settings), *_TARGET).compare("==", 0)
    lately = last_over_time(select(watch.EXPORTER), "15m")
    known = lately.or_(resampled("max_over_time", select(watch.EXPORTER), _REMEMBERED, "10m"))
    dead = count_by(group_by(known.and_(silent, on=_TARGET), *each), *node.NODE)
    down = first_of(dead, _gone(), on=node.NODE)
    return (
        recording(watch.EXPORTERS, up, state="up"),
        recording(watch.EXPORTERS, with_zero(down, up), state="down"),
    )


def _gone() -> Vector:
    """1 for a node that is there, has GPUs, and has no exporter: its pod was evicted, or never came."""
    promised = select(node.GPUS, state="expected").compare(">", 0)
    has_gpus = group_by(promised, *node.NODE).or_(group_by(select(node.COUNTED_MODEL), *node.NODE))
    alive = group_by(select(node.READY).compare("==", 1), *node.NODE).or_(group_by(select(node.INSTANCE), *node.NODE))
    told = group_by(select(watch.EXPORTER), "cluster")
    missed = has_gpus.and_(alive, on=node.NODE).and_(told, on=("cluster",))
    return missed.unless(select(watch.EXPORTER), on=node.NODE)
