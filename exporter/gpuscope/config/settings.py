"""Every setting of the agent, declared once: flag, environment variable, key of the file, default and meaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpuscope.catalogue import ALWAYS_ON, DEFAULT_OFF, SUBJECTS
from gpuscope.config.duration import parse_duration

__all__ = ["COLLECTOR_HELP", "OPTIONS", "AgentSettings", "Option", "Type"]


class Type(StrEnum):
    """Kinds of values."""

    TEXT = "text"
    LIST = "list"
    DURATION = "duration"
    NUMBER = "number"
    WHOLE = "whole number"
    SWITCH = "true or false"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Option:
    """One setting.

    Attributes:
        key: name with dots, as in the flag and, nested, in the file.
        type: kind of value.
        default: value when nobody sets it; a duration in seconds.
        help: what it does.
        choices: allowed words of a choice.
        low: smallest number or duration.
        reload: whether a reload puts a new value in force.
    """

    key: str
    type: Type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    low: float = 0.0
    reload: bool = False

    @property
    def flag(self) -> str:
        """The command-line flag."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return "GPUSCOPE_" + self.key.upper().replace(".", "_").replace("-", "_")

    def parse(self, raw: Any) -> Any:
        """Turns a text (flag, environment) or a YAML value (file) into the value.

        Raises:
            ValueError: the value does not fit.
        """
        match self.type:
            case Type.LIST:
                return self._list(raw)
            case Type.SWITCH:
                return self._switch(raw)
            case Type.DURATION:
                return self._bounded(parse_duration(str(raw)), raw)
            case Type.NUMBER | Type.WHOLE:
                return self._number(raw)
            case Type.CHOICE:
                if raw not in self.choices:
                    raise ValueError(f"{raw!r} is not one of {', '.join(self.choices)}")
                return raw
            case _:
                if isinstance(raw, bool | list | dict) or raw is None:
                    raise ValueError(f"{raw!r} is not a text")
                return str(raw)

    def _list(self, raw: Any) -> tuple[str, ...]:
        parts = raw.split(",") if isinstance(raw, str) else raw
        if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
            raise ValueError(f"{raw!r} is not a list of texts")
        found = tuple(part.strip() for part in parts if part.strip())
        if not found:
            raise ValueError("the list is empty")
        return found

    @staticmethod
    def _switch(raw: Any) -> bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if isinstance(raw, bool):
            return raw
        if str(raw).lower() not in words:
            raise ValueError(f"{raw!r} is neither true nor false")
        return words[str(raw).lower()]

    def _number(self, raw: Any) -> float | int:
        try:
            value = int(str(raw)) if self.type is Type.WHOLE else float(str(raw))
        except ValueError:
            raise ValueError(f"{raw!r} is not a {self.type}") from None
        self._bounded(value, raw)
        return value

    def _bounded(self, value: float, raw: Any) -> float:
        if not self.low <= value < float("inf"):
            raise ValueError(
                f"{raw!r} is out of range: at least {self.low:g}{' s' if self.type is Type.DURATION else ''}"
            )
        return value


COLLECTOR_HELP: Mapping[str, str] = {
    "mig": "MIG mode and MIG instances",
    "memory": "frame buffer and BAR1",
    "utilization": "utilization as the driver averages it, and busy seconds",
    "activity": "GPM: SM, tensor, DRAM and graphics activity of GPUs and MIG instances, occupancy",
    "pipes": "GPM: activity of each arithmetic pipe",
    "cycles": "GPM: cycle counters since reset (driver 595 and newer)",
    "engines": "GPM: activity of each video engine",
    "power": "power, limits and energy",
    "temperature": "temperatures, thresholds and fans",
    "clocks": "clock rates, performance state, what holds the clocks down",
    "xid": "XIDs, SXIDs and other driver events",
    "recovery": "what the driver asks for to bring a GPU back",
    "ecc": "ECC mode and errors",
    "remapping": "row remapping, page retirement, repairs",
    "pcie": "PCIe traffic, errors and link",
    "pcie_details": "PCIe errors by their cause",
    "nvlink": "NVLink of each GPU as a whole",
    "nvlink_links": "NVLink link by link (some hundred series a GPU)",
    "fabric": "membership of an NVLink fabric",
    "c2c": "chip-to-chip links to the CPU",
    "confidential": "confidential computing",
    "vgpu": "vGPU licence and instances",
    "processes": "number of processes on GPUs and MIG instances",
}

