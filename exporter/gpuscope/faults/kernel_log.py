"""Follows the kernel log, /dev/kmsg or a file, for faults of the NVIDIA driver."""

import contextlib
import errno
import json
import logging
import os
import re
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuscope.catalogue import xid as m
from gpuscope.catalogue.metric import Sample
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.nvrm import LogFault, parse_line

__all__ = ["KernelLog"]

log = logging.getLogger(__name__)

_RECORD = re.compile(r"^(?P<prio>\d+),(?P<seq>\d+),(?P<usec>\d+),[^;]*;(?P<text>.*)$", re.DOTALL)
_POLL_S = 0.5
_RETRY_S = (1.0, 5.0, 30.0)
_SAVE_S = 5.0
_BURST_GAP_S = 1.0
_CHUNK = 1 << 20
_MAX_LINE = 1 << 16


@dataclass(slots=True)
class _Burst:
    """Identical lines, each within a second of the one before."""

    last: float
    unreported: int = 0


class KernelLog:
    """Reads faults from the kernel log in a thread of its own.

    A fault that repeats in identical lines, each within a second of the one before, counts once. What was read is
    remembered in ``state_file``, so that a restart neither loses nor repeats a fault.

    Args:
        path: ``/dev/kmsg``, or a file with lines in its format or of syslog.
        ledger: gets the faults.
        state_file: where the position is kept, or ``None``.
        procfs: for the boot id and the boot time.

    Attributes:
        up: whether the log is being read.
        reason: why not, in words.
        lines: lines read.
        suppressed: repeated lines that were merged.
    """

    def __init__(
        self, path: Path, ledger: FaultLedger, *, state_file: Path | None = None, procfs: Path = Path("/proc")
    ) -> None:
        self.path = path
        self.up = False
        self.reason = "not started"
        self.lines = 0
        self.suppressed = 0
        self._ledger = ledger
        self._state_file = state_file
        self._procfs = procfs
        self._boot_id = self._read_boot_id()
        self._boot_time = self._read_boot_time()
        self._position: dict[str, int | str] = self._load()
        self._saved: dict[str, int | str] = dict(self._position)
        self._saved_at = 0.0
        self._bursts: dict[LogFault, _Burst] = {}
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
        self._save(force=True)

    def samples(self) -> tuple[Sample, ...]:
        """The reader's own series."""
        return (
            Sample(m.KERNEL_LOG_UP, (), float(self.up)),
            Sample(m.KERNEL_LOG_LINES, (), float(self.lines)),
            Sample(m.KERNEL_LOG_SUPPRESSED, (), float(self.suppressed)),
        )

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                if stat.S_ISREG(self.path.stat().st_mode):
                    self._follow_file()
                else:
                    self._follow_device()
                failures = 0
            except OSError as error:
                reason = f"{self.path}: {error.strerror or error}"
                if reason != self.reason:
                    log.warning("kernel log not readable: %s", reason)
                self.up, self.reason = False, reason
            self._stop.wait(_RETRY_S[min(failures, len(_RETRY_S) - 1)])
            failures += 1
        self.up = False

    def _follow_device(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            known = self._position.get("boot_id") == self._boot_id and "seq" in self._position
            if not known:
                # What happened before the first start belongs to another time.
                with contextlib.suppress(OSError):
                    os.lseek(descriptor, 0, os.SEEK_END)
            self._now_up()
            while not self._stop.is_set():
                try:
                    data = os.read(descriptor, _MAX_LINE)
                except BlockingIOError:
                    data = b""
                except OSError as error:
                    if error.errno != errno.EPIPE:  # the ring was overrun: the next read goes on behind the gap
                        raise
                    continue
                if not data:
                    self._rest()
                    continue
                self._line(data.decode(errors="replace").rstrip("\n"))
        finally:
            os.close(descriptor)

    def _follow_file(self) -> None:
        with self.path.open("rb") as file:
            identity = os.fstat(file.fileno())
            start = self._position.get("offset")
            same = self._position.get("inode") == identity.st_ino and isinstance(start, int)
            if same and isinstance(start, int) and start <= identity.st_size:
                file.seek(start)
            elif not self._position:
                file.seek(0, os.SEEK_END)
            self._position = {"inode": identity.st_ino, "offset": file.tell()}
            self._now_up()
            rest = b""
            while not self._stop.is_set():
                chunk = file.read(_CHUNK)
                if chunk:
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        self._line(line.decode(errors="replace"))
                    if len(rest) > _MAX_LINE:
                        rest = b""
                    self._position["offset"] = file.tell() - len(rest)
                    continue
                self._rest()
                now = self.path.stat()
                if now.st_ino != identity.st_ino or now.st_size < file.tell():
                    self._position = {"inode": 0, "offset": 0}  # rotated or truncated: from its beginning
                    return

    def _rest(self) -> None:
        self._flush_bursts()
        self._save()
        self._stop.wait(_POLL_S)

    def _now_up(self) -> None:
        if not self.up:
            log.info("reading the kernel log from %s", self.path)
        self.up, self.reason = True, ""

    def _line(self, line: str) -> None:
        self.lines += 1
        record = _RECORD.match(line)
        text, when = line, time.time()
        if record:
            text = record["text"].split("\n", 1)[0]
            when = min(when, self._boot_time + int(record["usec"]) / 1e6) if self._boot_time else when
            if not self._new(int(record["seq"])):
                return
        fault = parse_line(text)
        if fault is None:
            return
        burst = self._bursts.get(fault)
        if burst is not None and 0 <= when - burst.last <= _BURST_GAP_S:
            burst.last = when
            burst.unreported += 1
            self.suppressed += 1
            return
        self._bursts[fault] = _Burst(when)
        self._ledger.log_fault(fault, when)

    def _new(self, sequence: int) -> bool:
        if self.path.is_file():
            return True
        if self._position.get("boot_id") == self._boot_id and sequence <= int(self._position.get("seq", -1)):
            return False
        self._position = {"boot_id": self._boot_id, "seq": sequence}
        return True

    def _flush_bursts(self) -> None:
        now = time.time()
        for fault, burst in list(self._bursts.items()):
            if burst.unreported:
                self._ledger.grew(fault, burst.last, burst.unreported)
                burst.unreported = 0
            if now - burst.last > 10 * _BURST_GAP_S:
                del self._bursts[fault]

    def _read_boot_id(self) -> str:
        try:
            return (self._procfs / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        except OSError:
            return ""

    def _read_boot_time(self) -> float:
        try:
            fields: Iterator[str] = iter((self._procfs / "stat").read_text(encoding="ascii").split("\n"))
        except OSError:
            return 0.0
        return next((float(line.split()[1]) for line in fields if line.startswith("btime ")), 0.0)

    def _load(self) -> dict[str, int | str]:
        if self._state_file is None:
            return {}
        try:
            raw = json.loads(self._state_file.read_text(encoding="utf-8"))
            if not isinstance(raw, dict) or raw.get("path") != str(self.path):
                return {}
            numbers = {key: int(raw[key]) for key in ("seq", "inode", "offset") if key in raw}
            return {**numbers, **({"boot_id": str(raw["boot_id"])} if "boot_id" in raw else {})}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError) as error:
            log.warning("kernel log position %s is unusable, starting from now: %s", self._state_file, error)
            return {}

    def _save(self, *, force: bool = False) -> None:
        now = time.monotonic()
        if self._state_file is None or self._position == self._saved or (not force and now - self._saved_at < _SAVE_S):
            return
        self._saved_at = now
        temporary = self._state_file.with_suffix(".new")
        try:
            temporary.write_text(json.dumps({"path": str(self.path), **self._position}), encoding="utf-8")
            temporary.replace(self._state_file)
            self._saved = dict(self._position)
        except OSError as error:
            log.warning("kernel log position cannot be saved to %s: %s", self._state_file, error)
