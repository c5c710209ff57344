"""Other programs on the simulated driver: in this process, or in a child that knows nothing of it."""

import ctypes
import os
from pathlib import Path
from typing import Any

from gpuscope.simulate.driver import SimulatedDriver

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
            if isinstance(name, str) and name.startswith(_LIBRARY):
                return driver.open()
            return super().__new__(cls)

    ctypes.CDLL = Library  # type: ignore[misc]


def uninstall() -> None:
    """Ends ``install``."""
    ctypes.CDLL = _real  # type: ignore[misc]


def environment(scenario: str, *, seed: str = "node-a", speed: float = 1.0) -> dict[str, str]:
    """Environment in which a Python program finds the simulated driver.

    Args:
        scenario: name or file.
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
        "GPUSCOPE_SIMULATE": scenario,
        "GPUSCOPE_SIMULATE_SEED": seed,
        "GPUSCOPE_SIMULATE_SPEED": str(speed),
        "GPUSCOPE_SIMULATE_HOOK": "1",
    }
