"""The simulated driver as a library object: what ``CDLL("libnvidia-ml.so.1")`` would have returned.

It stands below the real binding, so that the binding's own code, its struct layouts and its size protocols run.
"""

import ctypes
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuscope.simulate import (
    ecc,
    events,
    fields,
    gpm,
    identity,
    instances,
    links,
    power,
    processes,
    system,
    utilization,
    virtual,
)
from gpuscope.simulate.clock import Clock, RealClock
from gpuscope.simulate.interrupt import INTERRUPTS, raise_soon
from gpuscope.simulate.node import Node
from gpuscope.simulate.procfs import write_procfs
from gpuscope.simulate.scenario import Scenario
from gpuscope.simulate.status import UNKNOWN, Status
from gpuscope.simulate.table import Entry

__all__ = ["SimulatedDriver"]

log = logging.getLogger(__name__)

_TYPES = {"p": ctypes.c_void_p, "u": ctypes.c_uint, "i": ctypes.c_int, "q": ctypes.c_ulonglong, "s": ctypes.c_char_p}
_SUBJECTS = (
    system, identity, instances, utilization, power, ecc, links, fields, gpm, events, processes, virtual,
)  # fmt: skip
_FUNCTIONS: dict[str, Entry] = {name: entry for subject in _SUBJECTS for name, entry in subject.FUNCTIONS.items()}
_SINCE = {
    "nvmlDeviceGetTemperatureV": (570,),
    "nvmlDeviceGetMarginTemperature": (570,),
    "nvmlDeviceGetCurrentClocksEventReasons": (535,),
    "nvmlDeviceGetSupportedClocksEventReasons": (535,),
    "nvmlDeviceGetSramEccErrorStatus": (550,),
    "nvmlDeviceGetProcessesUtilizationInfo": (550,),
    "nvmlSystemGetConfComputeSettings": (550,),
    "nvmlDeviceGetRepairStatus": (575,),
    "nvmlDeviceGetUnrepairableMemoryFlag_v1": (590,),
    "nvmlDeviceGetFanSpeedRPM": (565,),
    "nvmlDeviceGetNumaNodeId": (550,),
}
_OPEN_ERROR = "libnvidia-ml.so.1: cannot open shared object file: No such file or directory"


class SimulatedDriver:
    """A driver made of a scenario.

    Args:
        scenario: machine and story.
        clock: simulated time; the machine's clock by default.
        seed: name of the machine; UUIDs and serial numbers follow from it.
        kernel_log: file that gets the NVRM lines of the story.

    Attributes:
        cost_seconds: CPU seconds spent inside simulated functions.
        callback_errors: exceptions of the simulator itself; a caller sees return code 999 for them.
    """

    def __init__(
        self, scenario: Scenario, *, clock: Clock | None = None, seed: str = "node-a", kernel_log: Path | None = None
    ) -> None:
        self.scenario = scenario
        self.clock: Clock = clock or RealClock()
        self.node = Node(scenario, self.clock, seed, kernel_log)
        self.cost_seconds = 0.0
        self.callback_errors: list[str] = []
        self._cost_lock = threading.Lock()
        # The pointers must live as long as the binding may call them.
        self._pointers = {name: self._pointer(name, *entry) for name, entry in _FUNCTIONS.items()}
        # A callback that returned bytes would leak them: the address is returned, and the caller reads a C string.
        error_string = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int)(system.error_string)
        error_string.restype = ctypes.c_char_p
        self._pointers["nvmlErrorString"] = error_string

    def open(self) -> "SimulatedDriver":
        """Stands for loading the library.

        Raises:
            OSError: the scenario says that no driver is installed now.
        """
        self.node.tick()
        if not self.node.installed:
            raise OSError(_OPEN_ERROR)
        return self

    def inject(self, kind: str, /, **arguments: Any) -> None:
        """Makes something happen now; kinds and arguments as in a scenario's ``events``.

        Raises:
            ValueError: an unknown kind, or arguments that do not fit it or the machine.
        """
        self.node.happen(kind, arguments)

    def write_procfs(self, root: Path) -> None:
        """Writes the driver's part of a /proc tree below ``root``."""
        write_procfs(self.node, root)

    def close(self) -> None:
        """Lets blocked calls go and closes the kernel log."""
        self.node.close()

    def __getattr__(self, name: str) -> Any:
        pointer = self.__dict__.get("_pointers", {}).get(name)
        if pointer is None or self.node.driver < _SINCE.get(name, ()):
            raise AttributeError(f"undefined symbol: {name}")
        return pointer

    def _pointer(self, name: str, signature: str, function: Callable[..., int]) -> Any:
        calling = self.node.calling

        def run(args: tuple[Any, ...]) -> int:
            started = time.thread_time()
            calling.name = name
            try:
                return function(self.node, *args)
            except Status as status:
                return status.code
            except Exception as error:  # ctypes would swallow it and report SUCCESS
                self.callback_errors.append(f"{name}: {error!r}")
                log.exception("simulated %s failed", name)
                return UNKNOWN
            finally:
                spent = time.thread_time() - started
                with self._cost_lock:
                    self.cost_seconds += spent

        def call(*args: Any) -> int:
            interrupt: BaseException | None = None
            while True:
                try:
                    code = run(args)
                    break
                except INTERRUPTS as error:
                    interrupt = error
            if interrupt is not None:
                raise_soon(interrupt)
            return code

        return ctypes.CFUNCTYPE(ctypes.c_int, *(_TYPES[letter] for letter in signature))(call)
