"""NCCL's inspector: bandwidth and time of collective operations by GPU."""

from __future__ import annotations

from gpuscope_generator.external import nccl as raw
from gpuscope_generator.normalized import nccl
from gpuscope_generator.promql import Gauge, Vector, avg_by, label_replace, max_by, min_by, select
from gpuscope_generator.rules.model import Group, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import canonical, of_source
from gpuscope_generator.settings import Settings

__all__ = ["nccl_rules"]

SOURCE = "nccl"


def nccl_rules(settings: Settings) -> RuleFile:
    """Rules of the inspector's text files."""

    def read(series: Gauge) -> Vector:
        found = canonical(of_source(series, settings, SOURCE), settings, node_from=("exported_node",))
        index = label_replace(found, "gpu", "$1", "gpu", "(?:GPU)?([0-9]+)")
        across = label_replace(index, "span", "network", "n_nodes", ".*")
        return label_replace(across, "span", "node", "n_nodes", "1")

    return RuleFile(
        path="recording/nccl.yaml",
        comment="From NCCL's inspector plug-in, whose text files node-exporter reads, to collective operations by GPU.",
        groups=(
            Group(
                "gpuscope-normalize-nccl",
                settings.intervals.normalize,
                (
                    recording(nccl.BUS_BANDWIDTH, avg_by(read(raw.BUS_BANDWIDTH), *nccl.BUS_BANDWIDTH.labels) * 1e9),
                    recording(nccl.EXEC_SECONDS, max_by(read(raw.EXEC_TIME), *nccl.EXEC_SECONDS.labels) / 1e6),
                    recording(
                        nccl.NODE_BUS_BANDWIDTH,
                        min_by(select(nccl.BUS_BANDWIDTH), *nccl.NODE_BUS_BANDWIDTH.labels),
                    ),
                ),
            ),
        ),
    )
