"""A source that hangs or breaks costs itself, and says so."""

import threading

from gpuscope.catalogue import lustre as m
from gpuscope.catalogue.metric import Sample
from gpuscope.filesystems.cycle import Cycle

SAMPLE = Sample(m.LNET_ERRORS, (), 1.0)


def test_what_hangs_is_told_for_a_while_and_then_not_any_more(eventually, value) -> None:
    release = threading.Event()
    calls = []

    def read() -> tuple[Sample, ...]:
        calls.append(1)
        if len(calls) > 1:
            release.wait(60)
        return (SAMPLE,)

    cycle = Cycle("lustre", read, interval_s=0.01, stale_s=0.5)
    assert cycle.samples() == ()
    cycle.start()
    try:
        eventually(lambda: SAMPLE in cycle.samples(), "the first answer")
        eventually(lambda: SAMPLE not in cycle.samples(), "the answer to be too old")
        assert value(cycle.samples(), "collector_success", collector="lustre") == 0
        release.set()
        eventually(lambda: SAMPLE in cycle.samples(), "an answer again")
        assert value(cycle.samples(), "collector_success", collector="lustre") == 1
        assert value(cycle.samples(), "collector_duration_seconds", collector="lustre") >= 0
    finally:
        release.set()
        cycle.stop()


def test_what_breaks_is_tried_again(eventually, value, caplog) -> None:
    broken = [True]

    def read() -> tuple[Sample, ...]:
        if broken[0]:
            raise RuntimeError("odd")
        return (SAMPLE,)

    cycle = Cycle("lustre", read, interval_s=0.01, stale_s=5.0)
    cycle.start()
    try:
        eventually(lambda: value(cycle.samples(), "collector_success") == 0, "the failure")
        assert SAMPLE not in cycle.samples()
        broken[0] = False
        eventually(lambda: value(cycle.samples(), "collector_success") == 1, "success")
    finally:
        cycle.stop()
    assert "lustre failed" in caplog.text


def test_a_source_that_was_never_started_can_be_stopped() -> None:
    Cycle("lustre", tuple, interval_s=1.0, stale_s=1.0).stop()
