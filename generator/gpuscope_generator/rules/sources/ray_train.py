"""Ray Train and Ray Data: how long workers wait for checkpoints and for data."""

from __future__ import annotations

from gpuscope_generator.external import ray
from gpuscope_generator.normalized import training
from gpuscope_generator.promql import clamp, deriv, label_replace, max_by
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_source
from gpuscope_generator.settings import Settings

__all__ = ["ray_train_rules"]

SOURCE = "ray-train"
_NAMES = {"checkpoint": "ray_train_run_name", "data": "dataset"}


def ray_train_rules(settings: Settings) -> RuleFile:
    """Rules of Ray's metrics of training. Its totals are gauges: their slope is taken, and never their rate."""

    def waited(what: str) -> Recording:
        slope = clustered(deriv(of_source(ray.BLOCKED[what], settings, SOURCE), "5m"), settings)
        named = label_replace(slope, "workload", "$1", _NAMES[what], "(.*)")
        share = clamp(max_by(named, "cluster", "workload"), low=0, high=1)
        return recording(training.JOB_BLOCKED, share, what=what)

    return RuleFile(
        path="recording/ray-train.yaml",
        comment="From Ray Train and Ray Data to the share of time in which training waits.",
        groups=(
            Group(
                "gpuscope-normalize-ray-train",
                settings.intervals.normalize,
                (waited("checkpoint"), waited("data")),
            ),
        ),
    )
