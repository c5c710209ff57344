"""NFS as node-exporter's mountstats and nfs collectors tell of it."""

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.storage import filesystems, io_bytes
from gpuscope.simulate.cluster.world import World

__all__ = ["add_mounts"]

_READ_SIZE, _WRITE_SIZE = 1 << 20, 512 << 10
_OPERATIONS = {"GETATTR": 0.6, "LOOKUP": 0.3, "ACCESS": 0.4, "OPEN": 0.1, "CLOSE": 0.1}


def add_mounts(page: Page, world: World, machine: Machine) -> None:
    """``node_mountstats_nfs_*`` and ``node_nfs_*``; nothing without an NFS mount."""
    for share in filesystems(world, machine):
        if not share.plan.type.startswith("nfs"):
            continue
        base = labels(export=share.plan.name, protocol="tcp", mountaddr="10.0.200.5")
        _mount(page, world, machine, base)
        page.gauge("node_mountstats_nfs_mountpoint_info", "Mount point of an export.").add(
            1, base, mountpoint=share.plan.mountpoint
        )


def _mount(page: Page, world: World, machine: Machine, base: str) -> None:
    read, written = io_bytes(world, machine, "nfs4")
    passed = world.t - world.since
    for name, value in (
        ("read", read), ("write", written), ("direct_read", 0), ("direct_write", 0), ("total_read", read),
        ("total_write", written),
    ):  # fmt: skip
        page.counter(f"node_mountstats_nfs_{name}_bytes_total", f"Number of bytes: {name}.").add(int(value), base)
    page.counter("node_mountstats_nfs_age_seconds_total", "The age of the NFS mount in seconds.").add(int(passed), base)
    counts = {"READ": read / _READ_SIZE, "WRITE": written / _WRITE_SIZE}
    counts |= {name: rate * passed + read / _READ_SIZE / 20 for name, rate in _OPERATIONS.items()}
    requests = page.counter("node_nfs_requests_total", "Number of NFS procedures invoked.")
    for name, count in counts.items():
        _operation(page, f"{base},{labels(operation=name)}", int(count), slow=name in {"READ", "WRITE"})
        requests.add(int(count), proto="4", method=name.capitalize())
    total = int(sum(counts.values()))
    page.counter("node_nfs_connections_total", "Total number of NFSd TCP connections.").add(4)
    page.counter("node_nfs_rpcs_total", "Total number of RPCs performed.").add(total)
    page.counter("node_nfs_rpc_retransmissions_total", "Number of RPC transmissions performed.").add(total // 9000)
    page.counter("node_nfs_rpc_authentication_refreshes_total", "Number of RPC authentication refreshes.").add(total)
    page.counter("node_mountstats_nfs_transport_sends_total", "Number of RPC requests sent.").add(
        total, base, transport="0"
    )
    page.counter("node_mountstats_nfs_transport_receives_total", "Number of RPC responses received.").add(
        total, base, transport="0"
    )
    page.counter("node_mountstats_nfs_transport_bad_transaction_ids_total", "Unknown transaction IDs.").add(
        0, base, transport="0"
    )


def _operation(page: Page, base: str, count: int, *, slow: bool) -> None:
    seconds = 0.004 if slow else 0.0007
    for name, value in (
        ("requests", count), ("transmissions", count + count // 9000), ("major_timeouts", count // 400_000),
        ("sent_bytes", count * 180), ("received_bytes", count * 220),
    ):  # fmt: skip
        page.counter(f"node_mountstats_nfs_operations_{name}_total", f"Number of {name} of an operation.").add(
            value, base
        )
    for name, part in (("queue_time", 0.1), ("response_time", 0.85), ("request_time", 1.0)):
        page.counter(f"node_mountstats_nfs_operations_{name}_seconds_total", f"Seconds of {name}.").add(
            round(count * seconds * part, 4), base
        )
