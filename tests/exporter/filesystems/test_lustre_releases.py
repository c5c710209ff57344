"""The Lustre client: where each release keeps its counters, and what they say."""

import shutil

import pytest

from gpuscope.filesystems.lustre.source import LustreSource

CLIENT = "ffff88105db50000"
LABELS = {"filesystem": "lustre01", "mountpoint": "/lustre01"}
# release -> bytes and calls of reads, the same of writes; opens; read-ahead hits; seconds of getattr
COUNTS = {
    "2.10": (7340036096, 7021, 93813797294080, 89467810, 136, 1790012, None),
    "2.12": (1496254921055, 57406355, 1184274862535, 16229451, 33538615, 7072178, None),
    "2.15": (44179456, 16, 44204032, 17, 434, 10772, 0.075186),
}
SOURCES = {
    "2.10": dict.fromkeys(("llite_stats", "read_ahead_stats", "rpc_stats", "import", "state", "lnet_stats"), "procfs"),
    "2.12": {
        "llite_stats": "debugfs", "read_ahead_stats": "debugfs", "lnet_stats": "debugfs",
        "rpc_stats": "procfs", "import": "procfs", "state": "procfs",
    },
}  # fmt: skip
SOURCES["2.15"] = SOURCES["2.12"]
every_release = pytest.mark.parametrize("release", COUNTS)


def read(tree, **options: object) -> tuple:
    return LustreSource(tree.proc, tree.sys, **options).read()  # type: ignore[arg-type]


@every_release
def test_bytes_and_operations_are_right(tree, value, release: str) -> None:
    samples = read(tree.lustre(release))
    read_bytes, reads, write_bytes, writes, opens, hits, seconds = COUNTS[release]
    assert value(samples, "filesystem_read_bytes_total", **LABELS) == read_bytes
    assert value(samples, "filesystem_write_bytes_total", **LABELS) == write_bytes
    assert value(samples, "filesystem_operations_total", **LABELS, operation="read") == reads
    assert value(samples, "filesystem_operations_total", **LABELS, operation="write") == writes
    assert value(samples, "filesystem_operations_total", **LABELS, operation="open") == opens
    assert value(samples, "lustre_read_ahead_events_total", **LABELS, event="hits") == hits
    assert value(samples, "filesystem_operation_seconds_total", **LABELS, operation="getattr") == pytest.approx(seconds)
    assert value(samples, "lustre_source_failures_total") is None


@every_release
def test_the_place_that_was_read_is_told(tree, value, series, release: str) -> None:
    samples = read(tree.lustre(release))
    assert {
        labels[0]: labels[1] for labels, used in series(samples, "lustre_source_available").items() if used
    } == SOURCES[release]
    assert (
        value(samples, "lustre_client_info", version={"2.10": "2.10.8", "2.12": "2.12.9"}.get(release, "2.15.5")) == 1
    )
    assert value(samples, "lustre_source_available", param="rpc_stats", source="sysfs") == 0
    assert value(samples, "lustre_source_unavailable_info", param="rpc_stats", source="sysfs", reason="missing") == 1


def test_what_is_no_operation_is_not_counted_as_one(tree, series) -> None:
    samples = read(tree.lustre("2.15"))
    operations = {labels[2] for labels in series(samples, "filesystem_operations_total")}
    assert operations == {"read", "write", "ioctl", "open", "close", "getattr"}
    timed = {labels[2] for labels in series(samples, "filesystem_operation_seconds_total")}
    assert timed == operations - {"ioctl"}


@every_release
def test_targets_are_connected_and_their_troubles_counted(tree, value, series, release: str) -> None:
    samples = read(tree.lustre(release))
    ost = {"filesystem": "lustre01", "target": "OST0000"}
    assert series(samples, "lustre_target_up") == {("lustre01", "OST0000"): 1, ("lustre01", "MDT0000"): 1}
    assert value(samples, "lustre_target_failure_info") is None
    assert value(samples, "lustre_request_timeouts_total", **ost) == 3
    assert value(samples, "lustre_connection_attempts_total", **ost) == 4
    assert value(samples, "lustre_evictions_total", **ost) == 0, "what was before the start is not counted"


def test_rpcs(tree, value, series) -> None:
    samples = read(tree.lustre("2.12"))
    ost, rpcs = {"filesystem": "lustre01", "target": "OST0000"}, {"filesystem": "lustre01"}
    assert value(samples, "lustre_rpcs_in_flight", **ost, type="read") == 3
    assert value(samples, "lustre_rpcs_in_flight", **ost, type="write") == 0
    assert value(samples, "lustre_rpcs_in_flight", filesystem="lustre01", target="MDT0000", type="modify") == 0
    assert value(samples, "lustre_pending_pages", **ost, direction="read") == 96
    assert value(samples, "lustre_rpcs_total", **rpcs, direction="read", pages="1") == 100395 + 5
    assert value(samples, "lustre_rpcs_total", **rpcs, direction="write", pages="64") == 6268
    assert {labels[2] for labels in series(samples, "lustre_rpcs_total")} == {"1", "64", "1024"}


