"""The boards, one module each; panels that several boards show are in `gpuscope_generator.panels`."""

from gpuscope_generator.dashboards.boards import BOARDS, boards

__all__ = ["BOARDS", "boards"]
