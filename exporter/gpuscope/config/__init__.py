"""Settings of agent and collector: flags, environment, file; checked completely before anything starts."""

from gpuscope.config.collector import COLLECTOR_OPTIONS
from gpuscope.config.load import BY_KEY, Loaded, load
from gpuscope.config.option import Option, Type
from gpuscope.config.settings import OPTIONS, Settings

__all__ = ["BY_KEY", "COLLECTOR_OPTIONS", "OPTIONS", "Loaded", "Option", "Settings", "Type", "load"]
