"""Settings of the HTTP server, the same for agent and collector but for the port."""

from gpuscope.config.option import Option, Type

__all__ = ["web_options"]

_T = Type


def web_options(address: str) -> tuple[Option, ...]:
    """The settings.

    Args:
        address: what is listened on when nobody says otherwise.
    """
    return (
        Option(
            "web.listen-address", _T.LIST, (address,),
            "Address to listen on: HOST:PORT, [IPV6]:PORT, or :PORT for all. May be given several times.",
        ),
        Option("web.telemetry-path", _T.TEXT, "/metrics", "Path of the metrics."),
        Option(
            "web.config.file", _T.FILE, "",
            "File with TLS, client certificates and users, in the format of Prometheus' exporter-toolkit.",
        ),
        Option(
            "web.max-connections", _T.WHOLE, 512,
            "Connections at a time. One more evicts the one that made no progress for longest.", low=8, high=65_536,
        ),
    )  # fmt: skip
