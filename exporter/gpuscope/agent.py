"""The agent: driver, sampling, faults and HTTP put together, and its life as a process."""

import logging
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from gpuscope import __version__
from gpuscope.api import Server, WebSettings
from gpuscope.api.web_config import load_web_config
from gpuscope.catalogue import agent as m
from gpuscope.catalogue.metric import Sample, Tier
from gpuscope.config import OPTIONS, AgentSettings, Loaded
from gpuscope.errors import ConfigError
from gpuscope.faults.kernel_log import KernelLog
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.xids import XidCatalogue
from gpuscope.nvml.events import NvmlEvent
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.snapshot import Snapshot
from gpuscope.sampling.supervisor import Supervisor
from gpuscope.simulate import RealClock, SimulatedDriver
from gpuscope.simulate import load as load_scenario

__all__ = ["EXIT_STUCK", "Agent", "check"]

log = logging.getLogger(__name__)

EXIT_STUCK = 3
"""Exit code of ``--exit-on-stuck``."""

_KMSG = Path("/dev/kmsg")


def check(settings: AgentSettings) -> None:
    """Checks everything that a start would read, without opening a port.

    Raises:
        ConfigError: the first thing that is wrong.
    """
    _web(settings).check()
    load_web_config(_file(settings, "web.config.file"))
    XidCatalogue.load(_file(settings, "xid-catalogue"))
    if settings["simulate"]:
        load_scenario(settings["simulate"])
    state = settings["state-dir"]
    if state and not (Path(state).is_dir() and os.access(state, os.W_OK)):
        raise ConfigError(f"--state-dir {state}: not a folder that can be written to")


