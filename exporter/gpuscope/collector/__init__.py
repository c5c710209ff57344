"""The collector of a cluster: its parts put together."""

from gpuscope.collector.collector import Collector

__all__ = ["Collector"]
