"""Which sources are there, how fresh they are, and what stands in their way: the Data health row of every board."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import gauge, info

__all__ = ["AGE", "FAILING_CALLS", "PRESENT", "PROBLEM", "TARGET", "TARGETS", "UNSUPPORTED"]

PRESENT = gauge(
    "source:present:bool", "cluster", "source", meaning="1 while a source gives any series; absent sources have none."
)
TARGET = info(
    "source:target:union", "cluster", "source", "job", "instance", meaning="A scrape target that is of a source."
)
TARGETS = gauge(
    "source:targets:count",
    "cluster",
    "source",
    "state",
    meaning="Scrape targets of a source: up, and down of those that answered within the last hour.",
)
AGE = gauge(
    "source:age_seconds:max",
    "cluster",
    "source",
    unit=Unit.SECONDS,
    meaning="Age of its oldest sample, as the rules saw it.",
)
PROBLEM = info(
    "source:problem:union",
    "cluster",
    "source",
    "node",
    "part",
    "reason",
    meaning="A part of our agent or collector that has no data, and why.",
)
FAILING_CALLS = gauge(
    "source:failing_calls:rate5m",
    "cluster",
    "call",
    "code",
    meaning="Calls of the driver that fail, a second, on all nodes.",
)
UNSUPPORTED = gauge(
    "source:unsupported:sum",
    "cluster",
    "call",
    meaning="GPUs and MIG instances on which the driver does not support a call.",
)
ATTRIBUTES = gauge(
    "source:attributes:bool",
    "cluster",
    "source",
    meaning="1 while a source names the owner of any GPU: then those without an owner are free, and not unknown.",
)
