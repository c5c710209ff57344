"""HTTP: /metrics, /api/v1, health and the status page."""

from gpuscope.api.server import Server
from gpuscope.api.settings import Source, WebSettings

__all__ = ["Server", "Source", "WebSettings"]
