"""Slurm, read through its own commands: jobs, their attempts, and nodes; see ``docs/collector-slurm.md``."""

from gpuscope.workloads.slurm.identity import KnownNumber
from gpuscope.workloads.slurm.source import SlurmSource

__all__ = ["KnownNumber", "SlurmSource"]
