"""The Lustre client as HPE's lustre_exporter tells of it, and FSx for Lustre through YACE.

YACE's series are gauges of one minute each: sums of a minute, or averages over it.
"""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.sources.target import Source, Target, daemon_pod, service
from gpuscope.simulate.cluster.storage import TARGETS, fullness, io_bytes, io_rates, lustre_share
from gpuscope.simulate.cluster.world import World

__all__ = ["FSX", "LUSTRE"]

_IO = 1 << 20
_FSID = "fs-0123456789abcdef0"
_ARN = f"arn:aws:fsx:eu-central-1:123456789012:file-system/{_FSID}"
_METADATA = {
    "open": 0.05,
    "close": 0.05,
    "getattr": 0.4,
    "setattr": 0.02,
    "mknod": 0.01,
    "unlink": 0.01,
    "readdir": 0.03,
}
_NAME = "lustre01"
_JOBS = (("python3.1000", 0.7), ("torchrun.1001", 0.3))
"""Ids of jobs as clients make them of program and user, which is the default, with their share."""
_PERIOD_S = 60.0
_LIMIT = 20e9


def lustre_page(world: World, machine: Machine) -> str:
    """The client's part of one node."""
    page = Page()
    plan = next(plan for plan in machine.scenario.filesystems if plan.type == "lustre")
    base = labels(component="client", target=plan.name)
    size, free = lustre_share(world)
    capacity, available = size * TARGETS / 1024, sum(free) / 1024
    for name, value in (
        ("capacity_kilobytes", capacity), ("free_kilobytes", available), ("available_kilobytes", available),
        ("inodes_maximum", 4e9), ("inodes_free", 4e9 * (1 - 0.4 * fullness(world, "lustre"))),
        ("blocksize_bytes", 4096),
    ):  # fmt: skip
        page.gauge(f"lustre_{name}").add(int(value), base)
    read, written = io_bytes(world, machine, "lustre")
    for name, moved in (("read", read), ("write", written)):
        page.counter(f"lustre_{name}_bytes_total").add(int(moved), base)
        page.counter(f"lustre_{name}_samples_total").add(int(moved / _IO), base)
        page.gauge(f"lustre_{name}_minimum_size_bytes").add(4096, base)
        page.gauge(f"lustre_{name}_maximum_size_bytes").add(4 * _IO, base)
    stats = page.counter("lustre_stats_total", "Number of operations the filesystem has performed.")
    for operation, share in _METADATA.items():
        stats.add(int((read + written) / _IO * share), base, operation=operation)
    for target in range(TARGETS):
        own = labels(component="client", target=f"{plan.name}-OST{target:04x}")
        flight = page.gauge("lustre_rpcs_in_flight", "Current number of RPCs that are processing during the snapshot.")
        flight.add(3, own, operation="read", size="1")
        flight.add(1, own, operation="write", size="1")
        pages = page.counter("lustre_pages_per_rpc_total", "Total number of pages per RPC.")
        for count, share in (("256", 0.7), ("64", 0.2), ("1", 0.1)):
            pages.add(int(read / _IO / TARGETS * share), own, operation="read", size=count)
            pages.add(int(written / _IO / TARGETS * share), own, operation="write", size=count)
    lnet = labels(component="lnet", target="lnet")
    for name, moved in (("receive", read), ("send", written), ("drop", 0)):
        page.counter(f"lustre_{name}_bytes_total").add(int(moved), lnet)
        page.counter(f"lustre_{name}_count_total").add(int(moved / _IO), lnet)
    page.counter("lustre_errors_total").add(0, lnet)
    page.gauge("lustre_health_check", "Current health status for the indicated instance: 1 healthy").add(
        1, component="health"
    )
    return page.text()


def server_page(world: World) -> str:
    """The object storage server: its targets, and what each job moved there."""
    page = Page()
    moved = [io_bytes(world, machine, "lustre") for machine in world.machines]
    totals = {"read": sum(one for one, _ in moved), "write": sum(one for _, one in moved)}
    size, free = lustre_share(world)
    for number, left in enumerate(free):
        own = labels(component="ost", target=f"{_NAME}-OST{number:04x}")
        for name, value in (("capacity", size), ("free", left), ("available", left)):
            page.gauge(f"lustre_{name}_kilobytes").add(int(value / 1024), own)
        share = _uneven(number)
        for way, total in totals.items():
            page.counter(f"lustre_{way}_bytes_total").add(int(total * share), own)
            page.counter(f"lustre_{way}_samples_total").add(int(total * share / _IO), own)
            for job, part in _JOBS:
                page.counter(f"lustre_job_{way}_bytes_total").add(int(total * share * part), own, jobid=job)
    return page.text()


