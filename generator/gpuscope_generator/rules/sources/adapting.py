"""What adapters of training jobs share: they fill the counters of jobs, and are silent where our collector looks."""

from __future__ import annotations

from gpuscope.catalogue import scheduler
from gpuscope_generator.promql import Counter, Matcher, Series, Vector, as_gauge, max_by, sum_by
from gpuscope_generator.rules.model import Recording, recording
from gpuscope_generator.rules.sources.canonical import clustered, of_object, of_source
from gpuscope_generator.settings import Settings

__all__ = ["Adapter", "followed"]


def followed(settings: Settings, name: str = "") -> Vector:
    """A sample for each cluster whose scheduler of that name, or any scheduler, our collector follows."""
    chosen = (Matcher("scheduler", "=", name),) if name else ()
    found = of_source(as_gauge(scheduler.SOURCE_UP), settings, "collector", *chosen)
    return max_by(clustered(found, settings), "cluster")


class Adapter:
    """Counters of one operator, in our words.

    Args:
        settings: of the rules.
        source: its key, for ``source`` and the selectors of the settings.
        kind: of the workloads that it counts; empty where these are of several kinds.
    """

    def __init__(self, settings: Settings, source: str, kind: str = "") -> None:
        self._settings = settings
        self._source = source
        self._fixed = {
            "source": source, "scheduler": "kubernetes", "team": "", "queue": "", "workload_kind": kind,
        }  # fmt: skip

    def read(self, series: Series, *conditions: Matcher, scheduler: str = "kubernetes") -> Vector:
        """Samples of the operator, with cluster and namespace, where our collector does not look.

        Args:
            series: what to read.
            conditions: on its labels.
            scheduler: where the collector follows it; empty: where it follows any.
        """
        found = of_source(series, self._settings, self._source, *conditions)
        objects = ("namespace",) if "namespace" in series.labels else ()
        named = of_object(found, self._settings, *objects)
        return named.unless(followed(self._settings, scheduler), on=("cluster",))

    def counted(self, target: Counter, found: Vector, **fixed: str) -> Recording:
        """A rule for a counter of jobs; labels that the operator does not tell are empty.

        Two scrapes of one operator are not added: of equal label sets the largest counts.
        """
        given = self._fixed | fixed
        own = [label for label in target.labels if label not in given and label in (found.labels or ())]
        empty = {label: "" for label in target.labels if label not in given and label not in own}
        return recording(target, sum_by(found, *own), **(empty | given))
