"""The Cluster board: is the fleet healthy, and is it used?"""

from __future__ import annotations

from gpuscope_generator.panels import power
from gpuscope_generator.panels.variables import DATASOURCE, GPU, NODE, cluster_variable
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, Noun, Row

__all__ = ["cluster_board"]


def cluster_board(settings: Settings) -> Board:
    """The board for those who run the cluster."""
    return Board(
        noun=Noun.CLUSTER,
        title="GPU Cluster",
        description="Is the fleet healthy, is it used, and which node is to blame when not?",
        variables=(DATASOURCE, cluster_variable(), NODE, GPU),
        rows=(
            Row(title="", panels=(power.cluster_power(),)),
            Row(title="Power", panels=(power.node_power(),)),
        ),
    )