def fsx_page(world: World) -> str:
    """FSx for Lustre, as YACE names what CloudWatch says."""
    page = Page()
    rates = [io_rates(world, machine, "lustre") for machine in world.machines]
    read, written = sum(one for one, _ in rates), sum(one for _, one in rates)
    base = labels(name=_ARN, region="eu-central-1", account_id="123456789012", dimension_FileSystemId=_FSID)
    size, free = lustre_share(world)
    for name, value in (
        ("data_read_bytes_sum", read * _PERIOD_S), ("data_write_bytes_sum", written * _PERIOD_S),
        ("data_read_operations_sum", read * _PERIOD_S / _IO), ("data_write_operations_sum", written * _PERIOD_S / _IO),
        ("metadata_operations_sum", (read + written) * _PERIOD_S / _IO * 0.5),
        ("client_connections_sum", len(world.machines)), ("client_connections_maximum", len(world.machines)),
        ("free_data_storage_capacity_sum", sum(free)), ("free_data_storage_capacity_average", sum(free) / TARGETS),
        ("free_data_storage_capacity_minimum", min(free)),
        ("logical_disk_usage_sum", (size * TARGETS - sum(free)) * 1.25),
        ("physical_disk_usage_sum", size * TARGETS - sum(free)),
    ):  # fmt: skip
        page.gauge(f"aws_fsx_{name}", f"Help is not implemented yet: {name}").add(int(value), base)
    load = min(1.0, (read + written) / _LIMIT)
    for server in range(2):
        own = f"{base},{labels(dimension_FileServer=f'{_FSID}-mds-{server}' if server else f'{_FSID}-oss-0')}"
        for name, value in (
            ("cpuutilization_average", 8 + 60 * load), ("cpuutilization_maximum", 15 + 70 * load),
            ("network_throughput_utilization_average", 100 * load),
            ("file_server_disk_throughput_utilization_average", 80 * load),
            ("file_server_disk_iops_utilization_average", 45 * load),
            ("file_server_disk_throughput_balance_average", 97),
            ("file_server_disk_iops_balance_average", 99), ("file_server_cache_hit_ratio_average", 62),
            ("network_sent_bytes_sum", read * _PERIOD_S / 2), ("network_received_bytes_sum", written * _PERIOD_S / 2),
        ):  # fmt: skip
            page.gauge(f"aws_fsx_{name}", f"Help is not implemented yet: {name}").add(round(value, 3), own)
    _targets_of_fsx(page, base, size, free, read, written)
    page.gauge("aws_fsx_age_of_oldest_queued_message_maximum", "Help is not implemented yet").add(
        45 if world.shape.faults else 0, base, dimension_Publisher="AutoExport"
    )
    page.gauge("aws_fsx_info", "Help is not implemented yet").add(
        1, name=_ARN, tag_Name="lustre01", tag_team="platform"
    )
    return page.text()


def _uneven(target: int) -> float:
    """Share of the traffic that a target has: the first is hotter than the others."""
    return (1.3 if target == 0 else 0.9) / TARGETS


def _targets_of_fsx(page: Page, base: str, size: float, free: list[float], read: float, written: float) -> None:
    for target, left in enumerate(free):
        own = f"{base},{labels(dimension_StorageTargetId=f'OST{target:04x}')}"
        share = _uneven(target)
        for name, value in (
            ("disk_read_bytes_sum", read * _PERIOD_S * share), ("disk_write_bytes_sum", written * _PERIOD_S * share),
            ("disk_read_operations_sum", read * _PERIOD_S * share / _IO),
            ("disk_write_operations_sum", written * _PERIOD_S * share / _IO),
            ("disk_iops_utilization_average", min(100.0, 40 * share * 4)),
            ("storage_capacity_utilization_average", 100 * (1 - left / size)),
            ("storage_capacity_utilization_maximum", 100 * (1 - left / size)),
        ):  # fmt: skip
            page.gauge(f"aws_fsx_{name}", f"Help is not implemented yet: {name}").add(round(value, 3), own)


def _lustre_targets(world: World) -> list[Target]:
    clients = [
        Target(
            machine.name,
            service("monitoring", "lustre-exporter", f"{machine.address}:9169",
                    pod=daemon_pod("lustre-exporter", machine.name)) | {"node": machine.name},
            partial(lustre_page, world, machine),
        )
        for machine in world.machines
        if any(plan.type == "lustre" for plan in machine.scenario.filesystems)
    ]  # fmt: skip
    at = service("storage", "lustre-exporter", "10.0.200.4:9169") | {"node": "oss-1"}
    return [*clients, Target("oss-1", at, partial(server_page, world))] if clients else []


def _fsx_targets(world: World) -> list[Target]:
    return [Target("yace", service("monitoring", "yace", "10.244.7.9:5000"), partial(fsx_page, world))]


LUSTRE = Source("lustre", "lustre-exporter", "the Lustre client in HPE's names", _lustre_targets)
FSX = Source("fsx", "yace", "FSx for Lustre through YACE", _fsx_targets, honor_labels=True, slow=True)
