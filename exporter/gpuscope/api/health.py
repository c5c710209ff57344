"""Health for Kubernetes and systemd: is the process alive, and does it have readings."""

from http import HTTPStatus

from gpuscope.api.handler import Handler
from gpuscope.sampling.snapshot import Snapshot

__all__ = ["HealthyHandler", "ReadyHandler", "not_ready_reason"]


class HealthyHandler(Handler):
    """``/-/healthy``: the watchdog's verdict; a missing driver or a lost GPU does not make the agent unhealthy."""

    def answer(self, *_: str) -> None:
        """200, or 503 with the reason."""
        alive, reason = self.context.source.alive()
        if alive:
            self.send_text("gpuscope is healthy")
        else:
            self.send_text(f"gpuscope is not healthy: {reason or 'unknown'}", HTTPStatus.SERVICE_UNAVAILABLE)


class ReadyHandler(Handler):
    """``/-/ready``: whether the first full cycle is done and the driver is there."""

    def answer(self, *_: str) -> None:
        """200, or 503 with the reason."""
        reason = not_ready_reason(self.context.source.snapshot())
        if reason:
            self.send_text(f"gpuscope is not ready: {reason}", HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self.send_text("gpuscope is ready")


def not_ready_reason(snapshot: Snapshot) -> str:
    """Why the agent is not ready, in words; empty when it is."""
    if snapshot.ready:
        return ""
    driver = snapshot.driver
    if driver.ok:
        return "the first full cycle is not complete yet"
    return " ".join(part for part in (f"driver: {driver.reason or 'unknown'}", driver.message) if part)
