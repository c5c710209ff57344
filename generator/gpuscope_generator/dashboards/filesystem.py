"""The File System board: is there room, is it fast, and who is to blame?"""

from __future__ import annotations

from gpuscope_generator.panels import filesystem as head
from gpuscope_generator.panels import (
    filesystem_clients,
    filesystem_servers,
    filesystem_space,
    filesystem_traffic,
    lustre,
    mounts,
)
from gpuscope_generator.panels.annotations import firing_alerts, restarts
from gpuscope_generator.panels.filesystem_choice import FILESYSTEM, FS_TYPE, MOUNTPOINT, NODE, TARGET
from gpuscope_generator.panels.health import data_health_row
from gpuscope_generator.panels.variables import DATASOURCE, cluster_variable
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, Noun, Row

__all__ = ["filesystem_board"]

_SOURCES = ("lustre", "yace", "nfs", "gpfs", "node-exporter")


def filesystem_board(settings: Settings) -> Board:
    """The board for those who run storage, and for those whose jobs wait for it."""
    return Board(
        noun=Noun.FILESYSTEM,
        title="File Systems",
        description="Is there room, do reads and writes come through, and which node or job is to blame if not?",
        variables=(DATASOURCE, cluster_variable(), FS_TYPE, MOUNTPOINT, FILESYSTEM, NODE, TARGET),
        rows=(
            Row(
                title="",
                panels=(
                    head.fullest(settings),
                    head.time_until_full(),
                    head.throughput_now(),
                    head.mounts_down(),
                    head.filesystems(settings),
                ),
            ),
            Row(
                title="Capacity",
                collapsed=True,
                panels=(
                    filesystem_space.space(),
                    filesystem_space.compression(),
                    filesystem_space.used_over_time(settings),
                    filesystem_space.inodes(settings),
                    filesystem_space.fullest_mounts(settings),
                ),
            ),
            Row(
                title="Throughput and operations",
                collapsed=True,
                panels=(
                    filesystem_traffic.throughput(),
                    filesystem_traffic.iops(),
                    filesystem_traffic.io_size(),
                    filesystem_traffic.metadata(),
                    filesystem_traffic.latency(),
                    filesystem_traffic.nfs_latency(),
                ),
            ),
            Row(
                title="Servers",
                collapsed=True,
                panels=(
                    filesystem_servers.server_cpu(),
                    filesystem_servers.server_limits(settings),
                    filesystem_servers.server_balance(),
                    filesystem_servers.server_cache(),
                    filesystem_servers.server_network(),
                ),
            ),
            Row(
                title="Clients",
                collapsed=True,
                panels=(
                    filesystem_clients.connections(),
                    filesystem_clients.busiest_nodes(),
                    filesystem_clients.busiest_workloads(),
                    filesystem_clients.busiest_jobs(),
                ),
            ),
            Row(
                title="Targets",
                collapsed=True,
                panels=(
                    filesystem_servers.hot_spots(),
                    filesystem_servers.target_load(),
                    filesystem_servers.targets(settings),
                ),
            ),
            Row(
                title="Lustre clients",
                collapsed=True,
                panels=(lustre.requests_waiting(), lustre.request_sizes(), lustre.read_ahead(), lustre.sources()),
            ),
            Row(
                title="Connections",
                collapsed=True,
                panels=(lustre.connection_events(), lustre.lnet(), lustre.lnet_problems()),
            ),
            Row(
                title="Mounts", collapsed=True, panels=(mounts.mount_states(), mounts.failures(), mounts.answer_time())
            ),
            Row(title="Data repository", collapsed=True, panels=(filesystem_servers.backlog(),)),
            Row(title="Alerts", collapsed=True, panels=(mounts.alerts(),)),
            data_health_row(settings, _SOURCES),
        ),
        annotations=(firing_alerts(), restarts()),
    )
