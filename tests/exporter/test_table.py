"""The table of GPUs: rows out of series, and how they look."""

import io

import pytest
from rich.console import Console

from gpuscope.table import NodeRows, Point, read_rows
from gpuscope.table.view import gpu_table, summary


def _draw(nodes: list[NodeRows], width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, no_color=True).print(gpu_table(nodes, width=width))
    return stream.getvalue()


def _points(machine, scenario: str, node: str = "n1") -> list[Point]:
    one = machine(scenario)
    one.cycle()
    one.cycle(10)
    return [
        Point(metric.name, {**dict(zip(metric.labels, labels, strict=True)), "node": node}, value)
        for metric, labels, value in one.samples()
    ] + [
        Point("gpuscope_gpu_up", {"gpu": str(gpu.index), "uuid": gpu.uuid, "node": node}, 1.0)
        for gpu in one.driver.node.gpus
    ]


def test_rows_hold_every_gpu_and_mig_instance(machine) -> None:
    (node,) = read_rows(_points(machine, "h100-mig"))
    assert [row.index for row in node.ordered()] == list(range(8))
    assert [len(row.mig) for row in node.ordered()] == [0, 0, 0, 0, 7, 2, 3, 3]
    text = _draw([node], 130)
    assert "8 GPUs, 15 MIG instances" in summary([node])
    for profile in ("1g.10gb", "3g.40gb", "1c.3g.40gb"):
        assert f"└ {profile}" in text


def test_what_nobody_knows_is_a_dot_and_no_zero(machine) -> None:
    (node,) = read_rows(_points(machine, "a100-mig"))
    parent = node.ordered()[2]
    assert parent.utilization is None
    assert parent.sm is None
    line = next(line for line in _draw([node], 130).splitlines() if line.strip().startswith("2 "))
    assert "·" in line
    assert "0%" not in line


@pytest.mark.parametrize("width", [80, 100, 130, 200])
def test_the_table_fits_its_width(machine, width: int) -> None:
    text = _draw(read_rows(_points(machine, "h100-mig")), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "H100" in text


def test_a_failed_gpu_and_a_fault_are_said_in_words() -> None:
    labels = {"gpu": "3", "uuid": "GPU-1", "node": "n"}
    nodes = read_rows(
        [
            Point("gpuscope_gpu_up", labels, 0.0),
            Point("gpuscope_gpu_failure_info", {**labels, "reason": "lost"}, 1.0),
            Point("gpuscope_gpu_xid_errors_total", {**labels, "xid": "79", "gi": "", "ci": ""}, 2.0),
            Point("gpuscope_gpu_xid_errors_total", {**labels, "xid": "48", "gi": "", "ci": ""}, 0.0),
            Point("gpuscope_gpu_recovery_action", {**labels, "action": "node_reboot"}, 1.0),
        ]
    )
    text = _draw(nodes, 130)
    assert "lost" in text
    assert "node reboot, XID 79×2" in text
    assert "XID 48" not in text
    assert summary(nodes).endswith("1 GPUs down")


def test_throttling_shows_in_the_state_and_idling_does_not() -> None:
    labels = {"gpu": "0", "uuid": "GPU-1", "node": "n"}
    up = Point("gpuscope_gpu_up", labels, 1.0)
    hot = Point("gpuscope_gpu_clock_event_active", {**labels, "reason": "hw_thermal"}, 1.0)
    idle = Point("gpuscope_gpu_clock_event_active", {**labels, "reason": "idle"}, 1.0)
    assert " hot " in _draw(read_rows([up, hot]), 130)
    assert " up " in _draw(read_rows([up, idle]), 130)


def test_a_node_without_a_driver_says_so() -> None:
    nodes = read_rows([Point("gpuscope_driver_unavailable_info", {"reason": "library_not_found", "node": "n"}, 1.0)])
    assert "no driver: library_not_found" in _draw(nodes, 100)


def test_hostile_names_cannot_draw(machine) -> None:
    labels = {"gpu": "0", "uuid": "GPU-1", "node": "[red]n[/red]", "model": "[bold]x[/bold]"}
    text = _draw(read_rows([Point("gpuscope_gpu_info", labels, 1.0)]), 130)
    assert "[red]n[/red]" in text
    assert "[bold]x[/bold]" in text