class Agent:
    """The agent of one machine.

    Args:
        loaded: settings.
        reload: reads the settings again, for SIGHUP.

    Raises:
        ConfigError: something that is only known now, such as a port in use. Nothing runs then.
    """

    def __init__(self, loaded: Loaded, reload: Callable[[], Loaded]) -> None:
        self._settings = loaded.settings
        self._reload = reload
        check(self._settings)
        self._world: Path | None = None
        self.driver: SimulatedDriver | None = None
        self._server = Server(self, _web(self._settings))
        self._server.bind()
        if self._settings["simulate"]:
            self._simulate()
        self._ledger = FaultLedger(XidCatalogue.load(_file(self._settings, "xid-catalogue")))
        self._ledger.published = "xid" in self._settings.collectors()
        self._kernel_log = self._open_kernel_log()
        options = self._options()
        self._supervisor = Supervisor(options, self._ledger, self._event, self.driver.open if self.driver else None)
        self._wake = threading.Event()
        self._signals: list[int] = []
        self._released_at = 0.0
        self._note_reload(success=True, when=time.time())

    @property
    def simulated(self) -> str:
        """Scenario name, or empty on a real driver."""
        return str(self._settings["simulate"])

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses that are listened on."""
        return self._server.addresses

    def snapshot(self) -> Snapshot:
        """What is known now."""
        return self._supervisor.snapshot()

    def alive(self) -> tuple[bool, str]:
        """Watchdog."""
        return self._supervisor.alive()

    def start(self) -> None:
        """Starts sampling and answering."""
        self._supervisor.start()
        if self._kernel_log is not None:
            self._kernel_log.start()
        self._server.start()

    def stop(self) -> None:
        """Ends everything, in under two seconds."""
        # A hanging driver may keep the supervisor for a second; the others need not wait for it.
        sampling = threading.Thread(target=self._supervisor.stop, daemon=True)
        sampling.start()
        self._server.stop(0.5)
        if self._kernel_log is not None:
            self._kernel_log.stop()
        sampling.join(1.4)
        if self.driver is not None:
            self.driver.close()
        if self._world is not None:
            shutil.rmtree(self._world, ignore_errors=True)

    def run(self) -> int:
        """Runs until SIGTERM or SIGINT; returns the exit code. Only in the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, self._signal)
        self.start()
        code = 0
        while True:
            self._wake.wait(1.0)
            self._wake.clear()
            signals, self._signals = self._signals, []
            if {signal.SIGTERM, signal.SIGINT} & set(signals):
                break
            for received in signals:
                self._act(received)
            self._resume_in_time()
            if self._stuck_too_long():
                log.error("a driver call hangs for longer than --exit-on-stuck; exiting")
                code = EXIT_STUCK
                break
        log.info("stopping")
        self.stop()
        return code

    def reload(self) -> bool:
        """Reads the configuration again; a bad one changes nothing. True when the new one is in force."""
        try:
            fresh = self._reload().settings
            check(fresh)
            self._server.reload()
            catalogue = XidCatalogue.load(_file(fresh, "xid-catalogue"))
        except ConfigError as error:
            log.error("configuration not reloaded, the old one stays in force: %s", error)  # noqa: TRY400
            self._note_reload(success=False)
            return False
        fixed = [option for option in OPTIONS if not option.reload and fresh[option.key] != self._settings[option.key]]
        for option in fixed:
            log.warning("%s needs a restart; it stays %r", option.flag, self._settings[option.key])
        values = dict(fresh.values) | {option.key: self._settings[option.key] for option in fixed}
        self._settings = AgentSettings(values)
        self._ledger.use_catalogue(catalogue)
        self._ledger.published = "xid" in self._settings.collectors()
        self._supervisor.reconfigure(self._options())
        self._note_reload(success=True, when=time.time())
        log.info("configuration reloaded")
        return True

    def _signal(self, number: int, _frame: FrameType | None) -> None:
        self._signals.append(number)
        self._wake.set()

    def _act(self, number: int) -> None:
        if number == signal.SIGHUP:
            self.reload()
        elif self._supervisor.released:
            log.info("taking the driver up again")
            self._supervisor.resume()
        else:
            log.info("releasing the driver")
            self._released_at = time.monotonic()
            self._supervisor.release()

    def _resume_in_time(self) -> None:
        limit = self._settings["nvml.release-timeout"]
        if self._supervisor.released and limit and time.monotonic() - self._released_at > limit:
            log.info("--nvml.release-timeout is over, taking the driver up again")
            self._supervisor.resume()

    def _stuck_too_long(self) -> bool:
        limit = self._settings["exit-on-stuck"]
        return bool(limit) and self._supervisor.stuck_for_s() > limit

    def _event(self, event: NvmlEvent) -> None:
        self._ledger.nvml_event(event)

    def _note_reload(self, *, success: bool, when: float | None = None) -> None:
        if when is not None:
            self._loaded_at = when
        self._supervisor.publisher.set_extra(
            (Sample(m.RELOAD_SUCCESS, (), float(success)), Sample(m.RELOAD_TIME, (), self._loaded_at))
        )

    def _simulate(self) -> None:
        self._world = Path(tempfile.mkdtemp(prefix="gpuscope-simulate-"))
        self.driver = SimulatedDriver(
            load_scenario(self._settings["simulate"]),
            clock=RealClock(self._settings["simulate.speed"]),
            seed=self._settings["simulate.seed"],
            kernel_log=self._world / "kmsg",
        )
        self.driver.write_procfs(self._world / "proc")

    def _procfs(self) -> Path:
        if self._world is not None and self._settings["path.procfs"] == "/proc":
            return self._world / "proc"
        return Path(self._settings["path.procfs"])

    def _open_kernel_log(self) -> KernelLog | None:
        wanted = self._settings["kernel-log"]
        if wanted == "off":
            return None
        if wanted != "auto":
            path = Path(wanted)
        elif self._world is not None:
            path = self._world / "kmsg"
        elif os.access(_KMSG, os.R_OK):
            path = _KMSG
        else:
            log.info("kernel log not read: /dev/kmsg needs CAP_SYSLOG; XIDs come from NVML events alone")
            return None
        state = self._settings["state-dir"]
        reader = KernelLog(
            path,
            self._ledger,
            state_file=Path(state) / "kernel-log.json" if state else None,
            procfs=self._procfs(),
        )
        self._ledger.companions.append(reader.samples)
        return reader

    def _options(self) -> SamplingOptions:
        settings = self._settings
        return SamplingOptions(
            node=settings["node-name"] or os.environ.get("NODE_NAME") or self._default_node(),
            collectors=settings.collectors(),
            intervals={
                Tier.FAST: settings["interval.fast"],
                Tier.ACTIVITY: settings["interval.activity"],
                Tier.PROCESSES: settings["interval.processes"],
                Tier.SLOW: settings["interval.slow"],
            },
            deadline_s=settings["nvml.deadline"],
            expected_gpus=settings["expected-gpus"] or None,
            procfs=self._procfs(),
            version=__version__,
            revision=os.environ.get("GPUSCOPE_REVISION", ""),
            simulated=settings["simulate"],
        )

    def _default_node(self) -> str:
        return str(self._settings["simulate.seed"]) if self._settings["simulate"] else socket.gethostname()


def _file(settings: AgentSettings, key: str) -> Path | None:
    return Path(settings[key]) if settings[key] else None


def _web(settings: AgentSettings) -> WebSettings:
    return WebSettings(
        listen_addresses=settings["web.listen-address"],
        telemetry_path=settings["web.telemetry-path"],
        web_config_file=_file(settings, "web.config.file"),
        max_connections=settings["web.max-connections"],
    )
