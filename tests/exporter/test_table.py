"""The table of GPUs: rows out of series, and how they look."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gpuscope.table import GpuRow, MigRow, NodeRows, Point, read_rows
from gpuscope.table.pages import pages
from gpuscope.table.rows import use_of
from gpuscope.table.view import gpu_table, summary, troubles


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
    cells = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
    assert cells
    assert not any("…" in cell for row in cells for cell in row), text


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
    assert summary(nodes).endswith(", 1 GPU down")


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
    assert summary(nodes) == "1 node, 0 GPUs, 0 MIG instances, 0.0 kW, 1 node without GPUs"


def test_hostile_names_cannot_draw(machine) -> None:
    labels = {"gpu": "0", "uuid": "GPU-1", "node": "[red]n[/red]", "model": "[bold]x[/bold]"}
    text = _draw(read_rows([Point("gpuscope_gpu_info", labels, 1.0)]), 130)
    assert "[red]n[/red]" in text
    assert "[bold]x[/bold]" in text


def _held(name: str, uuid: str, mig_uuid: str = "", value: float = 1.0, **labels: str) -> Point:
    full = {"node": "n1", "gpu": "0", "uuid": uuid, "mig_uuid": mig_uuid, **labels}
    # As Prometheus gives them: it drops labels that are empty.
    return Point(name, {label: text for label, text in full.items() if text}, value)


def test_names_cannot_steer_the_terminal_nor_break_the_row(machine) -> None:
    steering = "a\x1b[2J\n\r\t\x9b\u202eb"
    points = _points(machine, "h100x8")
    gpu = points[-1].labels
    holder = Point("gpuscope_pod_allocation_info", {**gpu, "mig_uuid": "", "namespace": "ns", "pod": steering}, 1.0)
    rows = read_rows([*points, holder])
    rows[0].node = rows[0].driver = steering
    rows[0].gpus[gpu["uuid"]].reason = rows[0].gpus[gpu["uuid"]].model = steering
    rows[0].gpus[gpu["uuid"]].up = False
    drawn = _draw(rows, 150)
    assert len(drawn.splitlines()) == len(_draw(read_rows(points), 150).splitlines())
    for text in (drawn, *troubles([*rows, NodeRows(steering, problem=steering)])):
        assert all(character.isprintable() for character in text.replace("\n", "")), ascii(text)
    assert "ns/a\N{REPLACEMENT CHARACTER}[2J" in drawn


def test_holders_and_use_stand_in_the_row_of_their_device(machine) -> None:
    points = _points(machine, "h100-mig")
    (node,) = read_rows(points)
    whole, parted = node.ordered()[0], node.ordered()[4]
    idle = next(row for row in parted.mig.values() if row.activity == 0)
    pod = {"namespace": "ml", "container": "c", "pod_uid": "", "resource": "", "replica": ""}
    points += [
        _held("gpuscope_allocations", row.uuid, value=0.0) for row in node.ordered() if not row.mig and row is not whole
    ]
    points += [
        _held("gpuscope_allocations", whole.uuid, value=3.0),
        _held("gpuscope_pod_allocation_info", whole.uuid, pod="train-0", **pod),
        _held("gpuscope_pod_allocation_info", whole.uuid, pod="train-0", **{**pod, "replica": "1"}),
        _held("gpuscope_pod_allocation_info", whole.uuid, pod="train-1", **pod),
        _held("gpuscope_job_allocation_info", whole.uuid, gi="", job_id="42", user="eve"),
        _held("gpuscope_pod_allocation_info", parted.uuid, idle.uuid, pod="note", **pod),
        _held("gpuscope_pod_allocation_info", parted.uuid, "MIG-gone", pod="gone", **pod),
    ]
    points.reverse()  # Prometheus promises no order
    (node,) = read_rows(points)
    row = node.gpus[whole.uuid]
    assert set(row.holders) == {"ml/train-0", "ml/train-1", "job 42 (eve)"}
    assert row.allocations == 3
    assert use_of(node.gpus[parted.uuid].mig[idle.uuid]) == "idle"
    text = _draw([node], 140)
    assert "ml/note" in text
    assert "(3) " in text
    assert "gone" not in text
    assert ", 1 idle" in summary([node])
    assert "Held by" not in _draw([node], 80)


@pytest.mark.parametrize(
    ("row", "use"),
    [
        (MigRow("m", "1g.10gb", 1, activity=0.5), "busy"),
        (MigRow("m", "1g.10gb", 1, activity=0.0, allocations=0), "free"),
        (MigRow("m", "1g.10gb", 1, activity=0.0), ""),
        (MigRow("m", "1g.10gb", 1, allocations=1), ""),
        (MigRow("m", "1g.10gb", 1, activity=0.0, allocations=1), "idle"),
    ],
)
def test_use_is_told_where_it_is_known(row: MigRow, use: str) -> None:
    assert use_of(row) == use


def _gpu(node: NodeRows, index: int, instances: int) -> None:
    row = GpuRow(index, f"{node.node}-{index}", up=True)
    row.mig = {str(gi): MigRow(str(gi), "1g.10gb", gi) for gi in range(instances)}
    node.gpus[row.uuid] = row


@given(
    shape=st.lists(st.lists(st.integers(0, 7), max_size=8), max_size=6),
    height=st.integers(10, 60),
)
def test_pages_hold_everything_once_in_order_and_fit(shape: list[list[int]], height: int) -> None:
    nodes = [NodeRows(f"n{number}") for number in range(len(shape))]
    for node, gpus in zip(nodes, shape, strict=True):
        for index, instances in enumerate(gpus):
            _gpu(node, index, instances)
    cut = pages(nodes, height)
    assert [uuid for page in cut for node in page for uuid in node.gpus] == [u for node in nodes for u in node.gpus]
    assert {node.node for page in cut for node in page} == {node.node for node in nodes}
    for page in cut:
        lines = sum(2 + sum(1 + len(gpu.mig) for gpu in node.gpus.values()) for node in page)
        assert lines <= height


def test_a_page_is_drawn_as_high_as_it_was_counted() -> None:
    nodes = [NodeRows(f"n{number}") for number in range(4)]
    for node in nodes:
        for index in range(8):
            _gpu(node, index, index)
    cut = pages(nodes, 20)
    heights = [len(_draw(page, 130).splitlines()) for page in cut]
    assert len(cut) > 4
    assert max(heights) <= 20 + 3
    assert [node.node for page in cut for node in page].count("n0") > 1, "a long node goes on under its name"


def test_troubles_name_what_is_down_before_what_had_a_fault() -> None:
    node = NodeRows("a")
    _gpu(node, 0, 0)
    _gpu(node, 1, 0)
    node.gpus["a-0"].xids = {"31": 2}
    node.gpus["a-1"].up, node.gpus["a-1"].reason = False, "lost"
    assert troubles([node, NodeRows("b", problem="no driver: library_not_found"), NodeRows("c")]) == [
        "a GPU 1 lost",
        "b no driver: library_not_found",
        "a GPU 0 XID 31×2",
    ]
