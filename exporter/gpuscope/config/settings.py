"""Every setting of the agent, declared once: flag, environment variable, key of the file, default and meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuscope.catalogue import ALWAYS_ON, DEFAULT_OFF
from gpuscope.config.option import Option, Type
from gpuscope.config.web import web_options

__all__ = ["COLLECTOR_HELP", "DEFAULT_SCRATCH", "DEFAULT_TYPES", "OPTIONS", "Settings"]

COLLECTOR_HELP: Mapping[str, str] = {
    "mig": "MIG mode and MIG instances",
    "memory": "frame buffer and BAR1 memory",
    "utilization": "utilization as the driver averages it, and busy seconds",
    "activity": "GPM: SM, tensor, DRAM and graphics activity of GPUs and MIG instances",
    "pipes": "GPM: activity of each arithmetic pipe",
    "cycles": "GPM: cycle counters since reset (driver 595 and newer)",
    "engines": "GPM: activity of each video engine",
    "power": "power, limits and energy",
    "temperature": "temperatures, thresholds and fans",
    "clocks": "clock rates, performance state, and what holds the clocks down",
    "xid": "XIDs, SXIDs and other events of the driver",
    "recovery": "what the driver asks for to bring a GPU back",
    "ecc": "ECC mode and errors",
    "remapping": "row remapping, page retirement and repairs",
    "pcie": "PCIe traffic, errors and link",
    "pcie_details": "PCIe errors by their cause",
    "nvlink": "NVLink of each GPU as a whole",
    "nvlink_links": "NVLink link by link (some hundred series a GPU)",
    "fabric": "membership of an NVLink fabric",
    "c2c": "chip-to-chip links to the CPU",
    "confidential": "confidential computing",
    "vgpu": "vGPU licence and instances",
    "processes": "number of processes on GPUs and MIG instances",
    "attribution": "who holds which GPU (pods, jobs, processes), and the time that each spent busy, idle and free",
    "filesystem": "mounts: whether they answer, capacity, and the throughput of NFS clients",
    "lustre": "the Lustre client: throughput, targets, RPCs and LNet",
}
"""What each collector that can be switched publishes."""

DEFAULT_TYPES = r"lustre|nfs4?|wekafs|gpfs|beegfs|ceph|fuse\.(ceph-fuse|glusterfs|juicefs|gcsfuse|mount-s3|lustre)"
"""Types of network file systems that clusters keep their data on."""

DEFAULT_SCRATCH = r"/((local|tmp)[-_]?)?scratch.*|/local([-_]?(disk|ssd|nvme).*)?|/(nvme|raid|mnt/|opt/dlami/nvme).*"
"""Mount points of local scratch."""

_T = Type
OPTIONS: tuple[Option, ...] = (
    *web_options(":9836"),
    *(
        Option(
            f"collector.{name.replace('_', '-')}", _T.SWITCH, name not in DEFAULT_OFF, f"Publish {text}.", reload=True
        )
        for name, text in COLLECTOR_HELP.items()
    ),
    Option(
        "interval.fast", _T.DURATION, 5.0, "Time between readings of what changes fast.",
        low=0.1, high=3600, reload=True,
    ),
    Option(
        "interval.activity", _T.DURATION, 10.0, "Length of a GPM window. GPM gives nothing for less than 100 ms.",
        low=0.1, high=3600, reload=True,
    ),
    Option(
        "interval.processes", _T.DURATION, 15.0, "Time between looks at the processes.",
        low=0.1, high=3600, reload=True,
    ),
    Option(
        "interval.attribution", _T.DURATION, 10.0, "Time between looks at who holds which GPU.",
        low=0.5, high=3600,
    ),
    Option(
        "interval.slow", _T.DURATION, 60.0, "Time between readings of what changes slowly.",
        low=0.1, high=86_400, reload=True,
    ),
    Option(
        "interval.filesystem", _T.DURATION, 15.0, "Time between looks at mounts and at the Lustre client.",
        low=0.1, high=3600,
    ),
    Option(
        "nvml.deadline", _T.DURATION, 5.0,
        "A GPU whose cycle takes longer is down, with reason timeout, until the driver's call returns.",
        low=0.1, high=3600, reload=True,
    ),
    Option(
        "nvml.release-timeout", _T.DURATION, 300.0,
        "Time after which a driver that SIGUSR1 released is taken up again. 0 waits for SIGUSR2.",
        reload=True,
    ),
    Option(
        "exit-on-stuck", _T.DURATION, 0.0,
        "Exit with code 3 once a driver call hangs for this long, so that the service manager starts anew. 0 never "
        "exits.",
        reload=True,
    ),
    Option(
        "expected-gpus", _T.WHOLE, 0, "GPUs that this machine should have. 0 asks the kernel driver.",
        high=1024, reload=True,
    ),
    Option(
        "node-name", _T.TEXT, "",
        "Name of this machine in the API. Empty takes $NODE_NAME, else the simulated machine's name, else the host's.",
    ),
    Option(
        "compat", _T.CHOICE, "off",
        "Publish under another exporter's names too. dcgm adds dcgm-exporter's default series; dcgm-only also leaves "
        "our own readings of GPUs away, while what tells of the agent, of GPUs that are down and of XIDs stays.",
        ("off", "dcgm", "dcgm-only"), reload=True,
    ),
    Option(
        "pod-labels", _T.CHOICE, "off",
        "Put namespace, pod and container on the readings themselves: off, or exclusive for GPUs and MIG instances "
        "that exactly one container holds.",
        ("off", "exclusive"), reload=True,
    ),
    Option(
        "kernel-log", _T.FILE, "auto",
        "Where to read XIDs and SXIDs beside NVML: auto (/dev/kmsg where permitted), off, or a file.",
        choices=("auto", "off"),
    ),
    Option(
        "state-dir", _T.FILE, "",
        "Folder that keeps the position in the kernel log over restarts. Empty takes systemd's $STATE_DIRECTORY; "
        "without one the position is kept in memory.",
    ),
    Option("xid-catalogue", _T.FILE, "", "CSV file whose rows override the shipped XID catalogue.", reload=True),
    Option(
        "pod-resources.socket", _T.FILE, "auto",
        "Socket of kubelet's pod-resources: auto (where kubelet has it; a machine without kubelet is no fault), off, "
        "or a path.",
        choices=("auto", "off"),
    ),
    Option(
        "job-mapping-dir", _T.FILE, "",
        "Folder in which a Slurm prolog tells jobs, a file per GPU, in the format of dcgm-exporter. Empty reads none.",
    ),
    Option(
        "attribution.busy-from", _T.NUMBER, 0.01,
        "Share of the time in which a GPU must do work to count as busy rather than idle.", low=0, high=1, reload=True,
    ),
    Option(
        "path.pod-logs", _T.FILE, "/var/log/pods",
        "Where kubelet keeps the logs of pods. Only names of folders are read; they tell pods' uids.",
    ),
    Option("path.procfs", _T.FILE, "/proc", "Where the host's proc file system is mounted."),
    Option("path.sysfs", _T.FILE, "/sys", "Where the host's sysfs is mounted, with debugfs at kernel/debug in it."),
    Option("path.rootfs", _T.FILE, "/", "Where the host's root is mounted; mounts are looked for below it first."),
    Option(
        "filesystem.timeout", _T.DURATION, 5.0,
        "A mount that does not answer for this long is down, with reason timeout, until it does.",
        low=0.1, high=3600,
    ),
    Option(
        "filesystem.types", _T.TEXT, DEFAULT_TYPES,
        "Types of file systems that are watched wherever they are mounted: a regular expression for the whole type.",
    ),
    Option(
        "filesystem.scratch", _T.TEXT, DEFAULT_SCRATCH,
        "Mount points of local scratch that is watched too: a regular expression for the whole path.",
    ),
    Option(
        "filesystem.exclude", _T.TEXT, "",
        "Mount points that are not watched: a regular expression for the whole path.",
    ),
    Option(
        "filesystem.expected", _T.LIST, (),
        "Mount point that must be there; it is down, with reason missing, while it is not. May be given several times.",
    ),
    Option(
        "lustre.targets", _T.SWITCH, True,
        "Publish series of each target of a Lustre file system. Without them the file system has their sums: some "
        "hundred targets on each of some thousand nodes are many series.",
    ),
    Option(
        "lustre.lctl", _T.FILE, "auto",
        "Where to find lctl, for what the Lustre client keeps in no file that can be read: auto, off, or a program.",
        choices=("auto", "off"),
    ),
    Option("simulate", _T.TEXT, "", "Run on a simulated driver: name of a scenario, or a YAML file."),
    Option(
        "simulate.speed", _T.NUMBER, 1.0, "How many times faster the simulated world runs.", low=0.1, high=1000
    ),
    Option("simulate.seed", _T.TEXT, "node-a", "Name of the simulated machine. Its UUIDs follow from it."),
    Option(
        "log.level", _T.CHOICE, "info", "Least important messages to log: debug, info, warning or error.",
        ("debug", "info", "warning", "error"), reload=True,
    ),
    Option(
        "log.format", _T.CHOICE, "logfmt", "Format of log lines: logfmt or json.", ("logfmt", "json"), reload=True
    ),
)  # fmt: skip
"""All settings, in the order of the documentation."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Values of all settings of an agent or a collector, by key."""

    values: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def collectors(self) -> frozenset[str]:
        """Names of an agent's collectors that run, those among them that cannot be switched off."""
        chosen = {name for name in COLLECTOR_HELP if self.values[f"collector.{name.replace('_', '-')}"]}
        return frozenset(chosen | ALWAYS_ON)

    def file(self, key: str) -> Path | None:
        """A file or folder; ``None`` when the setting is empty."""
        return Path(self.values[key]) if self.values[key] else None
