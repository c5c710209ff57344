"""Lines of many objects, made anew only for those that changed since the last time."""

from collections.abc import Callable, Hashable, Iterable

from gpuscope.catalogue.metric import Metric, Sample
from gpuscope.sampling.exposition import Blocks, render_blocks

__all__ = ["Rendering"]


class Rendering:
    """Order of use: ``add`` and ``keep`` for everything that is there, then ``finish``, again and again.

    A cluster of 2,000 jobs, 10,000 pods and 1,250 nodes has 47,000 series, and between two looks little of it changes.
    """

    def __init__(self) -> None:
        self._before: dict[Hashable, tuple[Hashable, tuple[tuple[Metric, str], ...]]] = {}
        self._now: dict[Hashable, tuple[Hashable, tuple[tuple[Metric, str], ...]]] = {}
        self._lines: dict[Metric, list[str]] = {}

    def add(self, samples: Iterable[Sample]) -> None:
        """Adds samples that may be different each time."""
        for metric, text in render_blocks(samples).items():
            self._lines.setdefault(metric, []).append(text)

    def keep(self, key: Hashable, state: Hashable, samples: Callable[[], Iterable[Sample]]) -> None:
        """Adds the samples of one object.

        Args:
            key: which object.
            state: everything that the samples depend on.
            samples: makes them; called when the state is another than last time.
        """
        known = self._before.get(key)
        if known is None or known[0] != state:
            known = state, tuple(render_blocks(samples()).items())
        self._now[key] = known
        for metric, text in known[1]:
            self._lines.setdefault(metric, []).append(text)

    def finish(self) -> Blocks:
        """Everything that was added; objects that were not are forgotten."""
        lines, self._lines = self._lines, {}
        self._before, self._now = self._now, {}
        return {metric: "".join(parts) for metric, parts in lines.items()}
