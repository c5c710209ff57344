"""Alerts about shared file systems that hang, are slow, or run full."""

from pathlib import Path

from tests.generator.alerting import fires, says
from tests.generator.rules.storage import node_filesystem

RULES = ("filesystem", "level-filesystem", "storage")
MINUTE = "1m"
TIB = 2**40
LONG = "x100"


def mount(
    node: str, up: str, *, kind: str = "lustre", statfs: str = f"0.001{LONG}", name: str = "lustre01"
) -> dict[str, str]:
    """A mount as the agent on a node tells it."""
    at = f'cluster="c",instance="{node}:9836",node="{node}",filesystem="{name}",mountpoint="/data"'
    return {
        f'gpuscope_filesystem_info{{{at},type="{kind}",source="s",options="rw"}}': f"1{LONG}",
        f"gpuscope_filesystem_up{{{at}}}": up,
        f"gpuscope_filesystem_statfs_duration_seconds{{{at}}}": statfs,
    }


def fleet(count: int, down: int, **facts: str) -> dict[str, str]:
    """Nodes of which the first ones lose the file system at 20 minutes."""
    found: dict[str, str] = {}
    for number in range(count):
        found |= mount(f"n{number}", "1x20 0x80" if number < down else f"1{LONG}", **facts)
    return found


def lost(node: str) -> str:
    return f'StorageMountDown{{cluster="c", node="{node}", filesystem="lustre01", severity="warning"}}'


def firing(name: str, severity: str = "warning", more: str = "") -> str:
    return f'{name}{{cluster="c", filesystem="lustre01", {more}severity="{severity}"}}'


def test_one_node_without_its_mount(tmp_path: Path) -> None:
    fires(tmp_path, fleet(10, 1), {"30m": [], "31m": [lost("n0")], "90m": [lost("n0")]}, every=MINUTE, only=RULES)


def test_many_nodes_are_a_broken_file_system(tmp_path: Path) -> None:
    broken = firing("StorageUnhealthy", "critical")
    expected = {"25m": [], "27m": [broken], "32m": [lost("n0"), lost("n1"), broken]}
    fires(tmp_path / "two", fleet(20, 2), expected, every=MINUTE, only=RULES)
    # Two of forty are five in a hundred, and not more.
    fires(tmp_path / "few", fleet(40, 2), {"32m": [lost("n0"), lost("n1")]}, every=MINUTE, only=RULES)


def test_local_disks_maintenance_boots_and_the_unknown_are_silent(tmp_path: Path) -> None:
    planned = {f'node:maintenance:bool{{cluster="c",node="n{number}"}}': f"1{LONG}" for number in (0, 1)}
    booted = {f'node:uptime_seconds:union{{cluster="c",node="n{number}"}}': f"0+60{LONG}" for number in (2,)}
    times = {f"{minute}m": [] for minute in range(20, 90, 10)}
    fires(tmp_path / "local", fleet(4, 4, kind="xfs"), times, every=MINUTE, only=RULES)
    fires(tmp_path / "planned", fleet(4, 2) | planned, times, every=MINUTE, only=RULES)
    unknown = mount("n0", "1x20 stale") | mount("n1", "1x20 stale") | mount("n2", f"1{LONG}")
    fires(tmp_path / "unknown", unknown | booted, times, every=MINUTE, only=RULES)


def test_a_mount_that_comes_back(tmp_path: Path) -> None:
    samples = mount("n0", "1x20 0x20 1x60")
    fires(tmp_path, samples, {"35m": [lost("n0")], "42m": []}, every=MINUTE, only=RULES)


def test_a_mount_that_node_exporter_cannot_read(tmp_path: Path) -> None:
    samples = node_filesystem("c", device="10.0.0.9:/export", kind="nfs4")
    samples = {key: "1x40" if "device_error" in key else values for key, values in samples.items()}
    expected = ['StorageMountDown{cluster="c", node="n1", filesystem="10.0.0.9:/export", severity="warning"}']
    rules = ("node-exporter", "node-filesystem", *RULES)
    fires(tmp_path, samples, {"12m": expected}, only=rules, alerts="StorageMountDown")


def test_a_target_that_clients_have_lost(tmp_path: Path) -> None:
    at = 'cluster="c",filesystem="lustre01"'
    samples = {
        f'filesystem:mounts:count{{{at},state="up"}}': f"20{LONG}",
        f'target:clients_down:count{{{at},target="OST0001"}}': "0x20 2x80",
        f'target:clients_down:count{{{at},target="OST0002"}}': "0x20 1x80",
    }
    gone = firing("StorageTargetDown", "critical", 'target="OST0001", ')
    fires(tmp_path, samples, {"25m": [], "27m": [gone]}, every=MINUTE, only=("storage",))


def test_slow_metadata_by_the_time_of_operations(tmp_path: Path) -> None:
    def told(name: str, seconds: float, count: float) -> dict[str, str]:
        at = f'cluster="c",filesystem="{name}",operation="open"'
        data = at.replace("open", "write")
        return {
            f"filesystem:operation_seconds:rate5m{{{at}}}": f"{seconds}{LONG}",
            f"filesystem:operations:rate5m{{{at}}}": f"{count}{LONG}",
            # Large writes take long, and that is no matter of metadata.
            f"filesystem:operation_seconds:rate5m{{{data}}}": f"900{LONG}",
            f"filesystem:operations:rate5m{{{data}}}": f"10{LONG}",
        }

    samples = told("lustre01", 2.4, 20) | told("well", 1.9, 20) | told("rare", 0.9, 0.5)
    slow = firing("StorageMetadataSlow")
    fires(tmp_path, samples, {"14m": [], "16m": [slow]}, every=MINUTE, only=("storage",))


