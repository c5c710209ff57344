"""Signals that arrive while a simulated function runs.

Python runs a signal handler between two of its instructions: with a real library that is after the call, here it may be
inside it, where ctypes swallows what the handler raises. So the call is finished first, and the exception raised again
right behind it. Where even that comes too late, on the first instruction of a callback, the call fails with some code,
and ``watch`` raises the exception again.
"""

import ctypes
import sys
import threading
from typing import Any

__all__ = ["INTERRUPTS", "raise_soon", "unwatch", "watch"]

INTERRUPTS = (KeyboardInterrupt, SystemExit)
"""What handlers of SIGINT and SIGTERM raise."""

_SOON_S = 0.005
_default = sys.unraisablehook


def raise_soon(error: BaseException) -> None:
    """Raises an exception of this kind in this thread once the call that it interrupted is over."""
    timer = threading.Timer(_SOON_S, _raise, (threading.get_ident(), type(error)))
    timer.daemon = True
    timer.start()


def watch() -> None:
    """Raises again what ctypes swallows from now on."""
    sys.unraisablehook = _unraisable


def unwatch() -> None:
    """Ends ``watch``; harmless without it."""
    if sys.unraisablehook is _unraisable:
        sys.unraisablehook = _default


def _unraisable(found: Any) -> None:
    if isinstance(found.exc_value, INTERRUPTS) and "ctypes callback" in (found.err_msg or ""):
        raise_soon(found.exc_value)
    else:
        _default(found)


def _raise(thread: int, kind: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
