"""Our own agent: mounts, what their clients do, and the Lustre client. Other sources yield to it by `told`."""

from __future__ import annotations

from gpuscope.catalogue import filesystem as ours
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.normalized import filesystem, mount
from gpuscope_generator.promql import (
    Gauge,
    Info,
    Matcher,
    Vector,
    clamp,
    group_by,
    label_replace,
    max_by,
    on,
    rate,
    select,
    sum_by,
)
from gpuscope_generator.rules.model import Group, Recording, RuleFile, recording
from gpuscope_generator.rules.sources.agent import Agent
from gpuscope_generator.rules.sources.canonical import clustered
from gpuscope_generator.rules.sources.lustre import lustre_client_rules
from gpuscope_generator.settings import Settings

__all__ = ["METADATA", "elsewhere_known", "filesystem_rules", "fsx_id", "told"]

METADATA = Matcher(
    "operation",
    "!~",
    "(?i)(read|write|commit|fsync|mmap|page_fault|page_mkwrite|l?seek|fallocate|(brw|osc)_(read|write))",
)
"""Operations other than those on data; reading a directory is one."""


def filesystem_rules(settings: Settings) -> RuleFile:
    """Rules that make normalized series of what the agent tells of file systems."""
    agent = Agent(settings)
    rules = (
        *_mounts(agent),
        *_work(agent),
        recording(filesystem.FSX, group_by(fsx_id(agent.named(agent.raw(ours.INFO))), *filesystem.FILESYSTEM, "id")),
        *lustre_client_rules(agent, sum_by(_speed(agent, ours.TIMEOUTS), *mount.ON_NODE)),
    )
    return RuleFile(
        path="recording/filesystem.yaml",
        comment="From the gpuscope agent to normalized series of mounts, file systems and Lustre targets.",
        groups=(Group("gpuscope-normalize-filesystem", settings.intervals.normalize, rules),),
    )


def told(settings: Settings, metric: Metric, *labels: str) -> Vector:
    """1 for what the agent tells itself: other sources are left out there.

    Args:
        settings: for the label of the cluster.
        metric: of the agent.
        labels: what identifies it, such as cluster, node and filesystem.
    """
    agent = Agent(settings)
    found = agent.presence(metric)
    return group_by(agent.named(found) if "node" in labels else clustered(found, settings), *labels)


def elsewhere_known(series: Gauge | Info) -> Vector:
    """What a source that knows the mount point says: those that do not are left out there.

    Only for sources whose own series have an empty mount point: they would yield to themselves.
    """
    return select(series, Matcher("mountpoint", "!=", ""))


def fsx_id(mounts: Vector) -> Vector:
    """Mounts of Amazon FSx for Lustre, with its id, from the address in ``source``."""
    named = label_replace(mounts, "id", "$1", "source", r"(fs-[0-9a-f]+)[.].+")
    return named.unless(label_replace(mounts, "id", "", "", ""))


def _mounts(agent: Agent) -> tuple[Recording, ...]:
    def level(metric: Metric) -> Vector:
        return max_by(agent.named(agent.raw(metric)), *mount.MOUNT)

    typed = label_replace(agent.named(agent.raw(ours.INFO)), "fs_type", "$1", "type", "(.*)")
    reasons = agent.named(agent.raw(ours.FAILURE_INFO))
    return (
        recording(mount.INFO, group_by(typed, *mount.MOUNT, "fs_type")),
        recording(mount.UP, level(ours.UP)),
        recording(mount.FAILURE, group_by(reasons, *mount.MOUNT, "reason")),
        recording(mount.READ_ONLY, level(ours.READ_ONLY)),
        recording(mount.SIZE, level(ours.SIZE)),
        recording(mount.USED, on(level(ours.SIZE), "-", level(ours.FREE), mount.MOUNT)),
        recording(mount.AVAILABLE, level(ours.AVAILABLE)),
        recording(mount.FILES, level(ours.FILES)),
        recording(mount.FILES_FREE, level(ours.FILES_FREE)),
        recording(mount.STATFS, level(ours.STATFS_DURATION)),
    )


def _speed(agent: Agent, metric: Metric, *labels: str, condition: Matcher | None = None) -> Vector:
    conditions = (condition,) if condition else ()
    each = agent.named(rate(agent.counter(metric, *conditions), "5m"))
    return max_by(each, *mount.MOUNT, *labels)


def _work(agent: Agent) -> tuple[Recording, ...]:
    def speed(metric: Metric, *labels: str) -> Vector:
        return _speed(agent, metric, *labels)

    def kind(name: str, condition: Matcher) -> Recording:
        each = _speed(agent, ours.OPERATIONS, "operation", condition=condition)
        return recording(mount.IO, sum_by(each, *mount.MOUNT), kind=name)

    operations = speed(ours.OPERATIONS, "operation")
    seconds = speed(ours.OPERATION_SECONDS, "operation")
    return (
        recording(mount.BYTES, speed(ours.READ_BYTES), direction="read"),
        recording(mount.BYTES, speed(ours.WRITE_BYTES), direction="write"),
        kind("read", Matcher("operation", "=", "read")),
        kind("write", Matcher("operation", "=", "write")),
        kind("metadata", METADATA),
        recording(filesystem.OPERATIONS, sum_by(operations, *filesystem.FILESYSTEM, "operation")),
        recording(filesystem.OPERATION_SECONDS, sum_by(seconds, *filesystem.FILESYSTEM, "operation")),
        recording(
            mount.EVENTS,
            sum_by(clamp(speed(ours.RETRANSMISSIONS), low=0), *mount.ON_NODE),
            event="retransmissions",
        ),
    )
