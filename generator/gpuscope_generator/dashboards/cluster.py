"""The Cluster board: is the fleet healthy, and is it used?"""

from __future__ import annotations

from gpuscope_generator.panels import (
    capacity,
    fleet,
    gpu_readings,
    gpus,
    host,
    network,
    nodes,
    nvlink,
    power,
    queue_summary,
    repairs,
    team_hours,
    temperature,
    versions,
    xid,
)
from gpuscope_generator.panels.annotations import firing_alerts, mig_changes, xid_errors
from gpuscope_generator.panels.fleet_choice import GPU_MODEL, NODE_POOL
from gpuscope_generator.panels.health import data_health_row
from gpuscope_generator.panels.variables import DATASOURCE, GPU, IN_NODE, NODE, TEAM, cluster_variable
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, Noun, Row

__all__ = ["cluster_board"]

_SOURCES = ("dcgm", "amd", "kube-state-metrics", "node-exporter", "kueue", "lustre", "yace", "slurm")


def cluster_board(settings: Settings) -> Board:
    """The board for those who run the cluster."""
    return Board(
        noun=Noun.CLUSTER,
        title="GPU Cluster",
        description="Is the fleet healthy, is it used, and which node is to blame when not?",
        variables=(DATASOURCE, cluster_variable(), NODE_POOL, GPU_MODEL, NODE, GPU, TEAM),
        rows=(
            Row(
                title="",
                panels=(
                    fleet.nodes_by_state(),
                    fleet.healthy_nodes(),
                    fleet.missing_gpus(),
                    fleet.gpu_funnel(),
                    fleet.alerts(),
                ),
            ),
            Row(title="Nodes", panels=(nodes.instance_status(settings),)),
            Row(
                title="Capacity",
                collapsed=True,
                panels=(capacity.gpus_over_time(), capacity.gpus_by_model(), capacity.totals(settings)),
            ),
            Row(
                title="GPU activity",
                collapsed=True,
                panels=(
                    gpus.activity(),
                    gpus.activity_spread(),
                    gpus.activity_by_node(settings),
                    gpus.least_active_nodes(),
                ),
            ),
            Row(
                title="GPUs of the chosen nodes",
                collapsed=True,
                panels=(
                    gpu_readings.gpu_compute(),
                    gpu_readings.gpu_memory(settings),
                    gpu_readings.gpu_temperature(),
                    gpu_readings.gpu_power(),
                    gpu_readings.gpu_clocks(),
                ),
            ),
            Row(
                title="Power and temperature",
                collapsed=True,
                panels=(
                    power.cluster_power(),
                    power.energy(settings),
                    power.node_power(),
                    temperature.headroom(settings),
                    temperature.throttled_gpus(),
                ),
            ),
            Row(
                title="Faults",
                collapsed=True,
                panels=(xid.xid_codes(), repairs.gpus_to_repair(), xid.xid_over_time(), repairs.ecc_errors()),
            ),
            Row(
                title="Network and NVLink",
                collapsed=True,
                panels=(
                    network.network_traffic(),
                    network.network_errors(),
                    network.network_by_node(),
                    nvlink.nvlink_traffic(),
                    nvlink.nvlink_errors(),
                ),
            ),
            Row(
                title="Hosts",
                collapsed=True,
                panels=(host.hosts(), host.pressure(), host.disks(settings)),
            ),
            Row(
                title="Scheduling",
                collapsed=True,
                panels=(
                    queue_summary.fragmentation(),
                    queue_summary.placeable(),
                    queue_summary.waiting(),
                    queue_summary.gpu_quota(),
                ),
            ),
            Row(title="Teams", collapsed=True, panels=(team_hours.hours_by_team(settings),)),
            Row(title="Versions", collapsed=True, panels=(versions.versions(),)),
            data_health_row(settings, _SOURCES),
        ),
        annotations=(firing_alerts(), xid_errors(IN_NODE), mig_changes(IN_NODE)),
    )
