"""The telemetry path: finished bytes of the latest snapshot."""

from gpuscope.api.handler import Handler
from gpuscope.api.negotiation import choose_format, wants_gzip

__all__ = ["ScrapeHandler"]


class ScrapeHandler(Handler):
    """``/metrics`` in classic text or OpenMetrics, plain or gzip."""

    def answer(self, *_: str) -> None:
        """Writes the bytes; query parameters are ignored, as scrapers add some."""
        chosen = choose_format(self.request.headers.get("Accept", ""))
        compressed = wants_gzip(self.request.headers.get("Accept-Encoding", ""))
        exposition = self.context.source.snapshot().exposition
        self.set_header("Vary", "Accept, Accept-Encoding")
        body = exposition.body(openmetrics=chosen.openmetrics, compressed=compressed)
        self.send(body, chosen.content_type, encoding="gzip" if compressed else "")
