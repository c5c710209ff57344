"""The thread of one mount: asks it for its capacity, and is the only one that waits when it does not answer."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from gpuscope.filesystems.mountinfo import text
from gpuscope.filesystems.statfs import Capacity, failure_reason

__all__ = ["MountState", "MountWatch"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MountState:
    """What is known of a mount now.

    Attributes:
        up: ``None`` while the first answer is still due.
        reason: why not up; empty while it is.
        capacity: what statfs told, while up.
        seconds: how long the last statfs took, while up.
    """

    up: bool | None
    reason: str = ""
    capacity: Capacity | None = None
    seconds: float = 0.0


class MountWatch:
    """Asks one mount again and again, in a daemon thread of its own.

    While a call hangs there is no second one: the mount counts as down once the call is older than ``timeout_s``, and
    as up again when it returns.

    Args:
        path: where this process sees the file system.
        ask: the call that may block.
        timeout_s: how long a call may take.
        interval_s: seconds between two calls.

    Attributes:
        failures: failed calls by reason.
    """

    def __init__(self, path: bytes, ask: Callable[[bytes], Capacity], timeout_s: float, interval_s: float) -> None:
        self.path = path
        self.failures: Counter[str] = Counter()
        self._ask = ask
        self._timeout_s = timeout_s
        self._interval_s = interval_s
        self._last = MountState(up=None)
        self._busy_since: float | None = None
        self._counted: float | None = None
        self._told = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"mount {text(path)[:40]}", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def ask_stop(self) -> None:
        """Asks the thread to end after the running call."""
        self._stop.set()

    @property
    def alive(self) -> bool:
        """Whether the thread still runs, or hangs."""
        return self._thread.is_alive()

    def state(self) -> MountState:
        """What is known now; answers at once. For one caller at a time."""
        began, last = self._busy_since, self._last
        if began is not None and time.monotonic() - began > self._timeout_s:
            if self._counted != began:
                self._counted = began
                self.failures["timeout"] += 1
            last = MountState(up=False, reason="timeout")
        self._tell(last)
        return last

    def _tell(self, state: MountState) -> None:
        if state.up is None or state.reason == self._told:
            return
        self._told = state.reason
        if state.up:
            log.info("%s answers again", text(self.path))
        else:
            log.warning("%s does not answer: %s", text(self.path), state.reason)

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            self._busy_since = began
            state = self._once(began)
            self._last = state
            self._busy_since = None
            if state.reason:
                self.failures[state.reason] += 1
            self._stop.wait(self._interval_s)

    def _once(self, began: float) -> MountState:
        try:
            capacity = self._ask(self.path)
        except OSError as error:
            return MountState(up=False, reason=failure_reason(error))
        except Exception:  # the boundary: whatever a mount answers, the others go on
            log.exception("statfs of %s failed", text(self.path))
            return MountState(up=False, reason="error")
        return MountState(up=True, capacity=capacity, seconds=time.monotonic() - began)
