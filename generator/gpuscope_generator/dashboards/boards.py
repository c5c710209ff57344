"""Every board."""

from __future__ import annotations

from gpuscope_generator.dashboards.cluster import cluster_board
from gpuscope_generator.dashboards.filesystem import filesystem_board
from gpuscope_generator.dashboards.inference import inference_board
from gpuscope_generator.dashboards.partition import partition_board
from gpuscope_generator.dashboards.task import task_board
from gpuscope_generator.dashboards.training import training_board
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board

__all__ = ["BOARDS", "boards"]

BOARDS = (
    task_board,
    training_board,
    inference_board,
    cluster_board,
    filesystem_board,
    partition_board,
)
"""One function a board: settings in, board out."""


def boards(settings: Settings) -> tuple[Board, ...]:
    """All boards, in the order of the menu."""
    return tuple(make(settings) for make in BOARDS)
