"""File systems: whoever tells of them, the numbers are the same, and nothing is told twice."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.storage import (
    FREE,
    FSX_ID,
    OPENS,
    READ,
    READS,
    SIZE,
    WRITE,
    WRITES,
    fsx,
    gpfs,
    hpe,
    mountstats,
    node_filesystem,
    ours,
)

from gpuscope_generator.settings import Intervals, Settings

FILES = ("filesystem", "lustre", "node-filesystem", "nfs", "gpfs", "fsx", "node-exporter", "level-filesystem")
SOON = "7m"


def test_the_same_traffic_gives_the_same_numbers_from_every_source(tmp_path: Path) -> None:
    """FSx tells sums per period: 3 GiB a second are 180 GiB a minute, and never a rate of a gauge."""
    told = {"ours": "lustre01", "hpe": "lustre01", "gpfs": "project", "nfs": "nas:/data", "fsx": FSX_ID}
    samples = (
        ours("ours")
        | hpe("hpe")
        | gpfs("gpfs")
        | mountstats("nfs")
        | node_filesystem("nfs", device="nas:/data", kind="nfs4")
        | fsx("fsx")
    )

    def everywhere(name: str, value: float, **labels: str) -> dict[str, float]:
        more = "".join(f',{label}="{text}"' for label, text in labels.items())
        return {f'{name}{{cluster="{cluster}",filesystem="{fs}"{more}}}': value for cluster, fs in told.items()}

    def each(name: str, **values: float) -> dict[str, float]:
        label = "direction" if "bytes" in name else "kind"
        return {
            key: one for what, value in values.items() for key, one in everywhere(name, value, **{label: what}).items()
        }

    expect(
        tmp_path,
        samples,
        {
            "filesystem:size_bytes:max": everywhere("filesystem:size_bytes:max", SIZE),
            "filesystem:used_bytes:max": everywhere("filesystem:used_bytes:max", SIZE - FREE),
            "filesystem:available_bytes:min": everywhere("filesystem:available_bytes:min", FREE),
            "filesystem:bytes:rate5m": each("filesystem:bytes:rate5m", read=READ, write=WRITE),
            "filesystem:io:rate5m": each("filesystem:io:rate5m", read=READS, write=WRITES, metadata=OPENS),
            'filesystem:operations:rate5m{operation="open"}': {
                key: value
                for key, value in everywhere("filesystem:operations:rate5m", OPENS, operation="open").items()
                if "fsx" not in key
            },
            'filesystem:operation_seconds:rate5m{operation="open"}': {
                f'filesystem:operation_seconds:rate5m{{cluster="{cluster}",filesystem="{told[cluster]}",'
                f'operation="open"}}': OPENS * 2
                for cluster in ("ours", "nfs")
            },
            "cluster:filesystem_used:ratio_max": {
                f'cluster:filesystem_used:ratio_max{{cluster="{cluster}"}}': 0.6 for cluster in told
            },
            'cluster:filesystem_bytes:rate5m{direction="read"}': {
                f'cluster:filesystem_bytes:rate5m{{cluster="{cluster}",direction="read"}}': READ for cluster in told
            },
        },
        only=FILES,
        at=SOON,
    )


def test_fsx_metrics_are_read_with_their_own_dimensions(tmp_path: Path) -> None:
    """Defect 22: metrics of targets and servers asked for as if they were of the file system. Either style of label."""
    at = f'cluster="c",filesystem="{FSX_ID}"'
    other = at.replace('"c"', '"snake"')
    expect(
        tmp_path,
        fsx("c") | fsx("snake", snake=True),
        {
            'filesystem:bytes:rate5m{direction="read"}': {
                f'filesystem:bytes:rate5m{{{one},direction="read"}}': READ for one in (at, other)
            },
            'filesystem:server_use:ratio{resource="cpu"}': {
                f'filesystem:server_use:ratio{{{one},server="mds-0",resource="cpu"}}': 0.5 for one in (at, other)
            },
            'filesystem:server_balance:ratio{cluster="c"}': {
                f'filesystem:server_balance:ratio{{{at},server="mds-0",resource="disk_iops"}}': 0.75
            },
            'filesystem:server_bytes:rate{cluster="c"}': {
                f'filesystem:server_bytes:rate{{{at},server="mds-0",direction="sent"}}': READ
            },
            'target:bytes:rate5m{cluster="snake"}': {
                f'target:bytes:rate5m{{{other},target="OST0000",direction="read"}}': READ * 0.75,
                f'target:bytes:rate5m{{{other},target="OST0001",direction="read"}}': READ * 0.25,
            },
            'target:used:ratio_union{cluster="c",target="OST0001"}': {
                f'target:used:ratio_union{{{at},target="OST0001"}}': 0.6
            },
            'target:available_bytes:union{cluster="c",target="OST0000"}': {
                f'target:available_bytes:union{{{at},target="OST0000"}}': FREE / 2
            },
            'filesystem:connections:max{cluster="c"}': {f"filesystem:connections:max{{{at}}}": 7},
            'filesystem:compression_saved:ratio{cluster="c"}': {f"filesystem:compression_saved:ratio{{{at}}}": 0.25},
            'filesystem:info:union{cluster="c"}': {f'filesystem:info:union{{{at},fs_type="lustre"}}': 1},
        },
        only=FILES,
        at=SOON,
    )


def test_fsx_sums_are_divided_by_the_period_of_the_settings(tmp_path: Path) -> None:
    expect(
        tmp_path,
        fsx("c", period=300),
        {'sum(filesystem:bytes:rate5m{direction="write"})': {"{}": WRITE}},
        settings=Settings(intervals=Intervals(cloudwatch=300)),
        only=FILES,
        at=SOON,
    )


def test_fsx_and_its_clients_are_one_file_system(tmp_path: Path) -> None:
    """The address in the mount has the id; traffic is then told by the clients, and once."""
    address = f"{FSX_ID}.fsx.eu-west-1.amazonaws.com@tcp:/fsx01"
    samples = (
        ours("agent", name="fsx01", source=address)
        | fsx("agent")
        | node_filesystem("plain", device=address, kind="lustre")
        | fsx("plain")
    )
    agent, plain = 'cluster="agent",filesystem="fsx01"', 'cluster="plain",filesystem="fsx01"'
    expect(
        tmp_path,
        samples,
        {
            "count by (cluster, filesystem) (filesystem:info:union)": {f"{{{agent}}}": 1, f"{{{plain}}}": 1},
            'filesystem:bytes:rate5m{direction="read"}': {
                f'filesystem:bytes:rate5m{{{one},direction="read"}}': READ for one in (agent, plain)
            },
            "filesystem:connections:max": {f"filesystem:connections:max{{{one}}}": 7 for one in (agent, plain)},
            "filesystem:size_bytes:max": {f"filesystem:size_bytes:max{{{one}}}": SIZE for one in (agent, plain)},
        },
        only=FILES,
        at=SOON,
    )


def test_what_two_sources_tell_counts_once(tmp_path: Path) -> None:
    """The agent, HPE's exporter and node-exporter on one node, and a second Prometheus that scrapes all of them."""
    nfs = ours("c", name="nas:/data", kind="nfs4", source="nas:/data")
    samples = ours("c") | hpe("c") | node_filesystem("c", device="10.0.0.1@tcp:/lustre01/dir", kind="lustre")
    samples |= nfs | mountstats("c") | {key.replace("10.0.0.1:9836", "10.0.0.2:9836"): one for key, one in nfs.items()}
    both = ("lustre01", "nas:/data")

    def at(name: str, value: float, **labels: str) -> dict[str, float]:
        more = "".join(f',{label}="{text}"' for label, text in labels.items())
        return {f'{name}{{cluster="c",filesystem="{fs}"{more}}}': value for fs in both}

    expect(
        tmp_path,
        samples,
        {
            'filesystem:bytes:rate5m{direction="read"}': at("filesystem:bytes:rate5m", READ, direction="read"),
            'filesystem:io:rate5m{kind="metadata"}': at("filesystem:io:rate5m", OPENS, kind="metadata"),
            'filesystem:operations:rate5m{operation="open"}': at(
                "filesystem:operations:rate5m", OPENS, operation="open"
            ),
            "filesystem:size_bytes:max": at("filesystem:size_bytes:max", SIZE),
            'filesystem:mounts:count{state="up"}': at("filesystem:mounts:count", 1, state="up"),
            "count by (filesystem) (node:filesystem_info:union)": {f'{{filesystem="{fs}"}}': 1 for fs in both},
            "sum(filesystem:rpcs:rate5m)": {"{}": 8},
            "filesystem:nfs_wait_seconds:avg5m": {
                f'filesystem:nfs_wait_seconds:avg5m{{cluster="c",filesystem="nas:/data",phase="{phase}"}}': 1
                for phase in ("queue", "server")
            },
        },
        only=FILES,
        at=SOON,
    )


