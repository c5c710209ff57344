"""What can be set about sampling."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpuscope.catalogue.metric import Tier

__all__ = ["DEFAULT_INTERVALS", "SamplingOptions"]

DEFAULT_INTERVALS: Mapping[Tier, float] = {
    Tier.FAST: 5.0,
    Tier.ACTIVITY: 10.0,
    Tier.PROCESSES: 15.0,
    Tier.SLOW: 60.0,
}


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """Settings of the sampler.

    Attributes:
        node: name of this machine.
        collectors: names of the collectors that run.
        intervals: seconds between cycles, per tier.
        deadline_s: a cycle that takes longer marks its GPU as ``timeout``.
        expected_gpus: GPUs that this machine should have; ``None`` to find out.
        procfs: root of the proc file system.
        version: version of gpuscope.
        revision: source revision, when known.
        simulated: scenario name when the driver is simulated, else empty.
        busy_from: share of the time in which a GPU or MIG device that counts as busy does work.
        compat: ``off``, or whose series come out as well: ``dcgm``; ``dcgm-only`` without our own readings.
        pod_labels: ``off``, or ``exclusive`` for the holder's labels on the readings of what one container holds.
    """

    node: str
    collectors: frozenset[str]
    intervals: Mapping[Tier, float] = field(default_factory=lambda: dict(DEFAULT_INTERVALS))
    deadline_s: float = 5.0
    expected_gpus: int | None = None
    procfs: Path = Path("/proc")
    version: str = ""
    revision: str = ""
    simulated: str = ""
    busy_from: float = 0.01
    compat: str = "off"
    pod_labels: str = "off"
