"""Settings of the agent: flags, environment, file; checked completely before anything starts."""

from gpuscope.config.load import Loaded, load
from gpuscope.config.settings import OPTIONS, AgentSettings, Option

__all__ = ["OPTIONS", "AgentSettings", "Loaded", "Option", "load"]
