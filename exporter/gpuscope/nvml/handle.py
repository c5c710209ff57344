"""One NVML device handle: asks it, converts, counts, and remembers what it cannot answer."""

import threading
import time
from collections.abc import Callable
from ctypes import ArgumentError
from typing import Any

import pynvml

from gpuscope.errors import DeviceLost, NotSupported, NvmlUnavailable
from gpuscope.nvml.ledger import Ledger
from gpuscope.nvml.library import code_name, device_error
from gpuscope.nvml.values import plain

__all__ = ["Handle"]

_RETRY_UNSUPPORTED_S = 600.0
_MISSING = object()
_functions: dict[str, Any] = {}
_functions_lock = threading.Lock()


def _function(call: str) -> Any | None:
    found = _functions.get(call, _MISSING)
    if found is _MISSING:
        with _functions_lock:
            found = _functions[call] = getattr(pynvml, call, None)
    return found


class Handle:
    """A GPU or a MIG device as NVML knows it.

    Every question is counted in ``ledger``. An answer "not supported" is remembered for ten minutes, so that the
    driver is not asked in vain; ``forget`` ends that, after a MIG change for example.

    Args:
        pointer: the binding's ``nvmlDevice_t``.
        uuid: the device's own UUID, for the ledger.
        ledger: where calls are counted.
        clock: monotonic seconds.
    """

    def __init__(self, pointer: Any, uuid: str, ledger: Ledger, clock: Callable[[], float] = time.monotonic) -> None:
        self.pointer = pointer
        self.uuid = uuid
        self.ledger = ledger
        self.clock = clock
        self._unsupported: dict[tuple[Any, ...], float] = {}

    def ask(self, call: str, *args: Any) -> Any | None:
        """Asks one question; ``None`` when it cannot be answered.

        Args:
            call: name of the binding's function, which gets this device first and then ``args``.

        Raises:
            DeviceLost: the GPU is gone.
            NvmlUnavailable: the driver is gone.
        """
        return self.attempt(call, lambda function: function(self.pointer, *args), key=args)

    def number(self, call: str, *args: Any, scale: float = 1.0) -> float | None:
        """Asks for one number and scales it to the base unit; ``BLANK`` for a sentinel, ``None`` for no answer.

        Raises:
            DeviceLost: the GPU is gone.
            NvmlUnavailable: the driver is gone.
        """
        value = self.ask(call, *args)
        return None if value is None else plain(value) * scale

    def text(self, call: str, *args: Any) -> str:
        """Asks for a text; an empty string for no answer."""
        value = self.ask(call, *args)
        return value.decode(errors="replace") if isinstance(value, bytes) else str("" if value is None else value)

    def attempt(
        self, call: str, run: Callable[[Any], Any], *, key: tuple[Any, ...] = (), absent: int | None = None
    ) -> Any | None:
        """Like ``ask`` for calls with other parameters: ``run`` gets the binding's function.

        Args:
            call: name of the binding's function.
            run: calls it and returns the answer.
            key: tells questions of the same call apart when support is remembered.
            absent: a return code that means "there is no such thing here" for this question.
        """
        slot = (call, *key)
        if slot in self._unsupported:
            if self.clock() < self._unsupported[slot]:
                return None
            del self._unsupported[slot]
        function = _function(call)
        if function is None:
            self._refuse(slot, call)
            return None
        started = time.perf_counter()
        try:
            return run(function)
        except pynvml.NVMLError as error:
            if error.value == absent:
                self._refuse(slot, call)
            else:
                self._failed(slot, call, error.value)
        except (TypeError, AttributeError, ArgumentError):  # a binding with other parameters or without the struct
            self._refuse(slot, call)
        finally:
            self.ledger.calls[call] += 1
            self.ledger.seconds[call] += time.perf_counter() - started
        return None

    def judge(self, call: str, code: int, *, key: tuple[Any, ...] = ()) -> None:
        """Treats a return code that came inside an answer (a field, a GPM metric) like that of a call.

        Raises:
            DeviceLost: the GPU is gone.
            NvmlUnavailable: the driver is gone.
        """
        self._failed((call, *key), call, code)

    def refuse(self, call: str, *, key: tuple[Any, ...] = ()) -> None:
        """Remembers that the question has no answer on this device for now."""
        self._refuse((call, *key), call)

    def supported(self, call: str, *, key: tuple[Any, ...] = ()) -> bool:
        """Whether the question is worth asking now."""
        return self.clock() >= self._unsupported.get((call, *key), 0.0)

    def forget(self) -> None:
        """Drops what is remembered about unsupported calls."""
        self._unsupported.clear()
        self.ledger.unsupported = {entry for entry in self.ledger.unsupported if entry[0] != self.uuid}

    def _failed(self, slot: tuple[Any, ...], call: str, code: int) -> None:
        error = device_error(call, code)
        if isinstance(error, NotSupported):
            self._refuse(slot, call)
            return
        self.ledger.errors[call, code_name(code)] += 1
        if isinstance(error, DeviceLost | NvmlUnavailable):
            raise error

    def _refuse(self, slot: tuple[Any, ...], call: str) -> None:
        self._unsupported[slot] = self.clock() + _RETRY_UNSUPPORTED_S
        self.ledger.unsupported.add((self.uuid, call))
