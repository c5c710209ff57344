"""Node by node, what only whole fleets are asked for: state in words, free GPUs, faults of the last hour."""

from __future__ import annotations

from gpuscope_generator.normalized import fleet, gpu, node
from gpuscope_generator.promql import (
    Counter,
    Gauge,
    Vector,
    clamp,
    count_by,
    first_of,
    group_by,
    join,
    label_replace,
    max_by,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.events import of_a_day, risen
from gpuscope_generator.rules.sources.labels import labelled
from gpuscope_generator.settings import Settings

__all__ = ["fleet_rules"]


def fleet_rules(settings: Settings) -> RuleFile:
    """Rules of nodes that the cluster board reads."""
    holders = group_by(select(gpu.OWNER), *node.NODE, "namespace", "workload_kind", "workload")
    rules = (
        recording(fleet.STATUS, _status()),
        recording(fleet.FREE, _free()),
        recording(fleet.HOLDERS, count_by(holders, *node.NODE)),
        recording(fleet.XID_ERRORS_HOURLY, sum_by(select(node.XID_ERRORS_HOURLY), *node.NODE)),
        recording(fleet.XID_ERRORS_DAILY, of_a_day(select(fleet.XID_ERRORS_HOURLY))),
        _hourly(fleet.ECC_ERRORS_HOURLY, gpu.ECC_ERRORS, "severity"),
        _hourly(fleet.NVLINK_ERRORS_HOURLY, gpu.NVLINK_ERRORS, "type"),
        recording(fleet.NVLINK_BYTES, sum_by(select(gpu.NVLINK_BYTES), *node.NODE, "direction")),
    )
    return RuleFile(
        path="recording/level-fleet.yaml",
        comment="From normalized series to nodes: what the cluster board shows of each of them.",
        groups=(Group("gpuscope-level-fleet", settings.intervals.aggregate, rules),),
    )


def _status() -> Vector:
    """Every node that anybody tells of, with what is known of it."""
    keys = node.NODE
    states = max_by(select(node.STATE).compare("==", 1), *keys, "state")
    silent = labelled(group_by(states, *keys), pool="", instance_type="")
    every = first_of(group_by(select(node.INFO), *keys, "pool", "instance_type"), silent, on=keys)

    def words(found: Vector, label: str) -> Vector:
        """A fact of every node, empty where there is none: a join drops nodes without a partner."""
        bare = group_by(select(node.INFO), *keys).or_(group_by(states, *keys))
        return first_of(group_by(found, *keys, label), labelled(bare, **{label: ""}), on=keys)

    driver = label_replace(select(fleet.VERSION, component="driver"), "driver", "$1", "version", "(.*)")
    for found, label in ((states, "state"), (select(node.REASON), "reason"), (driver, "driver")):
        every = join(every, words(found, label), on=keys, take=(label,))
    return every


def _free() -> Vector:
    """By device where somebody tells who holds which; else what the scheduler leaves over."""
    whole = max_by(select(gpu.HEALTHY), *gpu.GPU).unless(select(gpu.MIG_MODE).compare("==", 1), on=gpu.GPU)
    held = max_by(select(gpu.ALLOCATED), *gpu.GPU)
    unheld = held.compare("==", 0, as_bool=True)
    by_device = sum_by(whole * unheld, *node.NODE)
    healthy = max_by(select(node.GPUS, state="healthy"), *node.NODE)
    left = clamp(healthy - max_by(select(node.GPUS, state="allocated"), *node.NODE), low=0).unless(held, on=node.NODE)
    kept_away = select(node.READY).compare("==", 0).or_(select(node.CORDONED).compare("==", 1))
    return first_of(by_device, left).unless(kept_away, on=node.NODE)


def _hourly(target: Gauge, counter: Counter, label: str) -> Recording:
    return recording(target, sum_by(risen(select(counter), "1h"), *node.NODE, label))
