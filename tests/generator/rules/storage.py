"""The same traffic of one file system, told by every source in its own words."""

GIB = 2**30
LONG = "x40"
SIZE, FREE = 100 * GIB, 40 * GIB
READ, WRITE = 3 * GIB, 1 * GIB
"""Bytes a second."""
READS, WRITES, OPENS = 32, 16, 8
"""Operations a second."""


def counter(per_second: float) -> str:
    """A counter, sampled every 30 s."""
    return f"0+{per_second * 30:.0f}{LONG}"


def level(value: float) -> str:
    return f"{value:.0f}{LONG}"


def ours(
    cluster: str, *, name: str = "lustre01", kind: str = "lustre", source: str = "10.0.0.1@tcp:/lustre01"
) -> dict[str, str]:
    """Our agent on one client."""
    at = f'cluster="{cluster}",instance="10.0.0.1:9836",node="n1",filesystem="{name}",mountpoint="/data"'
    return {
        f'gpuscope_filesystem_info{{{at},type="{kind}",source="{source}",options="rw"}}': level(1),
        f"gpuscope_filesystem_up{{{at}}}": level(1),
        f"gpuscope_filesystem_read_only{{{at}}}": level(0),
        f"gpuscope_filesystem_size_bytes{{{at}}}": level(SIZE),
        f"gpuscope_filesystem_free_bytes{{{at}}}": level(FREE),
        f"gpuscope_filesystem_available_bytes{{{at}}}": level(FREE),
        f"gpuscope_filesystem_read_bytes_total{{{at}}}": counter(READ),
        f"gpuscope_filesystem_write_bytes_total{{{at}}}": counter(WRITE),
        f'gpuscope_filesystem_operations_total{{{at},operation="read"}}': counter(READS),
        f'gpuscope_filesystem_operations_total{{{at},operation="write"}}': counter(WRITES),
        f'gpuscope_filesystem_operations_total{{{at},operation="open"}}': counter(OPENS),
        f'gpuscope_filesystem_operation_seconds_total{{{at},operation="open"}}': counter(OPENS * 2),
    }


def hpe(cluster: str, *, instance: str = "lustre01-ffff88105db50000") -> dict[str, str]:
    """HPE's exporter on one client."""
    at = f'cluster="{cluster}",instance="n1:9169",component="client",target="{instance}"'
    connection = (
        f'cluster="{cluster}",instance="n1:9169",component="client",target="lustre01-OST0000-osc-ffff88105db50000"'
    )
    return {
        f"lustre_capacity_kilobytes{{{at}}}": level(SIZE / 1024),
        f"lustre_free_kilobytes{{{at}}}": level(FREE / 1024),
        f"lustre_available_kilobytes{{{at}}}": level(FREE / 1024),
        f"lustre_read_bytes_total{{{at}}}": counter(READ),
        f"lustre_write_bytes_total{{{at}}}": counter(WRITE),
        f"lustre_read_samples_total{{{at}}}": counter(READS),
        f"lustre_write_samples_total{{{at}}}": counter(WRITES),
        f'lustre_stats_total{{{at},operation="open"}}': counter(OPENS),
        f'lustre_pages_per_rpc_total{{{connection},operation="read",size="256"}}': counter(8),
        f'lustre_rpcs_in_flight{{{connection},operation="read",size="1"}}': counter(8),
    }


def hosts(cluster: str) -> dict[str, str]:
    """node-exporter's own identity, under an address that is a number."""
    return {f'node_uname_info{{cluster="{cluster}",instance="10.0.0.1:9100",nodename="n1"}}': level(1)}


def mountstats(cluster: str, *, name: str = "nas:/data") -> dict[str, str]:
    """node-exporter's collector mountstats; a third of the reading is direct."""
    at = f'cluster="{cluster}",instance="10.0.0.1:9100",export="{name}",protocol="tcp",mountaddr="10.0.0.9"'
    found = hosts(cluster) | {
        f"node_mountstats_nfs_read_bytes_total{{{at}}}": counter(READ - GIB),
        f"node_mountstats_nfs_direct_read_bytes_total{{{at}}}": counter(GIB),
        f"node_mountstats_nfs_write_bytes_total{{{at}}}": counter(WRITE),
        f"node_mountstats_nfs_direct_write_bytes_total{{{at}}}": counter(0),
    }
    for operation, count in (("READ", READS), ("WRITE", WRITES), ("OPEN", OPENS)):
        of = f'{at},operation="{operation}"'
        found |= {
            f"node_mountstats_nfs_operations_requests_total{{{of}}}": counter(count),
            f"node_mountstats_nfs_operations_transmissions_total{{{of}}}": counter(count + 1),
            f"node_mountstats_nfs_operations_major_timeouts_total{{{of}}}": counter(0),
            f"node_mountstats_nfs_operations_request_time_seconds_total{{{of}}}": counter(count * 2),
            f"node_mountstats_nfs_operations_response_time_seconds_total{{{of}}}": counter(count),
            f"node_mountstats_nfs_operations_queue_time_seconds_total{{{of}}}": counter(count),
        }
    return found


