"""Variables that only boards about workloads have."""

from __future__ import annotations

from gpuscope_generator.normalized import gpu
from gpuscope_generator.panels.chosen import CHOSEN_PODS
from gpuscope_generator.promql import select
from gpuscope_generator.view import LabelValues

__all__ = ["HELD_GPU"]

HELD_GPU = LabelValues(name="gpu", label="GPU", selector=select(gpu.OWNER, *CHOSEN_PODS), values_of="gpu")
"""Indexes of the GPUs that the chosen pods hold."""