def test_rpcs_of_the_first_and_the_last_release(tree, value) -> None:
    samples = read(tree.lustre("2.10"))
    assert value(samples, "lustre_rpcs_in_flight", target="MDT0000", type="modify") == 2
    assert value(samples, "lustre_rpcs_total", direction="write", pages="1024") == 16389010
    shutil.rmtree(tree.root)
    samples = read(tree.lustre("2.15"))
    assert value(samples, "lustre_rpcs_in_flight", target="OST0000", type="write") == 2
    assert value(samples, "lustre_rpcs_total", direction="read", pages="256") == 40
    assert value(samples, "lustre_source_failures_total") is None


def test_lnet(tree, value) -> None:
    samples = read(tree.lustre("2.10"))
    assert value(samples, "lustre_lnet_messages_total", direction="send") == 101719323
    assert value(samples, "lustre_lnet_messages_total", direction="receive") == 101719291
    assert value(samples, "lustre_lnet_messages_total", direction="drop") == 2
    assert value(samples, "lustre_lnet_bytes_total", direction="send") == 21201322992
    assert value(samples, "lustre_lnet_bytes_total", direction="receive") == 53029565353720
    assert value(samples, "lustre_lnet_bytes_total", direction="drop") == 512
    assert value(samples, "lustre_lnet_errors_total") == 1


def test_without_lustre_nothing_is_published(tree) -> None:
    assert read(tree) == ()


def test_a_client_that_has_done_nothing_yet_has_zeros(tree, put, value) -> None:
    tree.lustre("2.12")
    put(
        tree.sys / f"kernel/debug/lustre/llite/lustre01-{CLIENT}/stats",
        "snapshot_time             1651234567.123456789 secs.nsecs\n",
    )
    samples = read(tree)
    assert value(samples, "filesystem_read_bytes_total", **LABELS) == 0
    assert value(samples, "filesystem_write_bytes_total", **LABELS) == 0
    assert value(samples, "filesystem_operations_total") is None


@pytest.mark.parametrize(
    ("state", "up"),
    [("FULL", 1), ("IDLE", 1), ("DISCONN", 0), ("CONNECTING", 0), ("EVICTED", 0), ("REPLAY_WAIT", 0)],
)
def test_a_target_is_up_while_it_can_be_used(tree, value, state: str, up: int) -> None:
    tree.lustre("2.15")
    path = tree.proc / f"fs/lustre/osc/lustre01-OST0000-osc-{CLIENT}/import"
    path.write_text(path.read_text().replace("state: FULL", f"state: {state}"))
    samples = read(tree)
    assert value(samples, "lustre_target_up", target="OST0000") == up
    failure = value(samples, "lustre_target_failure_info", target="OST0000", state=state.lower())
    assert failure == (None if up else 1)
    assert value(samples, "lustre_target_up", target="MDT0000") == 1


def test_evictions_are_counted_from_the_start_on(tree, value) -> None:
    tree.lustre("2.15")
    source = LustreSource(tree.proc, tree.sys)
    path = tree.proc / f"fs/lustre/osc/lustre01-OST0000-osc-{CLIENT}/state"
    ost = {"filesystem": "lustre01", "target": "OST0000"}
    assert value(source.read(), "lustre_evictions_total", **ost) == 0
    path.write_text(path.read_text() + " - [ 1790000000, EVICTED ]\n - [ 1790000002, FULL ]\n")
    assert value(source.read(), "lustre_evictions_total", **ost) == 1
    assert value(source.read(), "lustre_evictions_total", **ost) == 1
    path.write_text("current_state: FULL\nstate_history:\n - [ 1790000000, EVICTED ]\n - [ 1790000009, EVICTED]\n")
    assert value(source.read(), "lustre_evictions_total", **ost) == 2
    assert value(source.read(), "lustre_evictions_total", filesystem="lustre01", target="MDT0000") == 0


def test_targets_can_be_added_up(tree, value, series) -> None:
    tree.lustre("2.12")
    path = tree.proc / f"fs/lustre/osc/lustre01-OST0000-osc-{CLIENT}/import"
    path.write_text(path.read_text().replace("state: FULL", "state: DISCONN"))
    samples = read(tree, targets=False)
    assert series(samples, "lustre_target_up") == {("lustre01", ""): 0}
    assert series(samples, "lustre_request_timeouts_total") == {("lustre01", ""): 3}
    assert value(samples, "lustre_rpcs_in_flight", filesystem="lustre01", target="", type="read") == 3
    assert value(samples, "lustre_rpcs_in_flight", filesystem="lustre01", target="", type="write") == 1
    assert series(samples, "lustre_evictions_total") == {("lustre01", ""): 0}


def test_instances_of_a_server_are_not_a_clients_targets(tree, series) -> None:
    tree.lustre("2.10")
    osc = tree.proc / "fs/lustre/osc"
    shutil.copytree(osc / f"lustre01-OST0000-osc-{CLIENT}", osc / "lustre01-OST0009-osc-MDT0000")
    (osc / "num_refs").write_text("4\n")
    assert len(series(read(tree), "lustre_target_up")) == 2
    assert len(series(read(tree), "lustre_evictions_total")) == 2
