"""The simulated driver as a library object: what ``CDLL("libnvidia-ml.so.1")`` would have returned.

It stands below the real binding, so that the binding's own code, its struct layouts and its size protocols run.
"""

import ctypes
import logging
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuscope.simulate import events, fields, gpm, readings, system
from gpuscope.simulate.clock import Clock, RealClock
from gpuscope.simulate.node import Node
from gpuscope.simulate.scenario import Scenario
from gpuscope.simulate.status import UNKNOWN, Status
from gpuscope.simulate.table import Entry

__all__ = ["SimulatedDriver"]

log = logging.getLogger(__name__)

_TYPES = {"p": ctypes.c_void_p, "u": ctypes.c_uint, "i": ctypes.c_int, "q": ctypes.c_ulonglong, "s": ctypes.c_char_p}
_FUNCTIONS: dict[str, Entry] = {
    **system.FUNCTIONS,
    **readings.FUNCTIONS,
    **fields.FUNCTIONS,
    **gpm.FUNCTIONS,
    **events.FUNCTIONS,
}
_SINCE = {
    "nvmlDeviceGetTemperatureV": (570,),
    "nvmlDeviceGetMarginTemperature": (570,),
    "nvmlDeviceGetCurrentClocksEventReasons": (535,),
    "nvmlDeviceGetSramEccErrorStatus": (550,),
    "nvmlDeviceGetRepairStatus": (575,),
    "nvmlDeviceGetUnrepairableMemoryFlag_v1": (590,),
    "nvmlDeviceGetFanSpeedRPM": (565,),
    "nvmlDeviceGetNumaNodeId": (550,),
}


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
        self._pointers["nvmlErrorString"] = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int)(system.error_string)

    def open(self) -> "SimulatedDriver":
        """Stands for loading the library.

        Raises:
            OSError: the scenario says that no driver is installed now.
        """
        self.node.tick()
        if not self.node.present and not self.node.initialized and not self.scenario.driver["present"]:
            raise OSError("libnvidia-ml.so.1: cannot open shared object file: No such file or directory")
        return self

    def inject(self, kind: str, **arguments: Any) -> None:
        """Makes something happen now; kinds and arguments as in a scenario's ``events``.

        Raises:
            ValueError: an unknown kind or argument.
        """
        self.node.happen(kind, arguments)

    def write_procfs(self, root: Path) -> None:
        """Writes the driver's part of a /proc tree below ``root``."""
        folder = root / "driver/nvidia"
        (folder / "gpus").mkdir(parents=True, exist_ok=True)
        kind = "Open Kernel Module" if self.scenario.driver["kernel_module"] == "open" else "Kernel Module"
        version = f"NVRM version: NVIDIA UNIX {kind} for x86_64  {self.node.version}  Release Build\n"
        (folder / "version").write_text(version, encoding="utf-8")
        (root / "sys/kernel/random").mkdir(parents=True, exist_ok=True)
        boot_id = uuid.uuid5(uuid.NAMESPACE_OID, self.node.gpus[0].uuid)
        (root / "sys/kernel/random/boot_id").write_text(f"{boot_id}\n", encoding="utf-8")
        (root / "stat").write_text(f"btime {int(self.node.log.boot)}\n", encoding="utf-8")
        (root / "self/ns").mkdir(parents=True, exist_ok=True)
        namespace = root / "self/ns/pid"
        namespace.unlink(missing_ok=True)
        namespace.symlink_to("pid:[4026531836]")
        for gpu in self.node.gpus:
            place = folder / "gpus" / f"0000:{gpu.bus:02x}:00.0"
            place.mkdir(exist_ok=True)
            facts = f"Model: \t\t {gpu.model.name}\nGPU UUID: \t {gpu.uuid}\nDevice Minor: \t {gpu.minor}\n"
            (place / "information").write_text(facts, encoding="utf-8")

    def close(self) -> None:
        """Lets blocked calls go and closes the kernel log."""
        self.node.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("nvml") and name in self._pointers:
            if name in _SINCE and self.node.driver < _SINCE[name]:
                raise AttributeError(f"undefined symbol: {name}")
            return self._pointers[name]
        raise AttributeError(f"undefined symbol: {name}")

    def _pointer(self, name: str, signature: str, function: Callable[..., int]) -> Any:
        def call(*args: Any) -> int:
            started = time.thread_time()
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

        return ctypes.CFUNCTYPE(ctypes.c_int, *(_TYPES[letter] for letter in signature))(call)