def test_names_of_file_systems_are_those_of_our_agent(tmp_path: Path) -> None:
    """From device and type: shared ones by name, local ones by mount point; those of the system are left out."""
    mounts = {
        "lustre01": ("10.0.0.1@tcp:10.0.0.2@tcp:/lustre01/sub", "lustre", "/l"),
        "nas:/export": ("nas:/export", "nfs4", "/n"),
        "gpfs0": ("/dev/gpfs0", "gpfs", "/g"),
        "default": ("10.0.0.1,10.0.0.2/default", "wekafs", "/w"),
        "beegfs": ("beegfs_nodev", "beegfs", "/b"),
        "/scratch": ("/dev/md0", "xfs", "/scratch"),
        "/tank": ("tank/data", "zfs", "/tank"),
    }
    samples: dict[str, str] = {}
    for device, kind, mountpoint in (*mounts.values(), ("/dev/sda1", "ext4", "/"), ("tmpfs", "tmpfs", "/tmp")):
        samples |= node_filesystem("c", device=device, kind=kind, mountpoint=mountpoint)
    expect(
        tmp_path,
        samples,
        {
            "count by (filesystem, fs_type) (node:filesystem_info:union)": {
                f'{{filesystem="{name}",fs_type="{kind}"}}': 1 for name, (_, kind, _) in mounts.items()
            },
            "count by (filesystem) (filesystem:size_bytes:max)": {
                f'{{filesystem="{name}"}}': 1 for name, (_, kind, _) in mounts.items() if kind not in ("xfs", "zfs")
            },
            'sum(node:filesystem_used_bytes:union{filesystem="/scratch"})': {"{}": SIZE - FREE},
        },
        only=FILES,
        at="2m",
    )


def test_space_that_is_unknown_is_absent(tmp_path: Path) -> None:
    """A file system of which only the traffic is known has no size; one without traffic has no rates, and no zeros."""
    full = {key: one for key, one in fsx("c").items() if "utilization" not in key}
    expect(
        tmp_path,
        full | node_filesystem("n", device="nas:/data", kind="nfs4"),
        {
            'filesystem:size_bytes:max{cluster="c"}': {},
            'filesystem:used_bytes:max{cluster="c"}': {},
            'filesystem:bytes:rate5m{cluster="n"}': {},
            "filesystem:served_bytes:rate{cluster='n'}": {},
            'count(filesystem:size_bytes:max{cluster="n"})': {"{}": 1},
        },
        only=FILES,
        at=SOON,
    )
