"""The NVML session: loading the library, initialising it once, ending it, and what its return codes mean."""

import threading
from _ctypes import dlclose
from collections.abc import Callable
from contextlib import suppress
from ctypes import CDLL
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pynvml

from gpuscope.errors import DeviceError, DeviceLost, NotSupported, NvmlUnavailable

__all__ = ["Session", "binding_version", "code_name", "device_error"]

OpenLibrary = Callable[[], object]

_UNAVAILABLE = {
    pynvml.NVML_ERROR_UNINITIALIZED: "uninitialized",
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: "driver_not_loaded",
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: "library_not_found",
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "version_mismatch",
}
_LOST = {pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED, 28}  # 28: GPU_NOT_FOUND, R535+
_NOT_SUPPORTED = {pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, 25, 26}  # version, deprecated
_NAMES = {
    value: name.removeprefix("NVML_ERROR_").lower()
    for name, value in vars(pynvml).items()
    if name.startswith("NVML_ERROR_") and isinstance(value, int)
}
_ADVICE = {
    "library_not_found": "libnvidia-ml.so.1 is not on this machine (or not mounted into this container)",
    "driver_not_loaded": "the NVIDIA kernel module is not loaded",
    "version_mismatch": "the driver was upgraded: its library and its kernel module have different versions",
    "no_permission": "this user may not open the NVIDIA devices",
    "uninitialized": "the NVML session ended",
}


def binding_version() -> str:
    """Version of the installed nvidia-ml-py, or an empty string."""
    try:
        return version("nvidia-ml-py")
    except PackageNotFoundError:
        return ""


def code_name(code: int) -> str:
    """Lower-case name of an nvmlReturn_t, for example ``not_supported``; ``code_N`` for an unknown one."""
    name: str = _NAMES.get(code, f"code_{code}")
    return name


def device_error(call: str, code: int) -> DeviceError | NvmlUnavailable:
    """The exception that stands for a return code of ``call``."""
    if code in _UNAVAILABLE:
        reason = _UNAVAILABLE[code]
        return NvmlUnavailable(reason, f"{call}: {_ADVICE[reason]}")
    if code in _LOST:
        return DeviceLost(call, code_name(code))
    if code in _NOT_SUPPORTED:
        return NotSupported(call, code_name(code))
    return DeviceError(call, code_name(code))


class Session:
    """One NVML session of this process.

    Args:
        open_library: returns what ``CDLL("libnvidia-ml.so.1")`` would return, or raises ``OSError``; ``None`` for
            the real library. The simulated driver comes in here, below the real binding.
    """

    _lock = threading.Lock()

    def __init__(self, open_library: OpenLibrary | None = None) -> None:
        self._open = open_library
        self._running = False
        self.driver_version = ""
        self.cuda_version = ""
        self.nvml_version = ""

    @property
    def running(self) -> bool:
        """Whether NVML is initialised by this session."""
        return self._running

    def start(self, *, may_unload: bool = False) -> None:
        """Loads the library and initialises NVML.

        Args:
            may_unload: unmap the library again when this fails, so that a version that a driver upgrade put on disk
                is found next time. Only while no other thread is inside the library: it would crash.

        Raises:
            NvmlUnavailable: with the reason; the session can be started again later.
        """
        with self._lock:
            pynvml.nvmlLib = None
            pynvml._nvmlGetFunctionPointer_cache.clear()  # pointers of an earlier library
            pynvml.CDLL = self._load if self._open else CDLL
            try:
                pynvml.nvmlInit()
            except pynvml.NVMLError as error:
                self._detach(unmap=may_unload)
                reason = _UNAVAILABLE.get(error.value) or (
                    "no_permission" if error.value == pynvml.NVML_ERROR_NO_PERMISSION else "error"
                )
                advice = _ADVICE.get(reason, f"nvmlInit failed: {code_name(error.value)}")
                raise NvmlUnavailable(reason, advice) from error
            self._running = True
        self.driver_version = self._text("nvmlSystemGetDriverVersion")
        self.nvml_version = self._text("nvmlSystemGetNVMLVersion")
        self.cuda_version = self._cuda()

    def stop(self) -> None:
        """Ends the session and closes its device files; harmless when it never started."""
        with self._lock:
            if not self._running:
                return
            self._running = False
            with suppress(pynvml.NVMLError):
                pynvml.nvmlShutdown()
            self._detach(unmap=False)

    def count(self) -> int:
        """Number of physical GPUs (``nvmlDeviceGetCount_v2``; ``nvidia-smi --query-gpu=count``).

        Raises:
            NvmlUnavailable: the driver cannot be talked to.
        """
        try:
            return int(pynvml.nvmlDeviceGetCount())
        except pynvml.NVMLError as error:
            raise NvmlUnavailable(_UNAVAILABLE.get(error.value, "error"), str(error)) from error

    def system(self, call: str, *args: object) -> Any | None:
        """Answers a call without a device, or ``None`` when it fails or does not exist."""
        function = getattr(pynvml, call, None)
        if function is None:
            return None
        try:
            return function(*args)
        except (pynvml.NVMLError, TypeError):
            return None

    def _load(self, name: str) -> object:
        if self._open is None or not name.startswith("libnvidia-ml"):
            return CDLL(name)
        return self._open()

    @staticmethod
    def _detach(*, unmap: bool) -> None:
        library, pynvml.nvmlLib = pynvml.nvmlLib, None
        pynvml._nvmlGetFunctionPointer_cache.clear()
        if unmap and isinstance(library, CDLL):
            dlclose(library._handle)

    def _text(self, call: str) -> str:
        value = self.system(call)
        return value.decode() if isinstance(value, bytes) else str(value or "")

    def _cuda(self) -> str:
        value = self.system("nvmlSystemGetCudaDriverVersion_v2")
        return f"{value // 1000}.{value % 1000 // 10}" if isinstance(value, int) else ""
