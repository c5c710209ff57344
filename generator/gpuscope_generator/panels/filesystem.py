"""The head of the board about file systems: how full, how long still, who reads and writes, what is not mounted."""

from __future__ import annotations

from gpuscope_generator.normalized import filesystem
from gpuscope_generator.panels.filesystem_choice import filesystem_links, of_filesystems
from gpuscope_generator.panels.variables import IN_CLUSTER
from gpuscope_generator.promql import Vector, max_by, min_by, predict_linear, ratio, select, sum_by
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import (
    Cell,
    Explanation,
    LabelColumn,
    Query,
    Stat,
    Table,
    Thresholds,
    Unit,
    ValueColumn,
    palette,
)

__all__ = [
    "LEAST_HISTORY",
    "filesystems",
    "fullest",
    "mounts_down",
    "throughput_now",
    "time_until_full",
    "until_full",
    "used_colors",
    "used_share",
]

_KEYS = filesystem.FILESYSTEM
_DAY_S = 86_400
_WINDOW = "6h"
LEAST_HISTORY = "10m"
"""A forecast from less would mean nothing."""
_SPACE = "the gpuscope agent, node-exporter, an exporter of Lustre or GPFS, or FSx through YACE."
_FORECAST = Thresholds(base=palette.BAD, steps=((2 * _DAY_S, palette.WARN), (7 * _DAY_S, palette.OK)))


def used_colors(settings: Settings) -> Thresholds:
    """Colors of a used share, with the numbers that the alerts have."""
    limits = settings.thresholds
    return Thresholds(
        base=palette.OK,
        steps=((limits.storage_high_ratio, palette.WARN), (limits.storage_critical_ratio, palette.BAD)),
    )


def used_share() -> Vector:
    """Used share of the chosen file systems."""
    used, size = (max_by(of_filesystems(series), *_KEYS) for series in (filesystem.USED, filesystem.SIZE))
    return ratio(used, size)


def until_full() -> Vector:
    """Seconds until no space is left, if it goes on as in the last hours; of what does not fill there is none."""
    free = select(filesystem.AVAILABLE, IN_CLUSTER)
    lost = predict_linear(free, _WINDOW, 0) - predict_linear(free, _WINDOW, _DAY_S)
    known = max_by(lost, *_KEYS).and_(max_by(free.offset(LEAST_HISTORY), *_KEYS), on=_KEYS)
    return ratio(min_by(of_filesystems(filesystem.AVAILABLE), *_KEYS), known) * _DAY_S


def fullest(settings: Settings) -> Stat:
    """The fullest of the chosen file systems."""
    return Stat(
        key="fullest",
        title="Fullest file system",
        explanation=Explanation(
            shows="Used share of the fullest of the chosen file systems that nodes share.",
            source=_SPACE,
            good="Below the colored limits; Lustre is slow long before it is full.",
            do="See which one it is in the table below; delete old checkpoints, or make it larger.",
        ),
        queries=(Query(expression=max_by(used_share(), "cluster"), legend="{{cluster}}"),),
        unit=Unit.RATIO,
        width=6,
        low=0,
        high=1,
        thresholds=used_colors(settings),
        no_value="No shared file system is known: see Data health",
    )


def time_until_full() -> Stat:
    """When the first of them is full."""
    return Stat(
        key="time_until_full",
        title="First is full in",
        explanation=Explanation(
            shows="Time until the first of the chosen file systems has no space left, if all goes on as in the last "
            "six hours (a straight line through the free space).",
            source=_SPACE,
            good="Weeks, or nothing: a file system that does not fill has no such time.",
            do="Find who writes in the row Clients, and make room before checkpoints fail.",
        ),
        queries=(Query(expression=min_by(until_full(), "cluster"), legend="{{cluster}}"),),
        unit=Unit.SECONDS,
        width=6,
        decimals=1,
        thresholds=_FORECAST,
        no_value="None fills, or less than ten minutes are known",
    )


