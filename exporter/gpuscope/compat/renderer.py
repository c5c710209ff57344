"""The rendering that follows ``--compat`` and ``--pod-labels``."""

import logging
from collections.abc import Callable, Sequence

from gpuscope.catalogue.metric import Sample
from gpuscope.catalogue.xid import EVENT_WATCHER_UP, KERNEL_LOG_UP
from gpuscope.compat.dcgm import DcgmText
from gpuscope.compat.owner import NOBODY, Owners
from gpuscope.compat.pod_labels import PodLabels
from gpuscope.faults.xids import XidCatalogue
from gpuscope.nvml.identity import DriverStatus
from gpuscope.sampling.exposition import Blocks, render_blocks
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.rendering import Device, Rendered

__all__ = ["Renderer"]

log = logging.getLogger(__name__)


class Renderer:
    """Renders all GPUs for one snapshot; see ``gpuscope.sampling.rendering.Rendering``.

    Args:
        xids: meaning of each XID.
        owners: gives the allocation of this moment.

    Attributes:
        xids: may be exchanged at any time.
        owners: may be exchanged at any time.
    """

    def __init__(self, xids: XidCatalogue, owners: Callable[[], Owners] = lambda: NOBODY) -> None:
        self.xids = xids
        self.owners = owners
        self._pod_labels = PodLabels()
        self._dcgm = DcgmText()
        self._failures = 0

    def __call__(
        self, options: SamplingOptions, driver: DriverStatus, devices: Sequence[Device], node: Sequence[Sample], /
    ) -> Rendered:
        """Makes the text."""
        owners = self.owners()
        present = {device.status.identity.uuid for device in devices if device.readings}
        self._pod_labels.keep(present if options.pod_labels == "exclusive" else ())
        blocks: list[Blocks] = []
        for device in devices:
            blocks.append(render_blocks(device.verdict))
            if options.compat == "dcgm-only":
                continue
            if options.pod_labels == "exclusive":
                blocks += self._pod_labels.blocks(device, owners)
            else:
                blocks += [readings.blocks for readings in device.readings.values()]
        rendered = Rendered(blocks)
        if options.compat == "off":
            self._dcgm = DcgmText()
            return rendered
        try:
            text, series = self._dcgm.render(
                devices,
                owners,
                hostname=options.node,
                driver_version=driver.driver_version,
                xids_seen=any(metric in {EVENT_WATCHER_UP, KERNEL_LOG_UP} and value for metric, _, value in node),
                meaning=lambda code: self.xids.entry(code).meaning,
            )
        except Exception:  # the boundary: another exporter's names must not cost ours
            self._failures += 1
            if self._failures in {1, 10, 100} or self._failures % 1000 == 0:
                log.exception("dcgm-exporter's series could not be made")
            return rendered
        return Rendered(blocks, text, series)
