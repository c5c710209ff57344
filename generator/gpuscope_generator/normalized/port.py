"""One series a port of an InfiniBand or RoCE adapter."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.promql import counter, gauge

__all__ = ["BEST_RATE", "ERRORS", "EXPECTED", "LINK_DOWNS", "PORT", "RATE", "RECENTLY_UP", "RECENT_RATE", "UP"]

PORT = ("cluster", "node", "device", "port")

UP = gauge("port:up:bool", *PORT, meaning="1 while the link of the port is active, 0 while it is not.")
RATE = gauge("port:rate_bytes:union", *PORT, unit=Unit.BYTES_PER_SECOND, meaning="Speed of its link.")
LINK_DOWNS = counter("port:link_downs_total:union", *PORT, meaning="How often it lost its link.")
ERRORS = counter("port:symbol_errors_total:union", *PORT, meaning="Symbols that it could not read.")
RECENTLY_UP = gauge("port:up:max1h", *PORT, meaning="1 while it was active within the last hour.")
RECENT_RATE = gauge(
    "port:rate_bytes:max1h", *PORT, unit=Unit.BYTES_PER_SECOND, meaning="Its fastest link of the last hour."
)
EXPECTED = gauge(
    "port:expected:bool",
    *PORT,
    meaning="1 for a port that was active within seven days: one that nobody uses is not missed.",
)
BEST_RATE = gauge(
    "port:rate_bytes:max7d", *PORT, unit=Unit.BYTES_PER_SECOND, meaning="Its fastest link of the last seven days."
)
