"""The collector's own clock was ahead when it last looked, and was set back since."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.exporter.workloads.test_book import T0, classify, ended, job, look, total, trigger_of, values

from gpuscope.workloads.book import Book
from gpuscope.workloads.observation import Attempt, JobState, Observation, Outcome
from gpuscope.workloads.store import Store

AHEAD = 3 * 3600.0
LATER = T0 + AHEAD


@pytest.mark.parametrize("restarted", [True, False])
def test_clock_that_was_set_back_loses_no_job_and_counts_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, restarted: bool
) -> None:
    store = Store(tmp_path / "state")
    book = Book(store, classify, trigger_of)
    first = ended(0, LATER + 8, Outcome.INTERRUPTED, "node_down")
    first = replace(first, started=LATER + 2, running=LATER + 2)
    book.apply(Observation("slurm", LATER))
    look(book, LATER + 5, job(created=LATER + 1, attempts=(Attempt(0, LATER + 2, LATER + 2),)))
    look(
        book,
        LATER + 10,
        job(created=LATER + 1, state=JobState.RECOVERING, attempts=(first,)),
        job(2, created=LATER + 6),
    )
    if restarted:
        store.close()
        store = Store(tmp_path / "state")
        book = Book(store, classify, trigger_of)

    # Ten seconds later by any other clock.
    now = T0 + 20
    again = replace(first, started=T0 + 2, running=T0 + 2, ended=T0 + 8)
    goes_on = job(created=T0 + 1, attempts=(again, Attempt(1, T0 + 15, T0 + 16)))
    look(book, now, goes_on, job(2, created=T0 + 6), job(3, created=T0 + 18))
    assert len([one for one in caplog.records if "was set back by 10790 s" in one.getMessage()]) == 1
    assert len(book.jobs) == 3
    assert len(values(book, "job_state")) >= 3
    assert (total(book, "jobs_created_total"), total(book, "restarts_total")) == (3, 1)
    for record in book.jobs.values():
        times = [record.created, record.seen_at, record.since, *(one.ended for one in record.episodes)]
        assert all(moment is None or moment <= now for moment in times)

    look(book, now + 10, replace(goes_on, outcome=Outcome.FAILED, ended=now + 9), job(2, created=T0 + 6))
    assert total(book, "jobs_ended_total") == 1
    assert total(book, "attempts_ended_total") == 1
    # Nothing of the hours that never were, and each second since.
    assert 20 <= sum(values(book, "state_seconds_total").values()) < 60
    look(book, now + 400)
    assert total(book, "interruptions_total") == 1
    assert store.sources()["slurm"] == (pytest.approx(now - 10), now + 400)
    store.close()


def test_a_second_back_is_no_word(caplog: pytest.LogCaptureFixture) -> None:
    book = Book(Store(None), classify, trigger_of)
    look(book, T0, job())
    look(book, T0 - 0.3, job(outcome=Outcome.FAILED, ended=T0 - 0.5))
    assert total(book, "jobs_ended_total") == 1
    assert not caplog.records
