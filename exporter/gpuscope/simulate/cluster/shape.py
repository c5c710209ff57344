"""What a simulated cluster is like: how many nodes, what is installed, and what goes wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Shape"]


@dataclass(frozen=True, slots=True)
class Shape:
    """A simulated cluster.

    Attributes:
        nodes: how many, where no fleet is given.
        fleet: scenario by node, instead of the default fleet.
        cluster: its name.
        seed: what everything random follows from; the default fleet's UUIDs follow from it and the node's name.
        ago: seconds for which counters have counted already.
        mig: whether some GPUs are cut into MIG instances.
        inference: whether models are served.
        faults: whether anything breaks.
        slurm: jobs of Slurm instead of pods.
        pace: how many times sooner jobs of the default fleet end and nodes of it break; clocks are not touched.
    """

    nodes: int = 8
    fleet: Mapping[str, str] = field(default_factory=dict)
    cluster: str = "sim"
    seed: str = ""
    ago: float = 21_600.0
    mig: bool = True
    inference: bool = True
    faults: bool = True
    slurm: bool = False
    pace: float = 1.0