def node_filesystem(cluster: str, *, device: str, kind: str, mountpoint: str = "/data") -> dict[str, str]:
    """node-exporter's collector filesystem: space, and no traffic."""
    at = f'cluster="{cluster}",instance="10.0.0.1:9100",device="{device}",fstype="{kind}",mountpoint="{mountpoint}"'
    return hosts(cluster) | {
        f"node_filesystem_size_bytes{{{at}}}": level(SIZE),
        f"node_filesystem_free_bytes{{{at}}}": level(FREE),
        f"node_filesystem_avail_bytes{{{at}}}": level(FREE),
        f"node_filesystem_files{{{at}}}": level(1000),
        f"node_filesystem_files_free{{{at}}}": level(400),
        f"node_filesystem_readonly{{{at}}}": level(0),
        f"node_filesystem_device_error{{{at}}}": level(0),
    }


def gpfs(cluster: str, *, name: str = "project") -> dict[str, str]:
    """gpfs_exporter."""
    at = f'cluster="{cluster}",instance="n1:9303",fs="{name}"'
    found = {
        f"gpfs_fs_size_bytes{{{at}}}": level(SIZE),
        f"gpfs_fs_free_bytes{{{at}}}": level(FREE),
        f"gpfs_perf_read_bytes_total{{{at}}}": counter(READ),
        f"gpfs_perf_write_bytes_total{{{at}}}": counter(WRITE),
    }
    for operation, count in (("reads", READS), ("writes", WRITES), ("opens", OPENS)):
        found[f'gpfs_perf_operations_total{{{at},operation="{operation}"}}'] = counter(count)
    return found


FSX_ID = "fs-0123456789abcdef0"


def fsx(cluster: str, *, period: int = 60, snake: bool = False) -> dict[str, str]:
    """YACE on FSx: gauges that hold the sum of one period; 60 % used on both targets."""
    system, server, target = (
        ("dimension_file_system_id", "dimension_file_server", "dimension_storage_target_id")
        if snake
        else ("dimension_FileSystemId", "dimension_FileServer", "dimension_StorageTargetId")
    )
    at = f'cluster="{cluster}",instance="yace:5000",name="arn:{FSX_ID}",{system}="{FSX_ID}"'
    found = {
        f"aws_fsx_data_read_bytes_sum{{{at}}}": level(READ * period),
        f"aws_fsx_data_write_bytes_sum{{{at}}}": level(WRITE * period),
        f"aws_fsx_data_read_operations_sum{{{at}}}": level(READS * period),
        f"aws_fsx_data_write_operations_sum{{{at}}}": level(WRITES * period),
        f"aws_fsx_metadata_operations_sum{{{at}}}": level(OPENS * period),
        f"aws_fsx_free_data_storage_capacity_sum{{{at}}}": level(FREE),
        f"aws_fsx_client_connections_maximum{{{at}}}": level(7),
        f"aws_fsx_logical_disk_usage_sum{{{at}}}": level(80 * GIB),
        f"aws_fsx_physical_disk_usage_sum{{{at}}}": level(60 * GIB),
        f'aws_fsx_cpuutilization_average{{{at},{server}="mds-0"}}': level(50),
        f'aws_fsx_network_sent_bytes_sum{{{at},{server}="mds-0"}}': level(READ * period),
        f'aws_fsx_file_server_disk_iops_balance_average{{{at},{server}="mds-0"}}': level(75),
    }
    for number, share in enumerate((0.75, 0.25)):
        of = f'{at},{target}="OST{number:04x}"'
        found |= {
            f"aws_fsx_storage_capacity_utilization_average{{{of}}}": level(60),
            f"aws_fsx_disk_read_bytes_sum{{{of}}}": level(READ * period * share),
            f"aws_fsx_disk_read_operations_sum{{{of}}}": level(READS * period * share),
            # The same name as of the whole file system, with one more dimension.
            f"aws_fsx_free_data_storage_capacity_sum{{{of}}}": level(FREE / 2),
        }
    return found
