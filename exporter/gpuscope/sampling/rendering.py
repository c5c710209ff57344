"""How the readings of the GPUs become text: the plain way, and the contract for any other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.nvml.identity import DriverStatus
from gpuscope.sampling.exposition import Blocks, render_blocks
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.sampler import Readings
from gpuscope.sampling.snapshot import GpuStatus

__all__ = ["Device", "Rendered", "Rendering", "plain"]


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU to render.

    Attributes:
        status: what is known about it.
        verdict: the agent's judgement and the GPU's faults; there also while the GPU is down.
        readings: what its collectors read; empty while it is down.
    """

    status: GpuStatus
    verdict: tuple[Sample, ...]
    readings: Mapping[tuple[str, Tier], Readings] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rendered:
    """Finished text.

    Attributes:
        blocks: lines of our own metrics.
        foreign: families that the catalogue does not know, as classic text and as OpenMetrics without its end mark.
        foreign_series: number of series in ``foreign``.
    """

    blocks: list[Blocks]
    foreign: tuple[str, str] = ("", "")
    foreign_series: int = 0


class Rendering(Protocol):
    """Renders all GPUs for one snapshot; called in the publisher's thread only."""

    def __call__(
        self, options: SamplingOptions, driver: DriverStatus, devices: Sequence[Device], node: Sequence[Sample], /
    ) -> Rendered:
        """Makes the text.

        Args:
            options: settings.
            driver: the driver's state.
            devices: the GPUs, in the order in which they shall stand.
            node: the series without a GPU.
        """


def plain(
    _options: SamplingOptions, _driver: DriverStatus, devices: Sequence[Device], _node: Sequence[Sample]
) -> Rendered:
    """Our own metrics as the collectors rendered them."""
    blocks: list[Blocks] = []
    for device in devices:
        blocks.append(render_blocks(device.verdict))
        blocks += [reading.blocks for reading in device.readings.values()]
    return Rendered(blocks)
