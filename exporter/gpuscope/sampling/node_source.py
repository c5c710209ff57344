"""What publishes series of the machine as a whole, beside the workers that sample its GPUs."""

from typing import Protocol

from gpuscope.catalogue.metric import Sample

__all__ = ["NodeSource"]


class NodeSource(Protocol):
    """A subject of the whole machine. It reads in daemon threads of its own, so that what hangs hangs alone.

    Attributes:
        name: the subject: its catalogue module and the flag ``--collector.<name>``.
    """

    name: str

    def start(self) -> None:
        """Starts reading; returns at once."""

    def stop(self) -> None:
        """Ends reading, within half a second, whatever hangs."""

    def samples(self) -> tuple[Sample, ...]:
        """What was read last; answers at once, from memory."""
