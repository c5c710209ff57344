"""The table of alerts."""

import io

import pytest
from rich.console import Console

from gpuscope.table.alerts import AlertRow, alert_table, alerts_screenful, alerts_summary

NOW = 1_000_000.0
LOST = AlertRow(
    "GpuFellOffBus", "critical", "node h100-c, GPU 3, GPU-1, serial 2", "critical", NOW - 90, False, "1 event"
)
HOT = AlertRow("GpuThermalSlowdown", "warning", "node h100-a, GPU 1", "warnings", NOW - 300, False)
IDLE = AlertRow("GpuAllocatedIdle", "info", "namespace nlp", "owners", NOW - 7200, False)
OVER = AlertRow("GpuMemoryContained", "warning", "node h100-b, GPU 5", "warnings", NOW - 600, True)


def _drawn(alerts: list[AlertRow], width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(alert_table(alerts, now=NOW, width=width))
    return [line for line in console.file.getvalue().splitlines() if line.strip()]


def test_what_wakes_somebody_stands_first_and_what_is_over_last() -> None:
    names = [line.split()[1] for line in _drawn([OVER, IDLE, HOT, LOST], 120)[2:]]
    assert names == ["GpuFellOffBus", "GpuThermalSlowdown", "GpuAllocatedIdle", "GpuMemoryContained"]


@pytest.mark.parametrize("width", [80, 110, 200])
def test_it_fits_and_nothing_but_places_is_cut(width: int) -> None:
    lines = _drawn([LOST, OVER], width)
    assert max(map(len, lines)) <= width
    assert lines[2].split()[:2] == ["critical", "GpuFellOffBus"]
    assert lines[2].rstrip().endswith("90 s  critical")
    assert lines[3].split()[:2] == ["over", "GpuMemoryContained"]
    assert ("1 event" in lines[2]) is (width >= 110)


def test_texts_of_labels_cannot_steer_the_terminal() -> None:
    hostile = AlertRow("A", "critical", "node \x1b[2Jx", "critical", NOW, False)
    assert "\x1b" not in "".join(_drawn([hostile], 120))


def test_severities_that_nobody_knows_are_shown() -> None:
    odd = AlertRow("A", "page", "node n", "warnings", NOW, False)
    assert _drawn([odd, IDLE], 120)[-1].split()[:2] == ["page", "A"]


def test_long_lists_take_turns_and_none_has_no_page() -> None:
    assert len(alerts_screenful([LOST] * 25, NOW, 120, 10).pages) == 3
    assert alerts_screenful([], NOW, 120, 10).pages == []


def test_the_summary_counts_what_fires() -> None:
    assert alerts_summary([LOST, HOT, HOT, OVER]) == "alerts: 1 critical, 2 warning; 1 over"
    assert alerts_summary([]) == "alerts: none"
