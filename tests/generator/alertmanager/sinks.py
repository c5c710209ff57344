"""What Alertmanager sends to: a real SMTP server and a real HTTP server, which keep what they get."""

from __future__ import annotations

import email
import email.policy
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from tests.generator.quiet_server import QuietServer

WAIT_S = 60.0


@dataclass
class Sinks:
    """What was delivered.

    Attributes:
        http: JSON by path, in the order of arrival.
        mails: in the order of arrival, each with the addresses of its envelope.
        url: of the HTTP server.
        smarthost: of the SMTP server.
    """

    url: str = ""
    smarthost: str = ""
    http: list[tuple[str, Any]] = field(default_factory=list)
    mails: list[tuple[list[str], EmailMessage]] = field(default_factory=list)

    def posted(self, path: str) -> list[Any]:
        """The JSON that was posted to a path."""
        return [body for at, body in list(self.http) if at == path]

    def mailed(self, to: str) -> list[EmailMessage]:
        """The mails to an address."""
        return [mail for addresses, mail in list(self.mails) if to in addresses]


def wait_for(ready: Callable[[], Any], what: str, *, limit_s: float = WAIT_S) -> Any:
    """Waits until something is true, and gives it; fails after a while."""
    end = time.monotonic() + limit_s
    while not (found := ready()):
        assert time.monotonic() < end, f"no {what}"
        time.sleep(0.05)
    return found


@contextmanager
def open_sinks() -> Iterator[Sinks]:
    """Both servers, on free ports of the loopback."""
    sinks = Sinks()

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            sinks.http.append((self.path, body | {"_authorization": self.headers.get("Authorization")}))
            # What PagerDuty wants its clients to see; Slack and webhooks look at the code alone.
            events = self.path.startswith("/pagerduty")
            answer = b'{"status": "success", "message": "", "dedup_key": "a"}' if events else b"ok"
            self.send_response(202 if events else 200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments: object) -> None:
            pass

    class Keep:
        async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
            mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
            sinks.mails.append((list(envelope.rcpt_tos), mail))
            return "250 OK"

    server = QuietServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    sinks.url = f"http://127.0.0.1:{server.server_address[1]}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    mail = Controller(Keep(), hostname="127.0.0.1", port=port)
    mail.start()
    try:
        sinks.smarthost = f"127.0.0.1:{port}"
        yield sinks
    finally:
        mail.stop()
        server.shutdown()
        server.server_close()
        thread.join(10)
