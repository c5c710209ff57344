"""Every error that gpuscope raises.

::

    GpuscopeError
    ├── ConfigError          bad flag, key, file or scenario: exit 2 and one line that names it
    ├── NvmlUnavailable      no driver, or a driver that cannot be talked to: stay up, retry
    ├── DeviceError          one NVML call on one device failed
    │   ├── DeviceLost       the GPU is gone until a reset or a reboot
    │   └── NotSupported     this device, driver or binding does not offer the call
    ├── SourceError          a file or socket beside NVML failed (kernel log, /proc)
    └── StateError           the collector's state file cannot be written now: go on in memory, retry
"""

__all__ = [
    "ConfigError",
    "DeviceError",
    "DeviceLost",
    "GpuscopeError",
    "NotSupported",
    "NvmlUnavailable",
    "SourceError",
    "StateError",
]


class GpuscopeError(Exception):
    """Base of all errors raised on purpose."""


class ConfigError(GpuscopeError):
    """Bad configuration. The message names the flag, the key or the file and line."""


class NvmlUnavailable(GpuscopeError):
    """The driver as a whole cannot be used.

    Attributes:
        reason: short word for a label: ``library_not_found``, ``driver_not_loaded``, ``version_mismatch``,
            ``no_permission``, ``uninitialized``, ``released`` or ``error``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class DeviceError(GpuscopeError):
    """One NVML call on one device failed.

    Attributes:
        call: NVML function name, for example ``nvmlDeviceGetPowerUsage``.
        code: lower-case name of the NVML return code, for example ``gpu_is_lost``.
    """

    def __init__(self, call: str, code: str) -> None:
        super().__init__(f"{call}: {code}")
        self.call = call
        self.code = code


class DeviceLost(DeviceError):
    """The GPU does not answer any more: fallen off the bus, or it needs a reset."""


class NotSupported(DeviceError):
    """The device, the driver or the installed binding does not offer this call."""


class SourceError(GpuscopeError):
    """A source beside NVML failed: the kernel log, a /proc file, a socket."""


class StateError(GpuscopeError):
    """The collector's state file cannot be written now. The message names the flag, the file and the reason."""