_T = Type
OPTIONS: tuple[Option, ...] = (
    Option("web.listen-address", _T.LIST, (":9836",), "Addresses to listen on: host:port, [::1]:port, :port."),
    Option("web.telemetry-path", _T.TEXT, "/metrics", "Path of the metrics."),
    Option(
        "web.config.file", _T.TEXT, "",
        "File with TLS, client certificates and users, in the format of Prometheus' exporter-toolkit.",
    ),
    Option("web.max-connections", _T.WHOLE, 512, "Connections at a time; slow clients are dropped first.", low=8),
    *(
        Option(
            f"collector.{name.replace('_', '-')}", _T.SWITCH, name not in DEFAULT_OFF, f"Publish {text}.", reload=True
        )
        for name, text in COLLECTOR_HELP.items()
    ),
    Option("interval.fast", _T.DURATION, 5.0, "Seconds between readings of what changes fast.", low=0.2, reload=True),
    Option("interval.activity", _T.DURATION, 10.0, "Length of a GPM window.", low=0.2, reload=True),
    Option("interval.processes", _T.DURATION, 15.0, "Time between looks at processes.", low=0.2, reload=True),
    Option("interval.slow", _T.DURATION, 60.0, "Time between readings of what changes slowly.", low=0.2, reload=True),
    Option(
        "nvml.deadline", _T.DURATION, 5.0,
        "A GPU whose cycle takes longer is down with reason timeout until the call returns.", low=0.1, reload=True,
    ),
    Option(
        "nvml.release-timeout", _T.DURATION, 300.0,
        "Time after which the driver is taken up again when SIGUSR1 released it; 0 waits for a second signal.",
        reload=True,
    ),
    Option(
        "exit-on-stuck", _T.DURATION, 0.0,
        "Exit with code 3 when a driver call hangs for this long, so that the service manager starts anew; 0 never.",
        reload=True,
    ),
    Option("expected-gpus", _T.WHOLE, 0, "GPUs that this machine should have; 0 finds out.", reload=True),
    Option("node-name", _T.TEXT, "", "Name of this machine in the API; by default $NODE_NAME, else the host name."),
    Option(
        "kernel-log", _T.TEXT, "auto",
        "Where to read XIDs and SXIDs beside NVML: auto (/dev/kmsg where it may be read), off, or a file.",
    ),
    Option("state-dir", _T.TEXT, "", "Folder where the position in the kernel log outlives a restart."),
    Option("xid-catalogue", _T.TEXT, "", "CSV file whose rows override the shipped XID catalogue.", reload=True),
    Option("path.procfs", _T.TEXT, "/proc", "Where the host's proc file system is mounted."),
    Option("simulate", _T.TEXT, "", "Run on a simulated driver: name of a scenario, or a YAML file."),
    Option("simulate.speed", _T.NUMBER, 1.0, "How many times faster the simulated world runs.", low=0.01),
    Option("simulate.seed", _T.TEXT, "node-a", "Name of the simulated machine; UUIDs follow from it."),
    Option("log.level", _T.CHOICE, "info", "Least important messages to log.", ("debug", "info", "warning", "error")),
    Option("log.format", _T.CHOICE, "logfmt", "Format of log lines.", ("logfmt", "json")),
)  # fmt: skip
"""All settings, in the order of the documentation."""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Values of all settings, by key."""

    values: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def collectors(self) -> frozenset[str]:
        """Names of the collectors that run."""
        chosen = {name for name in COLLECTOR_HELP if self.values[f"collector.{name.replace('_', '-')}"]}
        return frozenset(chosen | ALWAYS_ON)


assert set(COLLECTOR_HELP) | ALWAYS_ON == set(SUBJECTS)
