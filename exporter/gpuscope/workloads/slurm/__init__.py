"""Slurm, read through its own commands: jobs, their attempts, and nodes; see ``docs/collector-slurm.md``."""

from gpuscope.workloads.slurm.source import SlurmSource

__all__ = ["SlurmSource"]
