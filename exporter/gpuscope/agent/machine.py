"""The machine that the agent looks at: the real one, or a simulated one with a folder of its own."""

import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from gpuscope.agent.check import Checked
from gpuscope.collectors.processes import processes_visible
from gpuscope.simulate import RealClock, SimulatedDriver, SimulatedFilesystems, SimulatedTenants

__all__ = ["Machine"]

log = logging.getLogger("gpuscope.agent")

_KMSG = Path("/dev/kmsg")


class Machine:
    """Driver, proc file system and kernel log.

    A simulated machine has the latter two in a temporary folder; a setting that names others wins.

    Args:
        checked: configuration.

    Attributes:
        driver: the simulated driver, or ``None``.
        procfs: root of the proc file system.
        sysfs: root of sysfs.
        filesystems: the simulated mounts, or ``None``.
        kernel_log: file to read faults from, or ``None``.
        pod_resources_socket: socket of the simulated kubelet, or ``None``.
        job_mapping_dir: folder of the simulated prolog, or ``None``.
        pod_logs: the simulated kubelet's folder of pod logs, or ``None``.

    Raises:
        ConfigError: no place for the temporary folder.
    """

    def __init__(self, checked: Checked) -> None:
        settings = checked.settings
        self.driver: SimulatedDriver | None = None
        self.procfs = Path(settings["path.procfs"])
        self.sysfs = Path(settings["path.sysfs"])
        self.filesystems: SimulatedFilesystems | None = None
        self.pod_resources_socket: Path | None = None
        self.job_mapping_dir: Path | None = None
        self.pod_logs: Path | None = None
        self._folder: Path | None = None
        self._tenants: SimulatedTenants | None = None
        kmsg = _KMSG
        if checked.scenario is not None:
            try:
                self._folder = Path(tempfile.mkdtemp(prefix="gpuscope-"))
                kmsg = self._folder / "kmsg"
                self.driver = SimulatedDriver(
                    checked.scenario,
                    clock=RealClock(settings["simulate.speed"]),
                    seed=settings["simulate.seed"],
                    kernel_log=kmsg,
                )
                self.driver.write_procfs(self._folder / "proc")
                proc, sys = self._folder / "proc", self._folder / "sys"
                self._tenants = SimulatedTenants(self.driver.node, self._folder, proc, settings["simulate.seed"])
                self.pod_resources_socket = self._tenants.pod_resources_socket
                self.job_mapping_dir = self._tenants.job_mapping_dir
                self.pod_logs = self._tenants.pod_logs
                if not {"path.procfs", "path.sysfs"} & checked.loaded.origins.keys():
                    self.filesystems = SimulatedFilesystems(self.driver.node, proc, sys)
                    self.filesystems.start()
            except OSError as error:
                self.close()
                raise checked.loaded.error("simulate", f"no place for a temporary folder: {error.strerror}") from error
            if "path.procfs" not in checked.loaded.origins:
                self.procfs = self._folder / "proc"
            if "path.sysfs" not in checked.loaded.origins:
                self.sysfs = self._folder / "sys"
        self.kernel_log = self._kernel_log(settings["kernel-log"], kmsg)

    @property
    def open_library(self) -> Callable[[], object] | None:
        """What stands for loading NVML; ``None`` for the real library."""
        return self.driver.open if self.driver is not None else None

    def close(self) -> None:
        """Ends the simulation and removes its folder."""
        if self.filesystems is not None:
            self.filesystems.close()
        if self._tenants is not None:
            self._tenants.close()
        if self.driver is not None:
            self.driver.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def report(self) -> None:
        """Logs what this process may not see, and what would change that."""
        visible = processes_visible(self.procfs)
        if visible is False:
            log.info("process counts are absent: this PID namespace is not the host's (a pod needs hostPID: true)")
        elif visible is None:
            log.info("process counts may be absent: %s/self/ns/pid cannot be read", self.procfs)

    @staticmethod
    def _kernel_log(wanted: str, default: Path) -> Path | None:
        if wanted == "off":
            return None
        if wanted != "auto":
            return Path(wanted)
        try:
            # The permission bits do not tell: with kernel.dmesg_restrict=1, open() itself asks for CAP_SYSLOG.
            os.close(os.open(default, os.O_RDONLY | os.O_NONBLOCK))
        except OSError as error:
            log.info(
                "kernel log not read: %s: %s (a readable one needs CAP_SYSLOG, or kernel.dmesg_restrict=0); "
                "XIDs come from NVML alone, SXIDs are not seen",
                default,
                error.strerror,
            )
            return None
        return default
