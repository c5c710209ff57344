"""What a metric is: name, type, unit, labels and where its value comes from, as data.

The catalogue is the single source of truth: the agent, ``docs/metrics.md``, the generator and the tests read it.
Standard library only.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple

__all__ = ["Kind", "Level", "Metric", "MigBehaviour", "Sample", "Tier", "Unit"]


class Kind(StrEnum):
    """How the value behaves over time."""

    GAUGE = "gauge"
    COUNTER = "counter"
    INFO = "info"  # constant 1, the facts are in the labels
    STATE_SET = "stateset"  # one series per state, exactly one of them 1
    HISTOGRAM = "histogram"  # counts of observations up to each bound, with their sum and number


class Unit(StrEnum):
    """Base units; the metric name ends in this word (before ``_total``)."""

    NONE = ""
    BYTES = "bytes"
    BYTES_PER_SECOND = "bytes_per_second"
    CELSIUS = "celsius"
    HERTZ = "hertz"
    JOULES = "joules"
    RATIO = "ratio"
    ROTATIONS_PER_MINUTE = "rpm"
    SECONDS = "seconds"
    WATTS = "watts"


class Level(StrEnum):
    """What one series describes; it decides the first labels."""

    GPU = "gpu"
    MIG = "mig"
    DEVICE = "device"  # a GPU, or the MIG instance that mig_uuid names, in one family
    NODE = "node"


class Tier(StrEnum):
    """How often a metric is sampled (the intervals are settings of the agent)."""

    STATIC = "static"  # at discovery and when the hardware changes
    FAST = "fast"  # 5 s
    ACTIVITY = "activity"  # 10 s: GPM windows
    PROCESSES = "processes"  # 15 s
    SLOW = "slow"  # 60 s
    ATTRIBUTION = "attribution"  # 10 s
    FILESYSTEM = "filesystem"  # 15 s
    EVENT = "event"  # when it happens
    SELF = "self"  # about the agent itself, every cycle


class MigBehaviour(StrEnum):
    """What happens to the value while MIG mode is on."""

    INSTANCE = "per MIG instance"
    PARENT = "whole GPU only, also while MIG is on"
    BOTH = "whole GPU and per MIG instance"
    BLOCKED = "absent while MIG is on"
    NOT_APPLICABLE = "not applicable"


_LEVEL_LABELS: dict[Level, tuple[str, ...]] = {
    Level.GPU: ("gpu", "uuid"),
    Level.MIG: ("gpu", "uuid", "mig_uuid", "gi", "profile"),
    Level.DEVICE: ("gpu", "uuid", "mig_uuid"),
    Level.NODE: (),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """One metric family; compared and hashed by identity, as each exists once.

    Attributes:
        name: full public name, counters with ``_total``.
        kind: type.
        level: what a series describes.
        help: one sentence for the exposition, with the meaning and not the name again.
        tier: sampling tier.
        extra: label names behind the level's own (``gpu, uuid``, ``gpu, uuid, mig_uuid`` or ``gpu, uuid, mig_uuid, gi, profile``).
        unit: base unit.
        source: the NVML call or field, or the file, that the value comes from.
        smi: the ``nvidia-smi --query-gpu`` fields that show the same fact, with commas between them.
        mig: behaviour while MIG is on.
        dcgm: classic DCGM field names that carry the same fact, without the ``DCGM_FI_`` prefix.
        dcgm46: names since DCGM 4.6: empty when none changed; else one for each of ``dcgm``, in order, and after them
            fields that are new in 4.6.
        dcgm_labels: PromQL matchers that pick our series for each of ``dcgm_pairs``, in order; empty when one DCGM
            field stands for the family as a whole.
        dcgm_note: how a DCGM value is turned into ours (``/100``, ``x1048576``, ``decode`` …).
        states: the values of the last extra label of a state set.
        buckets: upper bounds of a histogram, rising; the infinite one is added.
        values: for each label in ``extra``, all values that it can have; empty where they are not known beforehand.
        low: smallest plausible value; a smaller one is dropped and counted.
        high: largest plausible value; a larger one is dropped and counted.
        default: published without a flag.
        note: what a reader must know before using the number.
    """

    name: str
    kind: Kind
    level: Level
    help: str
    tier: Tier
    extra: tuple[str, ...] = ()
    unit: Unit = Unit.NONE
    source: str = ""
    smi: str = ""
    mig: MigBehaviour = MigBehaviour.NOT_APPLICABLE
    dcgm: tuple[str, ...] = ()
    dcgm46: tuple[str, ...] = ()
    dcgm_labels: tuple[str, ...] = ()
    dcgm_note: str = ""
    states: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    low: float = 0.0
    high: float = float("inf")
    default: bool = True
    note: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """All label names in the order in which a sample gives their values."""
        return _LEVEL_LABELS[self.level] + self.extra

    @property
    def closed_labels(self) -> dict[str, tuple[str, ...]]:
        """The labels whose values are known beforehand, with these values."""
        values = dict(zip(self.extra, self.values, strict=True)) if self.values else {}
        if self.states:
            values[self.extra[-1]] = self.states
        return {label: known for label, known in values.items() if known}

    @property
    def parts(self) -> tuple[str, ...]:
        """What a sample of a histogram gives behind the labels: an upper bound as text, ``count`` or ``sum``."""
        if self.kind is not Kind.HISTOGRAM:
            return ()
        return (*(repr(float(bound)) for bound in self.buckets), "+Inf", "count", "sum")

    @property
    def dcgm_pairs(self) -> tuple[tuple[str, str], ...]:
        """DCGM names of the same fact as (before 4.6, since 4.6); the first is empty for a field new in 4.6."""
        current = self.dcgm46 or self.dcgm
        return tuple(zip_longest(self.dcgm, current, fillvalue=""))


class Sample(NamedTuple):
    """One measured value: ``labels`` are the values for ``metric.labels``, in that order.

    Those of a histogram have one of ``metric.parts`` behind them.
    """

    metric: Metric
    labels: tuple[str, ...]
    value: float
