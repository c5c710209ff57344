"""State files that cannot be written or read, and a lead that is not lost with an error."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import requests
from tests.exporter.collector.conftest import RecordedSlurm, Running, wait_for
from tests.exporter.collector.test_settings import refused

from gpuscope.api import WebSettings
from gpuscope.collector import Collector
from gpuscope.faults.xids import XidCatalogue
from gpuscope.workloads.observation import Observation
from gpuscope.workloads.store import Store

Start = Callable[..., Running]
SAVED = "gpuscope_collector_state_saved"


def test_a_full_disk_is_told_as_such_and_loses_nothing(
    collector: Start, recorded: RecordedSlurm, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    flags = ("--slurm", "--slurm.commands", str(recorded.commands), "--state-file", str(state))
    one = collector(*flags)
    one.wait(Running.ready, "an answer of Slurm")
    assert one.value(SAVED) == 1
    with sqlite3.connect(state, isolation_level=None) as other:
        other.execute("CREATE TRIGGER full BEFORE UPDATE ON sources BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
        one.wait(lambda one: "disk is full" in one.get("/-/ready").text, "the reason")
        assert one.get("/-/ready").status_code == 503
        assert str(state) in one.get("/-/ready").text
        assert one.get("/-/healthy").status_code == 200
        assert one.value(SAVED) == 0
        assert one.value('gpuscope_collector_source_up{scheduler="slurm"}') == 1, "Slurm answers"
        recorded.go_on()
        ended = 'outcome="timed_out"'
        one.wait(lambda one: one.total("gpuscope_training_jobs_ended_total", ended) == 1, "the end of a job")
        other.execute("DROP TRIGGER full")
    other.close()
    one.wait(Running.ready, "that it is written")
    assert one.value(SAVED) == 1
    assert "does not answer" not in one.log
    assert one.log.count("disk is full") == 1
    told = {text: value for text, value in one.metrics().items() if "jobs_ended" in text}
    one.end()
    two = collector(*flags)
    two.wait(Running.ready, "an answer of Slurm")
    assert {text: value for text, value in two.metrics().items() if "jobs_ended" in text} == told


def test_damaged_state_file_is_refused_at_the_start(command, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with sqlite3.connect(state) as raw:
        raw.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY)")
    raw.close()
    assert f"--state-file {state}: is an SQLite file of something else" in refused(
        command, tmp_path, "--slurm", "--state-file", str(state)
    )


class Silent:
    """A scheduler without jobs."""

    name = "slurm"

    def start(self) -> None:
        """Nothing has to be begun."""

    def observe(self, now: float) -> Observation:
        """No jobs."""
        return Observation("slurm", now)

    def interrupt(self) -> None:
        """It waits for nothing."""

    def stop(self) -> None:
        """Nothing runs."""


class Shaky:
    """An election whose server answers what nobody expects, for a while."""

    def __init__(self) -> None:
        self.broken = threading.Event()
        self.held = False

    def hold(self) -> str:
        """Takes the lead."""
        self.held = True
        if self.broken.is_set():
            raise ZeroDivisionError("what nobody expects")
        return ""

    def release(self) -> None:
        """Gives it away."""
        self.held = False


def test_an_error_gives_the_lead_away_and_is_survived(caplog) -> None:
    election = Shaky()
    one = Collector(
        lambda known: [Silent()], lambda: Store(None), election, WebSettings(listen_addresses=("127.0.0.1:0",)),
        XidCatalogue.load(None), interval_s=0.1,
    )  # fmt: skip
    one.start()
    try:
        wait_for(lambda: one.snapshot().ready, "the lead")
        election.broken.set()
        wait_for(lambda: one.snapshot().waits, "the error")
        wait_for(lambda: not election.held, "that the lead is free")
        assert one.snapshot().waits == "internal error: ZeroDivisionError"
        session = requests.Session()
        session.trust_env = False
        with session, session.get(f"http://{one.addresses[0]}/-/ready", timeout=30) as answer:
            assert (answer.status_code, "ZeroDivisionError" in answer.text) == (503, True)
        election.broken.clear()
        wait_for(lambda: one.snapshot().ready, "the lead again")
        assert sum("gives the lead away" in record.message for record in caplog.records) == 1
    finally:
        one.stop()


def test_a_state_file_that_is_damaged_between_two_terms_is_a_reason_to_wait(tmp_path: Path) -> None:
    file = tmp_path / "state"
    election = Shaky()
    Store(file).close()
    file.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    one = Collector(
        lambda known: [Silent()], lambda: Store(file), election, WebSettings(listen_addresses=("127.0.0.1:0",)),
        XidCatalogue.load(None), interval_s=0.1,
    )  # fmt: skip
    one.start()
    try:
        wait_for(lambda: str(file) in one.snapshot().waits, "the reason")
        wait_for(lambda: not election.held, "that the lead is free")
        file.unlink()
        wait_for(lambda: one.snapshot().ready, "the lead")
    finally:
        one.stop()
