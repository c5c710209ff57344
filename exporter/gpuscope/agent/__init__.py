"""The agent: driver, sampling, faults and HTTP put together, and its life as a process."""

from gpuscope.agent.agent import EXIT_STUCK, Agent
from gpuscope.agent.check import Checked, check

__all__ = ["EXIT_STUCK", "Agent", "Checked", "check"]
