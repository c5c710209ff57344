"""Who watches the watchers: exporters on nodes, checks that are late or cannot tell, schedulers, and our own rules."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.normalized.node import NODE
from gpuscope_generator.promql import gauge, info

__all__ = [
    "ALERTS_BEGUN",
    "CHECK_AGE",
    "CHECK_UNKNOWN",
    "EXPORTER",
    "EXPORTERS",
    "RULE_FAILURES",
    "RULE_MISSES",
    "SCHEDULER_UP",
]

EXPORTER = info(
    "node:gpu_exporter:union",
    *NODE,
    "source",
    "job",
    "instance",
    meaning="An exporter of GPUs on a node, as long as it tells anything.",
)
EXPORTERS = gauge(
    "node:gpu_exporters:count",
    *NODE,
    "state",
    meaning="Exporters of GPUs on a node: up, and down. A node that has GPUs and that no exporter tells of has one down, "
    "where other nodes of the cluster are told of.",
)
CHECK_AGE = gauge(
    "node:check_age_seconds:max",
    *NODE,
    "check",
    unit=Unit.SECONDS,
    meaning="Time since a check of our agent last succeeded on all its GPUs; without a node for the collector's.",
)
CHECK_UNKNOWN = gauge(
    "node:check_unknown:bool",
    *NODE,
    "check",
    meaning="1 while a check of our agent cannot tell whether all is well; only while it is so.",
)
SCHEDULER_UP = gauge(
    "cluster:scheduler_up:bool",
    "cluster",
    "scheduler",
    meaning="1 while a scheduler answers our collector, or while a controller of jobs answers its scrape; 0 while not.",
)
RULE_FAILURES = gauge(
    "cluster:rule_failures:increase10m",
    "cluster",
    "group",
    meaning="Evaluations of our rules that failed within ten minutes, as the server that evaluates them counts; only "
    "while there are any.",
)
RULE_MISSES = gauge(
    "cluster:rule_misses:increase10m",
    "cluster",
    "group",
    meaning="Evaluations of our groups of rules that were left out within ten minutes, as the one before was not done.",
)
ALERTS_BEGUN = gauge(
    "cluster:alerts_begun:count",
    "cluster",
    "what",
    "team",
    meaning="Alerts of ours that began to fire since the last look, a slow interval ago: pages, and warnings; only where "
    "any did.",
)
