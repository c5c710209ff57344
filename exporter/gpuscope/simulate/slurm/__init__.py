"""A simulated Slurm: its commands answer as those of release 22.05 do, on a cluster where things happen in minutes."""

from gpuscope.simulate.slurm.commands import SimulatedSlurm, SlurmPrograms

__all__ = ["SimulatedSlurm", "SlurmPrograms"]
