"""Other programs on the simulated driver: in this process, or in a child that knows nothing of it."""

import ctypes
import os
from pathlib import Path
from typing import Any

from gpuscope.simulate import interrupt
from gpuscope.simulate.driver import SimulatedDriver
from gpuscope.simulate.scenario import shipped

__all__ = ["environment", "install", "uninstall"]

_LIBRARY = "libnvidia-ml.so"
_real = ctypes.CDLL


def install(driver: SimulatedDriver) -> None:
    """Makes ``ctypes.CDLL("libnvidia-ml.so.1")`` return the driver in this process; other libraries load as ever.

    Must come before the program imports its NVML binding, which copies the name ``CDLL``.
    """

    class Library(_real):
        """``ctypes.CDLL`` with one library replaced."""

        def __new__(cls, name: Any = None, *args: Any, **kwargs: Any) -> Any:
            if isinstance(name, str) and Path(name).name.startswith(_LIBRARY):
                return driver.open()
            return super().__new__(cls)

    ctypes.CDLL = Library  # type: ignore[misc]
    ctypes.cdll._dlltype = Library  # type: ignore[attr-defined]
    interrupt.watch()


def uninstall() -> None:
    """Ends ``install``; harmless without one."""
    ctypes.CDLL = _real  # type: ignore[misc]
    ctypes.cdll._dlltype = _real  # type: ignore[attr-defined]
    interrupt.unwatch()


def environment(scenario: str, *, seed: str = "node-a", speed: float = 1.0) -> dict[str, str]:
    """Environment in which a Python program finds the simulated driver.

    Args:
        scenario: name or file, or several joined with ``+``.
        seed: name of the simulated machine.
        speed: how many times faster its world runs.

    Returns:
        This process's environment with the folder of ``sitecustomize`` first on PYTHONPATH.
    """
    hook = str(Path(__file__).parent / "hook")
    path = os.environ.get("PYTHONPATH", "")
    return {
        **os.environ,
        "PYTHONPATH": f"{hook}{os.pathsep}{path}" if path else hook,
        "GPUSCOPE_SIMULATE": _from_anywhere(scenario),
        "GPUSCOPE_SIMULATE_SEED": seed,
        "GPUSCOPE_SIMULATE_SPEED": str(speed),
        "GPUSCOPE_SIMULATE_HOOK": "1",
    }


def _from_anywhere(scenario: str) -> str:
    """The scenario with absolute paths: the program may start in another folder."""
    if Path(scenario).is_file() and scenario not in shipped():
        return str(Path(scenario).resolve())
    parts = scenario.split("+")
    return "+".join(part if part in shipped() else str(Path(part).resolve()) for part in parts)
