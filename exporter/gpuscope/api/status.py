"""``/``: the status page."""

import time

from gpuscope.api.handler import Handler
from gpuscope.api.status_page import render_page
from gpuscope.api.status_style import STYLE_HASH

__all__ = ["StatusHandler"]


class StatusHandler(Handler):
    """The node at a glance, for people."""

    def add_configured_headers(self) -> None:
        """Forbids all but the page's own style; a configured policy wins."""
        self.set_header(
            "Content-Security-Policy",
            f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'",
        )
        self.set_header("Referrer-Policy", "no-referrer")
        super().add_configured_headers()

    def answer(self, *_: str) -> None:
        """Sends the page, built at most once a second."""
        context = self.context
        snapshot, alive, now = context.source.snapshot(), context.source.alive(), int(time.time())
        telemetry_path = context.settings.telemetry_path
        finished = context.answers.get(
            snapshot, ("/", alive, now), lambda: render_page(snapshot, alive, telemetry_path, now).encode()
        )
        self.send_answer(finished, "text/html; charset=utf-8")
