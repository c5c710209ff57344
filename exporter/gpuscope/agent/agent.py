"""The agent of one machine: its parts, and what signals do to them."""

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType

from gpuscope import __version__, logs
from gpuscope.agent.attribution import attributor
from gpuscope.agent.check import Checked, check
from gpuscope.agent.filesystems import filesystem_sources
from gpuscope.agent.machine import Machine
from gpuscope.agent.state_lock import StateLock
from gpuscope.api import Server
from gpuscope.attribution.allocation import Allocation
from gpuscope.catalogue import agent as m
from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.compat import Renderer
from gpuscope.config import OPTIONS, Loaded, Settings
from gpuscope.errors import ConfigError
from gpuscope.faults.kernel_log import KernelLog
from gpuscope.faults.ledger import FaultLedger
from gpuscope.sampling.node_source import NodeSource
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.snapshot import Snapshot
from gpuscope.sampling.supervisor import Supervisor

__all__ = ["EXIT_STUCK", "Agent"]

log = logging.getLogger("gpuscope.agent")

EXIT_STUCK = 3
"""Exit code of ``--exit-on-stuck``."""

_TICK_S = 1.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class Agent:
    """Samples the GPUs of a machine and serves what it found.

    Order of use: ``take_signals`` in a process of its own, ``start``, ``wait``, ``stop``.

    Args:
        loaded: settings.
        read: reads the settings again, for SIGHUP.

    Raises:
        ConfigError: a bad configuration or a port in use. Nothing runs then and no file is left.
    """

    def __init__(self, loaded: Loaded, read: Callable[[], Loaded]) -> None:
        checked = check(loaded)
        self._settings = checked.settings
        self._read = read
        self._server = Server(self, checked.web)
        self._server.bind()
        try:
            self._state_lock = StateLock(checked.state_dir)
            self._machine = Machine(checked)
        except ConfigError:
            self._server.stop()
            raise
        self._ledger = FaultLedger(checked.xids)
        self._ledger.published = "xid" in self._settings.collectors()
        self._kernel_log = self._open_kernel_log(checked)
        self._renderer = Renderer(checked.xids)
        self._supervisor = Supervisor(
            self._options(), self._ledger, self._ledger.nvml_event, self._machine.open_library, self._renderer
        )
        self._attributor = attributor(
            self._settings,
            self._machine,
            lambda: self._supervisor.publisher.looks,
            self._supervisor.publisher.notify,
        )
        self._renderer.owners = self._allocation
        self._sources: tuple[NodeSource, ...] = (
            self._attributor,
            *filesystem_sources(self._settings, self._machine),
        )
        self._started: set[str] = set()
        self._supervisor.publisher.attach(self._sources, self._allocation)
        self._wake = threading.Event()
        self._signals: list[int] = []
        self._released_at = 0.0
        self._loaded_at = 0.0
        self._note_load(success=True, complete=True)

    @property
    def simulated(self) -> str:
        """Scenario name, or empty on a real driver."""
        return str(self._settings["simulate"])

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses that are listened on, with their true ports."""
        return self._server.addresses

    def snapshot(self) -> Snapshot:
        """What is known now."""
        return self._supervisor.snapshot()

    def alive(self) -> tuple[bool, str]:
        """Whether the agent itself works, and what hangs if not; a driver that is away or released is no matter."""
        return self._supervisor.alive()

    def take_signals(self) -> None:
        """Catches the signals that ``wait`` answers to; only in the main thread."""
        for number in _SIGNALS:
            signal.signal(number, self._signal)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def start(self) -> None:
        """Starts sampling and answering."""
        driver = f"simulated driver {self.simulated}" if self.simulated else "NVML"
        log.info("gpuscope %s on node %s, %s", __version__, self._node(), driver)
        self._machine.report()
        self._supervisor.start()
        self._start_sources()
        if self._kernel_log is not None:
            self._kernel_log.start()
        self._server.start()

    def wait(self) -> int:
        """Runs until SIGTERM or SIGINT, or until ``--exit-on-stuck``; carries out what other signals ask for.

        Returns:
            The exit code.
        """
        while True:
            self._wake.wait(_TICK_S)
            self._wake.clear()
            signals, self._signals = self._signals, []
            if {signal.SIGTERM, signal.SIGINT} & set(signals):
                log.info("stopping")
                return 0
            for received in signals:
                self._act(received)
            self._resume_in_time()
            if self._stuck_too_long():
                log.error("a driver call hangs for longer than --exit-on-stuck allows; exiting")
                return EXIT_STUCK

    def stop(self) -> None:
        """Ends everything, in under two seconds also when the driver hangs."""
        # A hanging driver may keep the supervisor for a second; the others need not wait for it.
        sampling = threading.Thread(target=self._supervisor.stop, daemon=True)
        sampling.start()
        ending = [threading.Thread(target=source.stop, daemon=True) for source in self._sources]
        for thread in ending:
            thread.start()
        self._server.stop(0.5)
        if self._kernel_log is not None:
            self._kernel_log.stop()
        for thread in ending:
            thread.join(0.5)
        sampling.join(1.0)
        self._machine.close()
        self._state_lock.release()

    def reload(self) -> bool:
        """Reads the configuration again. A bad one changes nothing; what needs a restart keeps its value.

        Returns:
            Whether the configuration that was asked for is in force.
        """
        try:
            checked = check(self._read())
            self._server.reload()
        except ConfigError as error:
            log.error("configuration not reloaded, the old one stays in force: %s", error)  # noqa: TRY400
            self._note_load(success=False, complete=False)
            return False
        fresh, old = checked.settings, self._settings
        fixed = [option for option in OPTIONS if not option.reload and fresh[option.key] != old[option.key]]
        for option in fixed:
            kept = option.format(old[option.key])
            log.warning("%s cannot be changed without a restart; it stays %s", option.flag, kept or "empty")
        before = self._options()
        self._settings = Settings({**fresh.values, **{option.key: old[option.key] for option in fixed}})
        logs.setup(self._settings["log.level"], self._settings["log.format"])
        self._ledger.use_catalogue(checked.xids)
        self._renderer.xids = checked.xids
        self._ledger.published = "xid" in self._settings.collectors()
        if self._options() != before:
            self._supervisor.reconfigure(self._options())
        self._start_sources()
        self._note_load(success=True, complete=not fixed)
        log.info("configuration reloaded")
        return not fixed

    def resume(self) -> None:
        """Takes the driver up again; nothing happens when it was not released."""
        if self._supervisor.released:
            log.info("taking the driver up again")
            self._supervisor.resume()

    def release(self) -> None:
        """Releases the driver, so that a GPU reset or a MIG change is not blocked; once more: the time starts anew."""
        log.info("releasing the driver, for at most %s", self._release_limit())
        self._released_at = time.monotonic()
        self._supervisor.release()

    def _allocation(self) -> Allocation:
        """Who holds what; nothing while attribution is switched off, though its thread goes on."""
        return self._attributor.allocation if "attribution" in self._settings.collectors() else Allocation()

    def _start_sources(self) -> None:
        """Starts what is switched on and does not run yet; what is switched off later is not published any more."""
        for source in self._sources:
            if source.name in self._settings.collectors() and source.name not in self._started:
                self._started.add(source.name)
                source.start()

    def _act(self, number: int) -> None:
        try:
            if number == signal.SIGHUP:
                self.reload()
            elif number == signal.SIGUSR1:
                self.release()
            else:
                self.resume()
        except Exception:  # the boundary: whatever a signal leads to, sampling and scrapes go on
            log.exception("signal %d could not be carried out", number)

    def _signal(self, number: int, _frame: FrameType | None) -> None:
        self._signals.append(number)
        self._wake.set()

    def _release_limit(self) -> str:
        limit = self._settings["nvml.release-timeout"]
        return f"{limit:g} s" if limit else "as long as it takes"

    def _resume_in_time(self) -> None:
        limit = self._settings["nvml.release-timeout"]
        if self._supervisor.released and limit and time.monotonic() - self._released_at > limit:
            log.warning("--nvml.release-timeout is over, taking the driver up again")
            self._supervisor.resume()

    def _stuck_too_long(self) -> bool:
        limit = self._settings["exit-on-stuck"]
        return bool(limit) and self._supervisor.stuck_for_s() > limit

    def _note_load(self, *, success: bool, complete: bool) -> None:
        if success:
            self._loaded_at = time.time()
        self._supervisor.publisher.set_extra(
            (Sample(m.RELOAD_SUCCESS, (), float(complete)), Sample(m.RELOAD_TIME, (), self._loaded_at))
        )

    def _open_kernel_log(self, checked: Checked) -> KernelLog | None:
        if self._machine.kernel_log is None:
            return None
        reader = KernelLog(
            self._machine.kernel_log,
            self._ledger,
            state_file=checked.state_dir / "kernel-log.json" if checked.state_dir else None,
            procfs=self._machine.procfs,
        )
        self._ledger.companions.append(reader.samples)
        return reader

    def _options(self) -> SamplingOptions:
        settings = self._settings
        return SamplingOptions(
            node=self._node(),
            collectors=settings.collectors(),
            intervals={
                Tier.FAST: settings["interval.fast"],
                Tier.ACTIVITY: settings["interval.activity"],
                Tier.PROCESSES: settings["interval.processes"],
                Tier.SLOW: settings["interval.slow"],
            },
            deadline_s=settings["nvml.deadline"],
            expected_gpus=settings["expected-gpus"] or None,
            procfs=self._machine.procfs,
            version=__version__,
            revision=os.environ.get("GPUSCOPE_REVISION", ""),
            simulated=self.simulated,
            busy_from=settings["attribution.busy-from"],
            compat=settings["compat"],
            pod_labels=settings["pod-labels"],
        )

    def _node(self) -> str:
        settings = self._settings
        simulated = settings["simulate.seed"] if settings["simulate"] else ""
        return str(settings["node-name"] or os.environ.get("NODE_NAME") or simulated or socket.gethostname())
