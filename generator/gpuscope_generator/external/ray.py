"""Ray Train (v2) and Ray Data, names as of Ray 2.48 and newer. Both are cumulative, and published as gauges."""

from __future__ import annotations

from gpuscope_generator.promql import gauge

__all__ = ["BLOCKED"]

BLOCKED = {
    "checkpoint": gauge(
        "ray_train_report_total_blocked_time_s",
        "ray_train_run_name",
        "ray_train_run_id",
        "ray_train_worker_world_rank",
        source="ray-train",
    ),
    "data": gauge("ray_data_iter_total_blocked_seconds", "dataset", source="ray-train"),
}
"""Seconds in which a worker waited, by what for; the second names its data set only."""
