"""The kernel log of a simulated machine, in the record format of /dev/kmsg."""

from io import TextIOWrapper
from pathlib import Path

__all__ = ["KernelLog"]

_BOOT_AGE_S = 86_400.0


class KernelLog:
    """Appends NVRM and NVSwitch lines to a file.

    Args:
        path: the file, or ``None`` to write nothing.
        start: simulated time at which the machine had been up for a day.
    """

    def __init__(self, path: Path | None, start: float) -> None:
        self._file: TextIOWrapper | None = path.open("a", encoding="utf-8") if path else None
        self.boot = start - _BOOT_AGE_S
        self._sequence = 1000

    def xid(self, now: float, bus: int, code: int, gi: int | None, message: str, times: int = 1) -> None:
        """Writes an XID line, ``times`` times."""
        place = f"PCI:0000:{bus:02x}:00" + (f" GPU-I:{gi:02d}" if gi is not None else "")
        self._write(now, f"NVRM: Xid ({place}): {code}, pid='<unknown>', name=<unknown>, {message}", times)

    def sxid(self, now: float, switch: int, code: int, fatal: bool, message: str) -> None:
        """Writes an NVSwitch error."""
        severity = "Fatal" if fatal else "Non-fatal"
        place = f"PCI:0000:{0x85 + switch:02x}:00.0"
        self._write(now, f"nvidia-nvswitch{switch}: SXid ({place}): {code:05d}, {severity}, {message}", 1)

    def close(self) -> None:
        """Closes the file."""
        if self._file:
            self._file.close()
            self._file = None

    def _write(self, now: float, text: str, times: int) -> None:
        if self._file is None:
            return
        micros = int((now - self.boot) * 1e6)
        lines = []
        for number in range(times):
            self._sequence += 1
            lines.append(f"4,{self._sequence},{micros + number * 10},-;{text}\n")
        self._file.write("".join(lines))
        self._file.flush()
