import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuscope.faults.log_time import line_time

NOW = 1_790_000_000.0  # 2026-09-21T14:13:20Z
BOOT = NOW - 86_400


@pytest.fixture(autouse=True)
def zone() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("line", "seconds_before_now"),
    [
        ("2026-09-21T14:13:10.513286+00:00 node-a kernel: NVRM: Xid", 9.486714),
        ("2026-09-21T16:13:10+02:00 node-a kernel: NVRM: Xid", 10),
        ("2026-09-21 14:13:10,500 NVRM: Xid", 9.5),
        ("2026-09-21T14:13:10.123456789Z node-a kernel", 9.876544),
        ("Sep 21 14:12:20 node-a kernel: [12.5] NVRM: Xid", 60),
        ("Sep  1 14:13:20 node-a kernel: NVRM: Xid", 20 * 86_400),
        ("Dec 31 14:13:20 node-a kernel: NVRM: Xid", 264 * 86_400),
        ("<4>Sep 21 14:12:20 node-a kernel: NVRM: Xid", 60),
        ("[Mon Sep 21 14:12:20 2026] NVRM: Xid", 60),
        ("[86340.250000] NVRM: Xid", 59.75),
        ("<12>[  100.0] NVRM: Xid", 86_300),
    ],
)
def test_time_stamps_of_log_daemons_are_understood(line: str, seconds_before_now: float) -> None:
    assert line_time(line, BOOT, NOW) == pytest.approx(NOW - seconds_before_now)


@pytest.mark.parametrize(
    "line",
    ["NVRM: Xid (PCI:0000:1b:00): 79", "", "2026-13-40T99:99:99 x", "Xyz 21 14:12:20 x", "Sep 21 14:12", "[-5.0] x"],
)
def test_a_line_without_a_time_has_none(line: str) -> None:
    assert line_time(line, BOOT, NOW) is None


def test_seconds_since_boot_need_a_boot_time() -> None:
    assert line_time("[86340.250000] NVRM: Xid", 0.0, NOW) is None


def test_local_time_is_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "XXX-02")
    time.tzset()
    assert line_time("Sep 21 16:12:20 node-a kernel: NVRM", BOOT, NOW) == NOW - 60
    assert line_time("2026-09-21T16:12:20 node-a kernel: NVRM", BOOT, NOW) == NOW - 60


@given(
    st.text() | st.from_regex(r"\A(<4>)?([A-Z][a-z]{2} [0-9]{2}|[0-9]{4}-[0-9]{2}-[0-9]{2}T)[0-9: .+Z]*"),
    st.floats(0, 4e9),
)
def test_no_time_is_in_the_future(line: str, boot: float) -> None:
    when = line_time(line, boot, NOW)
    assert when is None or 0 <= when <= NOW


@given(st.floats(0, 1e9), st.floats(1e9, 3e9))
def test_kernel_time_never_passes_now(since_boot: float, boot: float) -> None:
    when = line_time(f"[{since_boot:12.6f}] NVRM", boot, NOW)
    assert when == pytest.approx(min(boot + since_boot, NOW))
