"""Settings of the agent: flags, environment, file; checked completely before anything starts."""

from gpuscope.config.collector import COLLECTOR_OPTIONS
from gpuscope.config.load import BY_KEY, Loaded, load
from gpuscope.config.option import Option, Type
from gpuscope.config.settings import OPTIONS, AgentSettings

__all__ = ["BY_KEY", "COLLECTOR_OPTIONS", "OPTIONS", "AgentSettings", "Loaded", "Option", "Type", "load"]
