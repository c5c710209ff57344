"""node-exporter: the ports of InfiniBand and RoCE adapters, and which of them are in use."""

from __future__ import annotations

from gpuscope_generator.external import infiniband as raw
from gpuscope_generator.normalized import port
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Vector,
    max_over_time,
    select,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import of_source
from gpuscope_generator.rules.sources.hosts import of_nodes, of_targets
from gpuscope_generator.rules.sources.node_exporter import SOURCE
from gpuscope_generator.settings import Settings

__all__ = ["port_rules"]

_MEMORY = "7d"
"""So long ago a port was active, and is expected to be."""


def port_rules(settings: Settings) -> RuleFile:
    """Rules of ports. What each hour was like is recorded every few minutes, so that a week of it is quickly read."""

    def read(series: Gauge | Counter) -> Vector:
        return of_nodes(of_targets(of_source(series, settings, SOURCE), settings, *raw.PORT), *raw.PORT)

    now = (
        recording(port.UP, read(raw.STATE).compare(">=", raw.ACTIVE, as_bool=True)),
        recording(port.RATE, read(raw.RATE)),
        recording(port.LINK_DOWNS, read(raw.LINK_DOWNS)),
        recording(port.ERRORS, read(raw.SYMBOL_ERRORS)),
    )
    return RuleFile(
        path="recording/ports.yaml",
        comment="From node-exporter's collector infiniband to ports, and which of them were in use within a week. "
        "Needs "
        "the nodes of recording/node-exporter.yaml.",
        groups=(
            Group("gpuscope-normalize-ports", settings.intervals.normalize, now),
            Group("gpuscope-ports-known", settings.intervals.slow, _known()),
        ),
    )


def _known() -> tuple[Recording, ...]:
    return (
        recording(port.RECENTLY_UP, max_over_time(select(port.UP), "1h")),
        recording(port.RECENT_RATE, max_over_time(select(port.RATE), "1h")),
        recording(port.EXPECTED, max_over_time(select(port.RECENTLY_UP), _MEMORY).compare("==", 1)),
        recording(port.BEST_RATE, max_over_time(select(port.RECENT_RATE), _MEMORY)),
    )
