"""What the HTTP server is told, and where its answers come from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gpuscope.config import Settings
from gpuscope.errors import ConfigError

__all__ = ["Source", "WebSettings"]

_OWN_PATHS = ("/api", "/-")


class Source(Protocol):
    """What the server answers from. Every method returns at once and may be called from any thread."""

    @property
    def simulated(self) -> str:
        """Scenario name when the driver is simulated, else empty."""

    def snapshot(self) -> Any:
        """The latest snapshot: the agent's ``Snapshot``, or another with an ``exposition``, for other handlers."""

    def alive(self) -> tuple[bool, str]:
        """The watchdog's verdict, and the reason in words when it is false. Never touches NVML."""


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Settings of the HTTP server.

    Attributes:
        listen_addresses: ``host:port``, ``[::1]:port`` or ``:port`` (all addresses, IPv4 and IPv6); port 0 takes a
            free one.
        telemetry_path: path of the metrics; with ``/`` there is no status page.
        web_config_file: TLS, headers and users in the format of Prometheus' exporter-toolkit.
        max_connections: connections at a time. One more evicts the one that made no progress for longest.
        header_bytes: longest request head in bytes.
        header_timeout_s: seconds that a new connection has for its first complete request head, TLS handshake
            included.
        write_timeout_s: seconds that a client has to take its answer.
        idle_timeout_s: seconds that a kept connection may stay without a further request.
    """

    listen_addresses: tuple[str, ...] = (":9836",)
    telemetry_path: str = "/metrics"
    web_config_file: Path | None = None
    max_connections: int = 512
    header_bytes: int = 8192
    header_timeout_s: float = 10.0
    write_timeout_s: float = 30.0
    idle_timeout_s: float = 150.0

    @classmethod
    def of(cls, settings: Settings) -> "WebSettings":
        """The settings ``web.*`` of an agent or a collector."""
        return cls(
            listen_addresses=settings["web.listen-address"],
            telemetry_path=settings["web.telemetry-path"],
            web_config_file=settings.file("web.config.file"),
            max_connections=settings["web.max-connections"],
        )

    def check(self) -> None:
        """Checks what can be checked without opening anything.

        Raises:
            ConfigError: a value cannot work; the message names the flag.
        """
        path = self.telemetry_path
        if not path.startswith("/") or not path.isascii() or any(character in path for character in "?#% \t\r\n"):
            raise ConfigError(
                f"--web.telemetry-path {path!r}: must begin with '/' and be ASCII without space, '%', '?' or '#'"
            )
        if any(path == own or path.startswith(own + "/") for own in _OWN_PATHS):
            raise ConfigError(f"--web.telemetry-path {path!r}: /api and /- belong to gpuscope's own pages")
        fixed = [address for address in self.listen_addresses if not address.endswith(":0")]
        if len(set(fixed)) != len(fixed):
            raise ConfigError("--web.listen-address: an address is given twice")
        if not self.listen_addresses:
            raise ConfigError("--web.listen-address: at least one address is needed")
