"""Which sources are there, and how fresh: the Data health row of every board."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge

__all__ = ["AGE", "PRESENT", "TARGETS"]

PRESENT = gauge(
    "source:present:bool", "cluster", "source", meaning="1 while a source gives any series; absent sources have none."
)
TARGETS = gauge("source:targets:count", "cluster", "source", "state", meaning="Scrape targets of a source: up, down.")
AGE = gauge(
    "source:age_seconds:max",
    "cluster",
    "source",
    unit=Unit.SECONDS,
    meaning="Age of its oldest sample, as the rules saw it.",
)
