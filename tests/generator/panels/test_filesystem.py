"""The File System board: the number that each panel shows on file systems that are known."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.storage import (
    FREE,
    FSX_ID,
    GIB,
    OPENS,
    READ,
    READS,
    SIZE,
    WRITE,
    fsx,
    gpfs,
    hpe,
    level,
    mountstats,
    ours,
)
from tests.generator.rules.test_filesystems import FILES

from gpuscope_generator.dashboards.filesystem import filesystem_board
from gpuscope_generator.panels import (
    filesystem,
    filesystem_clients,
    filesystem_servers,
    filesystem_space,
    filesystem_traffic,
    lustre,
    mounts,
    workload_hosts,
)
from gpuscope_generator.promql import Expression
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Link, Noun, Panel, Table

NOW = Settings()
EVERYTHING = dict.fromkeys(("fs_type", "mountpoint", "filesystem", "target"), ".*")
SOON = "7m"


def shown(panel: Panel, index: int = 0) -> Expression:
    return panel.queries[index].expression


def column(table: Table, title: str) -> Expression:
    return next(one.expression for one in table.values if one.title == title)


OURS, FSX = '{cluster="c",filesystem="lustre01"}', f'{{cluster="c",filesystem="{FSX_ID}"}}'
NFS = '{cluster="c",filesystem="nas:/data"}'


def test_space_traffic_and_operations(tmp_path: Path) -> None:
    """Lustre by our agent, FSx, and NFS of which no space is known, in one cluster."""
    table = filesystem.filesystems(NOW)
    everyone = (OURS, FSX, NFS)
    expect(
        tmp_path,
        ours("c") | fsx("c") | mountstats("c"),
        {
            shown(filesystem.fullest(NOW)): {'{cluster="c"}': 0.6},
            shown(filesystem.throughput_now()): {
                '{cluster="c",direction="read"}': 3 * READ,
                '{cluster="c",direction="write"}': 3 * WRITE,
            },
            column(table, "Used"): {OURS: 0.6, FSX: 0.6},
            column(table, "Free"): {OURS: FREE, FSX: FREE},
            column(table, "Written"): dict.fromkeys(everyone, WRITE),
            column(table, "Nodes"): {OURS: 1},
            shown(filesystem_space.space()): {'{cluster="c"}': 2 * SIZE},
            shown(filesystem_space.compression()): {FSX: 0.25},
            shown(filesystem_traffic.throughput()): dict.fromkeys(everyone, READ),
            shown(filesystem_traffic.iops()): dict.fromkeys(everyone, READS),
            shown(filesystem_traffic.io_size()): dict.fromkeys(everyone, READ / READS),
            shown(filesystem_traffic.metadata()): {'{cluster="c",operation="open"}': 2 * OPENS},
            shown(filesystem_traffic.metadata(), 1): {FSX: OPENS},
            f"{shown(filesystem_traffic.latency())} == 2": {
                '{cluster="c",filesystem="lustre01",operation="open"}': 2,
                **{f'{{cluster="c",filesystem="nas:/data",operation="{one}"}}': 2 for one in ("open", "read", "write")},
            },
            shown(filesystem_traffic.nfs_latency()): {NFS: 1},
            shown(filesystem_traffic.nfs_latency(), 1): {NFS: 1},
            shown(filesystem_clients.connections(), 2): {FSX: 7},
            column(filesystem_clients.busiest_nodes(), "Read"): {
                f'{{cluster="c",node="n1",filesystem="{name}"}}': READ for name in ("lustre01", "nas:/data")
            },
            shown(lustre.connection_events()): {
                '{cluster="c",filesystem="nas:/data",event="retransmissions"}': 3,
                '{cluster="c",filesystem="nas:/data",event="timeouts"}': 0,
            },
        },
        only=FILES,
        at=SOON,
        variables=EVERYTHING,
    )


def test_panels_follow_type_mount_point_and_file_system(tmp_path: Path) -> None:
    """A link that carries a mount point shows that file system, and none of another place."""
    other = ours("c", name="nas:/home", kind="nfs4", source="nas:/home")
    moved = {key.replace("/data", "/home"): value for key, value in other.items()}
    panel = shown(filesystem_traffic.throughput())
    nodes = column(filesystem_clients.busiest_nodes(), "Read")
    for chosen in ({"mountpoint": "/home"}, {"fs_type": "nfs4"}, {"filesystem": "nas:/home"}):
        folder = tmp_path / next(iter(chosen))
        folder.mkdir()
        expect(
            folder,
            ours("c") | moved,
            {
                panel: {'{cluster="c",filesystem="nas:/home"}': READ},
                nodes: {'{cluster="c",node="n1",filesystem="nas:/home"}': READ},
            },
            only=FILES,
            at=SOON,
            variables=EVERYTHING | chosen,
        )


def test_servers_and_targets_of_fsx(tmp_path: Path) -> None:
    """Defect 22: each metric with its own dimension; what only FSx for Windows has is not asked for."""
    table = filesystem_servers.targets(NOW)
    at = f'cluster="c",filesystem="{FSX_ID}"'
    targets = [f'{{{at},target="OST000{number}"}}' for number in (0, 1)]
    backlog = f'aws_fsx_age_of_oldest_queued_message_maximum{{cluster="c",dimension_FileSystemId="{FSX_ID}",'
    expect(
        tmp_path,
        fsx("c") | {f'{backlog}dimension_Publisher="AutoExport"}}': level(45)},
        {
            shown(filesystem_servers.server_cpu()): {f'{{{at},server="mds-0"}}': 0.5},
            shown(filesystem_servers.server_balance()): {f'{{{at},server="mds-0",resource="disk_iops"}}': 0.75},
            shown(filesystem_servers.server_network()): {f'{{{at},server="mds-0"}}': READ},
            shown(filesystem_servers.hot_spots()): {FSX: 1.5},
            shown(filesystem_servers.hot_spots(), 1): {FSX: 1},
            shown(filesystem_servers.backlog()): {f'{{{at},publisher="AutoExport"}}': 45},
            column(table, "Used"): dict.fromkeys(targets, 0.6),
            column(table, "Read"): {targets[0]: READ * 0.75, targets[1]: READ * 0.25},
            column(table, "Disk operations"): {targets[0]: READS * 0.75, targets[1]: READS * 0.25},
        },
        only=FILES,
        at=SOON,
        variables=EVERYTHING,
    )
    asked = " ".join(str(query.expression) for panel in filesystem_board(NOW).panels for query in panel.queries)
    assert not any(name in asked for name in ("dedup", "memory_utilization", "free_storage_capacity"))


def filling(free: str) -> dict[str, str]:
    at = 'cluster="c",filesystem="lustre01"'
    return {
        f"filesystem:available_bytes:min{{{at}}}": free,
        f'filesystem:info:union{{{at},fs_type="lustre",mountpoint="/data"}}': "1x400",
    }


def test_time_until_full_is_a_straight_line_and_never_negative(tmp_path: Path) -> None:
    """1 GiB a minute of 480 GiB are gone: 240 GiB after four hours are left for four hours more."""
    panel = shown(filesystem.time_until_full())
    cases: dict[str, tuple[str, str, dict[str, float]]] = {
        "fills": (f"{480 * GIB}-{GIB}x400", "240m", {'{cluster="c"}': 4 * 3600.0}),
        "empties": (f"{480 * GIB}+{GIB}x400", "240m", {}),
        "rests": (f"{480 * GIB}x400", "240m", {}),
        "new": (f"{480 * GIB}-{GIB}x400", "8m", {}),
    }
    for name, (free, at, expected) in cases.items():
        folder = tmp_path / name
        folder.mkdir()
        expect(
            folder,
            filling(free),
            {f"round({panel}, 10)": expected},
            at=at,
            every="60s",
            rules=False,
            variables=EVERYTHING,
        )


def down(name: str, state: str, value: int, labels: str = "") -> dict[str, str]:
    return {
        f'{name}{{cluster="c",instance="10.0.0.2:9836",node="n2",filesystem="lustre01",mountpoint="/data"{labels}}}': (
            level(value)
        ),
        f'gpuscope_filesystem_info{{cluster="c",instance="10.0.0.2:9836",node="n2",filesystem="lustre01",'
        f'mountpoint="/data",type="lustre",source="x:/lustre01",options="{state}"}}': level(1),
    }


def test_mounts_that_hang_or_cannot_be_seen(tmp_path: Path) -> None:
    samples = ours("c") | down("gpuscope_filesystem_up", "rw", 0)
    samples |= down("gpuscope_filesystem_failure_info", "rw", 1, ',reason="timeout"')
    states = '{cluster="c",node="%s",filesystem="lustre01"}'
    failed = '{cluster="c",node="n2",filesystem="lustre01",mountpoint="/data",reason="timeout"}'
    expect(
        tmp_path,
        samples,
        {
            shown(filesystem.mounts_down()): {'{cluster="c"}': 1},
            shown(mounts.mount_states()): {states % "n1": 2, states % "n2": 0},
            str(mounts.failures().values[0].expression): {failed: 1},
            column(filesystem.filesystems(NOW), "Down"): {OURS: 1},
        },
        only=FILES,
        at="2m",
        variables=EVERYTHING,
    )


def test_lustre_clients_and_where_their_counters_are(tmp_path: Path) -> None:
    """Complaint 30: counters moved between releases; the panel names the place, or says that there is none."""
    at = 'cluster="c",instance="10.0.0.1:9836",node="n1"'
    target = f'{at},filesystem="lustre01",target="OST0000"'
    samples = ours("c") | {
        f'gpuscope_lustre_source_available{{{at},param="llite_stats",source="sysfs"}}': level(0),
        f'gpuscope_lustre_source_available{{{at},param="llite_stats",source="debugfs"}}': level(1),
        f'gpuscope_lustre_source_available{{{at},param="lnet_stats",source="procfs"}}': level(0),
        f'gpuscope_lustre_source_available{{{at},param="lnet_stats",source="lctl"}}': level(0),
        f'gpuscope_lustre_rpcs_in_flight{{{target},type="read"}}': level(3),
        f'gpuscope_lustre_rpcs_in_flight{{{target},type="write"}}': level(8),
        f"gpuscope_lustre_target_up{{{target}}}": level(0),
        f"gpuscope_lustre_evictions_total{{{target}}}": "0+15x40",
        f'gpuscope_lustre_rpcs_total{{{at},filesystem="lustre01",direction="read",pages="256"}}': "0+90x40",
        f'gpuscope_lustre_rpcs_total{{{at},filesystem="lustre01",direction="read",pages="1"}}': "0+30x40",
        f'gpuscope_lustre_read_ahead_events_total{{{at},filesystem="lustre01",mountpoint="/data",event="hits"}}': (
            "0+120x40"
        ),
    }
    place = '{cluster="c",node="n1",param="%s",source="%s"}'
    of_type = '{cluster="c",filesystem="lustre01",type="%s"}'
    pages = '{cluster="c",filesystem="lustre01",direction="read",pages="%s"}'
    event = '{cluster="c",filesystem="lustre01",event="%s"}'
    expect(
        tmp_path,
        samples,
        {
            str(lustre.sources().values[0].expression): {
                place % ("llite_stats", "debugfs"): 1,
                place % ("lnet_stats", "none"): 1,
            },
            shown(lustre.requests_waiting()): {of_type % "read": 3, of_type % "write": 8},
            shown(lustre.requests_waiting(), 1): {OURS: 8},
            shown(lustre.request_sizes()): {pages % "256": 0.75, pages % "1": 0.25},
            shown(lustre.read_ahead()): {event % "hits": 4},
            shown(lustre.connection_events()): {event % "evictions": 0.5},
            column(filesystem_servers.targets(NOW), "Clients down"): {
                '{cluster="c",filesystem="lustre01",target="OST0000"}': 1
            },
        },
        only=FILES,
        at=SOON,
        variables=EVERYTHING,
    )


def test_history_of_requests_is_no_level(tmp_path: Path) -> None:
    """HPE's lustre_rpcs_in_flight counts how often so many were in flight: shown as a level it would be nonsense."""
    expect(
        tmp_path,
        hpe("c"),
        {
            shown(lustre.requests_waiting()): {},
            shown(lustre.request_sizes()): {'{cluster="c",filesystem="lustre01",direction="read",pages="256"}': 1},
        },
        only=FILES,
        at=SOON,
        variables=EVERYTHING,
    )


