"""A server for tests that says nothing of clients that hang up, as one does that does not believe its certificate."""

from http.server import ThreadingHTTPServer

__all__ = ["QuietServer"]


class QuietServer(ThreadingHTTPServer):
    """Its handlers' threads would else write into the standard error that a test looks at."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asks fails, and says so."""
