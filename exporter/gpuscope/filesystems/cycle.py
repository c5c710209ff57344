"""A thread that reads something again and again, and what it read last for as long as that is fresh."""

import logging
import threading
import time
from collections.abc import Callable

from gpuscope.catalogue import agent as m
from gpuscope.catalogue.metric import Sample
from gpuscope.errors import SourceError

__all__ = ["Cycle"]

log = logging.getLogger(__name__)

_STOP_S = 0.3


class Cycle:
    """Calls ``read`` every ``interval_s`` in a daemon thread.

    While ``read`` hangs, its last answer is given for ``stale_s`` after it was due anew, and nothing after that.

    Whether the last call succeeded, and how long it took, is told as for every collector.

    Args:
        name: of the collector.
        read: gives all samples; may block. A SourceError is a failure that it has told of itself.
        interval_s: seconds between two calls.
        stale_s: see above.
    """

    def __init__(self, name: str, read: Callable[[], tuple[Sample, ...]], interval_s: float, stale_s: float) -> None:
        self._name = name
        self._read = read
        self._interval_s = interval_s
        self._fresh_s = interval_s + stale_s
        self._answer: tuple[Sample, ...] = ()
        self._ended = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Asks the thread to end, and waits for it, but not for long."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_S)

    def samples(self) -> tuple[Sample, ...]:
        """The last answer, or only that there is none while it is too old."""
        if self._ended and time.monotonic() - self._ended > self._fresh_s:
            return (Sample(m.COLLECTOR_SUCCESS, (self._name,), 0.0),)
        return self._answer

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            samples: tuple[Sample, ...] = ()
            success = False
            try:
                samples, success = self._read(), True
            except SourceError:
                pass
            except Exception:  # the boundary: one broken source costs that source
                log.exception("%s failed", self._name)
            self._ended = time.monotonic()
            self._answer = (
                *samples,
                Sample(m.COLLECTOR_SUCCESS, (self._name,), float(success)),
                Sample(m.COLLECTOR_DURATION, (self._name,), self._ended - began),
            )
            self._stop.wait(self._interval_s)