def test_work_on_busy_nodes_and_files_of_a_workload(tmp_path: Path) -> None:
    """The way from a file system to a workload, and back from the Task board."""
    pod = 'cluster="c",namespace="ml",workload_kind="JobSet",workload="train",pod="train-0",node="n1"'
    held = {f'pod:gpu_share:ratio{{{pod},gpu="{gpu}",uuid="GPU-{gpu}"}}': level(1) for gpu in (0, 1)}
    traffic = workload_hosts.file_traffic()
    expect(
        tmp_path,
        ours("c") | gpfs("other") | held,
        {
            column(filesystem_clients.busiest_workloads(), "Node reads"): {f"{{{pod}}}": READ},
            column(filesystem_clients.busiest_workloads(), "Node writes"): {f"{{{pod}}}": WRITE},
            shown(traffic): {'{cluster="c",node="n1",filesystem="lustre01"}': READ},
            shown(traffic, 1): {'{cluster="c",node="n1",filesystem="lustre01"}': WRITE},
        },
        only=FILES,
        at=SOON,
        variables=EVERYTHING,
    )


def test_no_panel_shows_anything_where_nothing_is_known(tmp_path: Path) -> None:
    queries = {
        query.expression: None
        for panel in filesystem_board(NOW).panels
        for query in panel.queries
        if panel.key != "sources"
    }
    expect(tmp_path, {'up{job="x"}': "1x40"}, queries, variables=EVERYTHING, only=FILES)


def test_links_lead_to_workload_node_and_file_system() -> None:
    links = [
        link
        for panel in filesystem_board(NOW).panels
        for one in (panel.links, *(getattr(c, "links", ()) for c in getattr(panel, "columns", ())))
        for link in one
        if isinstance(link, Link)
    ]
    assert {link.board for link in links} == {Noun.TASK, Noun.CLUSTER, Noun.FILESYSTEM}
    assert all("cluster" in link.carry for link in links)
