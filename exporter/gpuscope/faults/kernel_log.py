"""Follows the kernel log, /dev/kmsg or a file, for faults of the NVIDIA driver."""

import errno
import functools
import logging
import stat
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from gpuscope.catalogue import xid as m
from gpuscope.catalogue.metric import Sample
from gpuscope.faults.bursts import Bursts
from gpuscope.faults.cursor import Cursor, CursorFile
from gpuscope.faults.kmsg import RECORD, KmsgDevice
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.log_file import LogFile
from gpuscope.faults.log_time import line_time
from gpuscope.faults.nvrm import parse_gpu, parse_line

__all__ = ["KernelLog"]

log = logging.getLogger(__name__)

_SAVE_S = 5.0
_SAVE_FAULT_S = 1.0
_BURST_GAP_S = 1.0
_parse = functools.lru_cache(maxsize=256)(parse_line)  # a burst says the same a hundred thousand times


class KernelLog:
    """Reads faults from the kernel log in a thread of its own, and never raises out of it.

    A fault that repeats in identical lines, each within a second of the one before, counts once. What was read is
    remembered in ``state_file``, so that a restart neither loses nor repeats a fault. While the log cannot be read,
    ``up`` is false, ``reason`` says why, and it is tried again.

    Args:
        path: ``/dev/kmsg`` or a pipe with its records, or a file with such records or with lines of syslog or dmesg.
        ledger: gets the faults.
        state_file: where the position is kept, or ``None``.
        procfs: for the boot id and the boot time.
        poll_s: seconds from the end of the log to the next look for more.
        retry_s: seconds to the next try after the first failure, the second and so on; the last goes for all later.

    Attributes:
        up: whether the log is being read.
        reason: why not, in words.
        lines: lines read.
        suppressed: repeated lines that were merged.
        lost: records that the kernel overwrote before they were read.
    """

    def __init__(
        self,
        path: Path,
        ledger: FaultLedger,
        *,
        state_file: Path | None = None,
        procfs: Path = Path("/proc"),
        poll_s: float = 0.5,
        retry_s: Sequence[float] = (1.0, 5.0, 30.0),
    ) -> None:
        self.path = path
        self.up = False
        self.reason = "not started"
        self.lines = 0
        self.suppressed = 0
        self.lost = 0
        self._ledger = ledger
        self._poll_s, self._retry_s = poll_s, retry_s
        self._boot_id = _read(procfs / "sys/kernel/random/boot_id").strip()
        self._boot_time = _boot_time(_read(procfs / "stat"))
        self._state = CursorFile(state_file)
        self._cursor: Cursor | None = self._state.load(path)
        if self._cursor is not None and not self._cursor.boot_id and self._cursor.inode < 0:
            self._cursor = None  # numbered records of nobody knows which boot
        self._saved = self._cursor
        self._saved_at = 0.0
        self._found = False
        self._bursts = Bursts(_BURST_GAP_S, ledger.grew)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kernel-log", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and saves the position."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(1.5)

    def samples(self) -> tuple[Sample, ...]:
        """The reader's own series."""
        return (
            Sample(m.KERNEL_LOG_UP, (), float(self.up)),
            Sample(m.KERNEL_LOG_LINES, (), float(self.lines)),
            Sample(m.KERNEL_LOG_LOST, (), float(self.lost)),
            Sample(m.KERNEL_LOG_SUPPRESSED, (), float(self.suppressed)),
        )

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                self._follow()
            except OSError as error:
                failures = 0 if self.up else failures
                self._down(f"{self.path}: {error.strerror or error}{_hint(error)}")
            except Exception as error:  # the boundary: a broken log must not end the agent's other parts
                log.exception("kernel log failed")
                self._down(f"{self.path}: {error!r}")
            self._stop.wait(self._retry_s[min(failures, len(self._retry_s) - 1)])
            failures += 1
        self.up, self.reason = False, "stopped"

    def _down(self, reason: str) -> None:
        if reason != self.reason:
            log.warning("kernel log not readable: %s", reason)
        self.up, self.reason = False, reason

    def _follow(self) -> None:
        regular = stat.S_ISREG(self.path.stat().st_mode)
        source: KmsgDevice | LogFile = (
            LogFile(self.path, self._cursor) if regular else KmsgDevice(self.path, self._cursor, self._boot_id)
        )
        lost = self.lost
        try:
            self._cursor = source.cursor
            log.info("reading the kernel log from %s", self.path)
            self.up, self.reason = True, ""
            self._save(force=True)
            while not self._stop.is_set():
                lines = source.read()
                for line in lines:
                    self._line(line)
                self.lost = lost + source.lost
                self._cursor = source.cursor
                self._save()
                if not lines:
                    self._bursts.flush(time.time())
                    self._stop.wait(self._poll_s)
        finally:
            source.close()
            self._bursts.flush(time.time())
            self._save(force=True)

    def _line(self, line: str) -> None:
        self.lines += 1
        record = RECORD.match(line)
        text = record["text"] if record else line
        gpu = parse_gpu(text)
        if gpu is not None:
            self._ledger.gpu_at(*gpu)
            return
        fault = _parse(text)
        if fault is None:
            return
        self._found = True
        now = time.time()
        when: float | None = None
        if record is None:
            when = line_time(line, self._boot_time, now)
        elif self._boot_time:
            when = min(self._boot_time + int(record["usec"]) / 1e6, now)
        when = now if when is None else when
        if self._bursts.repeats(fault, when):
            self.suppressed += 1
        else:
            self._ledger.log_fault(fault, when)

    def _save(self, *, force: bool = False) -> None:
        now = time.monotonic()
        wait_s = _SAVE_FAULT_S if self._found else _SAVE_S
        if self._cursor is None or self._cursor == self._saved or (not force and now - self._saved_at < wait_s):
            return
        self._saved_at = now
        if self._state.save(self._cursor):
            self._saved, self._found = self._cursor, False


def _hint(error: OSError) -> str:
    return " (needs CAP_SYSLOG)" if error.errno in {errno.EPERM, errno.EACCES} else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _boot_time(stat_text: str) -> float:
    for line in stat_text.splitlines():
        name, _, value = line.partition(" ")
        if name == "btime" and value.strip().isdecimal():
            return float(value)
    return 0.0