def throughput_now() -> Stat:
    """Reading and writing of all of them."""
    moved = sum_by(of_filesystems(filesystem.BYTES), "cluster", "direction")
    return Stat(
        key="throughput_now",
        title="Read and written",
        explanation=Explanation(
            shows="Bytes a second that clients read from and write to the chosen file systems, summed.",
            source="counters of the clients (the gpuscope agent, exporters of Lustre and GPFS, node-exporter with "
            "mountstats); of FSx without known clients sums of CloudWatch, divided by their period.",
            good="It follows your jobs: reading while they load data, writing while they save checkpoints.",
            do="Low while GPUs wait: look at latency and at the servers. High: see who it is in the row Clients.",
        ),
        queries=(Query(expression=moved, legend="{{direction}}"),),
        unit=Unit.BYTES_PER_SECOND,
        width=6,
        no_value="Unknown: no client tells its traffic",
    )


def mounts_down() -> Stat:
    """Mounts that do not answer."""
    return Stat(
        key="mounts_down",
        title="Mounts that do not answer",
        explanation=Explanation(
            shows="Nodes, counted for each of the chosen file systems, on which the mount hangs, fails or is missing.",
            source="the gpuscope agent, which asks each mount with a time-out; else node-exporter.",
            good="0.",
            do="Open the row Mounts: it names the nodes and the reasons. Processes that touch such a mount hang.",
        ),
        queries=(
            Query(expression=sum_by(of_filesystems(filesystem.MOUNTS, state="down"), "cluster"), legend="{{cluster}}"),
        ),
        unit=Unit.COUNT,
        width=6,
        thresholds=Thresholds(base=palette.OK, steps=((1, palette.BAD),)),
        no_value="Unknown: neither the gpuscope agent nor node-exporter watches mounts",
    )


def filesystems(settings: Settings) -> Table:
    """One row a file system."""

    def moved(direction: str) -> Vector:
        return sum_by(of_filesystems(filesystem.BYTES, direction=direction), *_KEYS)

    def mounts(state: str) -> Vector:
        return sum_by(of_filesystems(filesystem.MOUNTS, state=state), *_KEYS)

    return Table(
        key="filesystems",
        title="File systems",
        explanation=Explanation(
            shows="Every chosen file system: how full, when full, what clients read and write, and on how many nodes "
            "it is mounted. Local ones, such as scratch disks, have a row with their mounts only: their space is in "
            "the row Capacity, by node.",
            source=_SPACE,
            good="Room left, no mount down.",
            do="Choose one by its name: the whole board then shows that one.",
        ),
        columns=(
            LabelColumn(label="cluster", title="Cluster"),
            LabelColumn(label="filesystem", title="File system", links=filesystem_links()),
            ValueColumn(
                title="Used",
                expression=used_share(),
                unit=Unit.RATIO,
                cell=Cell.BAR,
                low=0,
                high=1,
                thresholds=used_colors(settings),
            ),
            ValueColumn(
                title="Size", expression=max_by(of_filesystems(filesystem.SIZE), *_KEYS), unit=Unit.BYTES, decimals=1
            ),
            ValueColumn(
                title="Free",
                expression=min_by(of_filesystems(filesystem.AVAILABLE), *_KEYS),
                unit=Unit.BYTES,
                decimals=1,
            ),
            ValueColumn(
                title="Full in",
                expression=until_full(),
                unit=Unit.SECONDS,
                decimals=1,
                cell=Cell.COLORED_TEXT,
                thresholds=_FORECAST,
            ),
            ValueColumn(title="Read", expression=moved("read"), unit=Unit.BYTES_PER_SECOND, decimals=1),
            ValueColumn(title="Written", expression=moved("write"), unit=Unit.BYTES_PER_SECOND, decimals=1),
            ValueColumn(title="Nodes", expression=mounts("up"), unit=Unit.COUNT),
            ValueColumn(
                title="Down",
                expression=mounts("down"),
                unit=Unit.COUNT,
                cell=Cell.COLORED_TEXT,
                thresholds=Thresholds(base=palette.OK, steps=((1, palette.BAD),)),
            ),
        ),
        sort_by="Used",
        no_value="No file system is known: see Data health",
    )
