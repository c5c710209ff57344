"""Programs that tests need; a missing one fails the run and is never skipped."""

import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from gpuscope.demo.programs import find

_CACHE = Path(__file__).parent.parent / ".cache"
# A busy machine is no failure: no test has a time limit.
hypothesis.settings.register_profile("gpuscope", deadline=None)
hypothesis.settings.load_profile("gpuscope")


def pytest_configure() -> None:
    """Whoever runs the tests may ignore signals, as nohup and background jobs do; programs under test inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Stories of simulated hours come first: each takes minutes, and at the end one worker would be alone with them."""
    items.sort(key=lambda item: "stories" not in item.path.parts)


@pytest.fixture(scope="session")
def promtool() -> Callable[[str], str]:
    """Runs ``promtool check metrics`` on a text; returns what it complains about, nothing when all is well."""
    program = find("promtool", _CACHE)

    def check(text: str) -> str:
        result = subprocess.run([program, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        return (result.stdout + result.stderr).strip()

    return check


@pytest.fixture
def free_port() -> Callable[[], int]:
    """Gives loopback ports that are free now."""

    def take() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    return take