def test_slow_answers_on_many_nodes(tmp_path: Path) -> None:
    samples = fleet(4, 0) | mount("n0", f"1{LONG}", statfs=f"7{LONG}") | mount("n1", f"1{LONG}", statfs=f"9{LONG}")
    fires(tmp_path / "two", samples, {"17m": [firing("StorageMetadataSlow")]}, every=MINUTE, only=RULES)
    one = fleet(4, 0) | mount("n0", f"1{LONG}", statfs=f"7{LONG}")
    fires(tmp_path / "one", one, {"40m": []}, every=MINUTE, only=RULES)


EVERY = "10m"
"""Of samples about space: its alerts look back six hours."""


def space(available: str, *, size: float = 100 * TIB, name: str = "lustre01") -> dict[str, str]:
    at = f'cluster="c",filesystem="{name}"'
    return {
        f"filesystem:available_bytes:min{{{at}}}": available,
        f"filesystem:size_bytes:max{{{at}}}": f"{size:.0f}x80",
    }


def falling(start: float, per_hour: float, samples: int = 60) -> str:
    """Free space in TiB that shrinks evenly."""
    return f"{start * TIB:.0f}-{per_hour * TIB / 6:.0f}x{samples}"


FILLING = firing("StorageFilling")


def test_space_that_will_be_gone_within_a_day(tmp_path: Path) -> None:
    samples = space(falling(40, 1.5))
    # After six hours 31 TiB are left, for less than 21 hours.
    expected = {"350m": [], "400m": [FILLING], "480m": [FILLING]}
    fires(tmp_path, samples, expected, every=EVERY, only=("storage",))


def test_slow_growth_and_one_large_checkpoint_are_no_trend(tmp_path: Path) -> None:
    once = " ".join([f"{60 * TIB}"] * 40 + [f"{(60 - 4 * step) * TIB}" for step in range(1, 8)] + [f"{32 * TIB}"] * 40)
    freed = " ".join([f"{30 * TIB}"] * 40 + [f"{60 * TIB}"] * 40)
    samples = space(falling(40, 0.5)) | space(once, name="once") | space(freed, name="freed") | space("_", name="none")
    times = {f"{minute}m": [] for minute in range(360, 600, 20)}
    fires(tmp_path, samples, times, every=EVERY, only=("storage",))


def test_nearly_full_and_full(tmp_path: Path) -> None:
    samples = space(f"{9 * TIB}x80") | space(f"{10 * TIB}x80", name="just-so") | space(f"{4 * TIB}x80", name="full")
    full = [one.replace("lustre01", "full") for one in (FILLING, firing("StorageFilling", "critical"))]
    fires(tmp_path, samples, {"20m": [full[1]], "40m": [FILLING, *full]}, every=EVERY, only=("storage",))


def test_inodes_that_run_out(tmp_path: Path) -> None:
    def inodes(name: str, free: int) -> dict[str, str]:
        at = f'cluster="c",filesystem="{name}"'
        return {
            f"filesystem:files_free:min{{{at}}}": f"{free}x80",
            f"filesystem:files:max{{{at}}}": "1000x80",
        }

    samples = inodes("lustre01", 49) | inodes("well", 50) | inodes("none", 9)
    none = [firing("StorageInodesLow", severity).replace("lustre01", "none") for severity in ("warning", "critical")]
    fires(tmp_path, samples, {"40m": [firing("StorageInodesLow"), *none]}, every=EVERY, only=("storage",))


def test_one_full_target_of_a_file_system_with_room(tmp_path: Path) -> None:
    used = 'target:used:ratio_union{cluster="c",filesystem="lustre01",target="%s"}'
    samples = {used % "OST0001": "0.96x80", used % "OST0002": "0.95x80"}
    found = firing("StorageTargetFull", more='target="OST0001", ')
    fires(tmp_path, samples, {"10m": [], "20m": [found]}, every=EVERY, only=("storage",))


def test_what_it_says(tmp_path: Path) -> None:
    says(
        tmp_path,
        space(f"{9 * TIB}x80"),
        "StorageFilling",
        [
            {
                "labels": {
                    "cluster": "c",
                    "filesystem": "lustre01",
                    "severity": "warning",
                    "scope": "cluster",
                    "component": "storage",
                    "audience": "platform",
                    "fault_class": "storage_full",
                },
                "annotations": {
                    "summary": "A shared file system is nearly full, or will be soon.",
                    "description": "91% of lustre01 is in use: that is more than 90 %, or at the pace of the last six "
                    "hours it is full within 24 hours.",
                    "location": "file system lustre01",
                    "measured": "91% used",
                    "recommended_action": "Find the largest folders, and ask their owners to remove what they can: old "
                    "checkpoints first.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/StorageFilling.md",
                    "dashboard_url": "/d/gpuscope-filesystem/filesystem?var-cluster=c&var-filesystem=lustre01",
                },
            }
        ],
        at="40m",
        every=EVERY,
        only=("storage",),
    )
