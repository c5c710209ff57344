"""Time that passes only when nobody has anything left to do, so that a real agent lives a day within minutes.

The modules of gpuscope get clocks, waits and threads that follow this time; all other modules keep the machine's.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

__all__ = ["VirtualTime"]

_PATIENCE_S = 120.0
_OUTSIDE = ("gpuscope.api", "gpuscope.simulate.kubelet")
"""Parts that wait for sockets: they live in the machine's time."""


class _Waiter:
    """A thread that waits, until a moment or for ever."""

    def __init__(self, until: float | None) -> None:
        self.until = until
        self.gate = threading.Lock()
        self.gate.acquire()


class VirtualTime:
    """A clock, and the threads that follow it.

    Args:
        start: unix seconds at which it begins.
    """

    def __init__(self, start: float) -> None:
        self._now = start
        self._state = threading.Condition()
        self._waiting: set[_Waiter] = set()
        self._followers: set[int] = set()
        self._busy = 0

    def now(self) -> float:
        """Seconds, both as unix time and as monotonic time."""
        return self._now

    def govern(self) -> None:
        """Puts it in force in all modules of gpuscope that are imported."""
        clock, threads = _Clock(self), _Threads(self)
        replaced = {id(time.time): clock.time, id(time.monotonic): clock.monotonic}
        for name, module in list(sys.modules.items()):
            if not name.startswith("gpuscope.") or name.startswith(_OUTSIDE):
                continue
            if getattr(module, "time", None) is time:
                module.time = clock  # type: ignore[attr-defined]
            if getattr(module, "threading", None) is threading:
                module.threading = threads  # type: ignore[attr-defined]
            _replace_defaults(module, replaced)

    def advance(self, seconds: float) -> None:
        """Lets so much time pass; returns when all who follow it wait again.

        Raises:
            TimeoutError: some thread does not come to rest.
        """
        end = self._now + seconds
        while True:
            self._settle()
            with self._state:
                upcoming = min((one.until for one in self._waiting if one.until is not None), default=end)
                self._now = max(self._now, min(upcoming, end))
                for waiter in [one for one in self._waiting if one.until is not None and one.until <= self._now]:
                    self._release(waiter)
                if not self._busy and self._now >= end:
                    return

    def wait(self, enlist: Callable[[_Waiter], bool], timeout_s: float | None) -> _Waiter:
        """Blocks the calling thread until somebody releases it, or for so long.

        Args:
            enlist: makes the waiter known to whoever releases it; false: there is nothing to wait for.
            timeout_s: seconds; ``None`` for ever.

        Returns:
            What was made known.
        """
        follows = threading.get_ident() in self._followers
        waiter = _Waiter(None if timeout_s is None else self._now + max(0.0, timeout_s))
        with self._state:
            if not enlist(waiter):
                return waiter
            self._waiting.add(waiter)
            if follows:
                self._busy -= 1
                self._state.notify_all()
        waiter.gate.acquire()
        if not follows:
            with self._state:
                self._busy -= 1
                self._state.notify_all()
        return waiter

    def release(self, waiters: set[_Waiter]) -> None:
        """Lets threads go on."""
        with self._state:
            for waiter in waiters & self._waiting:
                self._release(waiter)

    def follow(self, run: Callable[[], None]) -> None:
        """Runs something in the calling thread, which follows this time; `expect` came before."""
        self._followers.add(threading.get_ident())
        try:
            run()
        finally:
            self._followers.discard(threading.get_ident())
            with self._state:
                self._busy -= 1
                self._state.notify_all()

    def expect(self) -> None:
        """Says that a thread is about to begin."""
        with self._state:
            self._busy += 1

    @property
    def lock(self) -> threading.Condition:
        """What guards everything that says whether a thread has to wait."""
        return self._state

    def _release(self, waiter: _Waiter) -> None:
        self._waiting.discard(waiter)
        self._busy += 1
        waiter.gate.release()

    def _settle(self) -> None:
        with self._state:
            if not self._state.wait_for(lambda: not self._busy, _PATIENCE_S):
                raise TimeoutError(f"{self._busy} threads do not come to rest: {threading.enumerate()}")


class _Clock:
    """Stands for the module ``time``."""

    def __init__(self, world: VirtualTime) -> None:
        self._world = world

    def time(self) -> float:
        return self._world.now()

    def monotonic(self) -> float:
        return self._world.now()

    def sleep(self, seconds: float) -> None:
        self._world.wait(lambda _: True, seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class _Threads:
    """Stands for the module ``threading``."""

    def __init__(self, world: VirtualTime) -> None:
        class Event:
            """An event whose wait follows the world's time."""

            def __init__(self) -> None:
                self._set = False
                self._waiters: set[_Waiter] = set()

            def is_set(self) -> bool:
                return self._set

            def set(self) -> None:
                with world.lock:
                    self._set = True
                    waiters, self._waiters = self._waiters, set()
                world.release(waiters)

            def clear(self) -> None:
                self._set = False

            def wait(self, timeout: float | None = None) -> bool:
                def enlist(waiter: _Waiter) -> bool:
                    if not self._set:
                        self._waiters.add(waiter)
                    return not self._set

                self._waiters.discard(world.wait(enlist, timeout))
                return self._set

        class Condition:
            """A condition whose wait follows the world's time."""

            def __init__(self) -> None:
                self._lock = threading.RLock()
                self._waiters: set[_Waiter] = set()

            def __enter__(self) -> None:
                self._lock.acquire()

            def __exit__(self, *_: object) -> None:
                self._lock.release()

            def notify_all(self) -> None:
                waiters, self._waiters = self._waiters, set()
                world.release(waiters)

            def wait(self, timeout: float | None = None) -> None:
                def enlist(waiter: _Waiter) -> bool:
                    self._waiters.add(waiter)
                    self._lock.release()
                    return True

                waiter = world.wait(enlist, timeout)
                self._lock.acquire()
                self._waiters.discard(waiter)

        class Thread(threading.Thread):
            """A thread that follows the world's time."""

            def start(self) -> None:
                world.expect()
                super().start()

            def run(self) -> None:
                world.follow(super().run)

        self.Event, self.Condition, self.Thread = Event, Condition, Thread

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)


def _replace_defaults(module: ModuleType, replaced: dict[int, Callable[[], float]]) -> None:
    for one in vars(module).values():
        functions = (
            [one] if isinstance(one, FunctionType) else list(vars(one).values()) if isinstance(one, type) else []
        )
        for function in functions:
            if not isinstance(function, FunctionType) or function.__module__ != module.__name__:
                continue
            if function.__defaults__:
                function.__defaults__ = tuple(replaced.get(id(value), value) for value in function.__defaults__)
            if function.__kwdefaults__:
                function.__kwdefaults__ = {
                    key: replaced.get(id(value), value) for key, value in function.__kwdefaults__.items()
                }
