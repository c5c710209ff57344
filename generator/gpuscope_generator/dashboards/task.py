"""The Task board: what do my workloads use, and do they use it well?"""

from __future__ import annotations

from gpuscope_generator.panels import classes, workload_cost, workload_gpus, workload_hosts
from gpuscope_generator.panels import workload_pods as pods
from gpuscope_generator.panels import workload_usage as usage
from gpuscope_generator.panels.annotations import firing_alerts, mig_changes, restarts, xid_errors
from gpuscope_generator.panels.chosen import AGGREGATE_BY
from gpuscope_generator.panels.health import data_health_row
from gpuscope_generator.panels.variables import (
    DATASOURCE,
    IN_NAMESPACE,
    IN_POD,
    IN_WORKLOAD,
    NAMESPACE,
    POD,
    TEAM,
    WORKLOAD,
    WORKLOAD_KIND,
    cluster_variable,
)
from gpuscope_generator.panels.workload_variables import HELD_GPU
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, Noun, Row

__all__ = ["task_board"]

_SOURCES = ("dcgm", "amd", "kube-state-metrics", "cadvisor", "node-exporter", "lustre", "nfs", "gpfs", "kueue", "slurm")


def task_board(settings: Settings) -> Board:
    """The board for those whose work runs on the cluster."""
    return Board(
        noun=Noun.TASK,
        title="GPU Tasks",
        description="What do my workloads hold, do they use it well, and why does one not run?",
        variables=(
            DATASOURCE,
            cluster_variable(),
            TEAM,
            NAMESPACE,
            WORKLOAD_KIND,
            WORKLOAD,
            POD,
            HELD_GPU,
            AGGREGATE_BY,
        ),
        rows=(
            Row(
                title="",
                panels=(usage.held_gpus(), usage.busy_gpus(), usage.idle_gpus(), usage.pods_by_phase()),
            ),
            Row(title="Workloads", panels=(usage.usage_by_workload(settings),)),
            Row(
                title="GPU",
                collapsed=True,
                panels=(
                    workload_gpus.compute_activity(),
                    workload_gpus.gpu_memory(),
                    workload_gpus.sm_activity(),
                    workload_gpus.tensor_activity(),
                    workload_gpus.occupancy(),
                    workload_gpus.memory_bandwidth(),
                ),
            ),
            Row(
                title="CPU and memory",
                collapsed=True,
                panels=(
                    workload_hosts.cpu(),
                    workload_hosts.cpu_throttling(),
                    workload_hosts.memory(),
                    workload_hosts.oom_kills(),
                ),
            ),
            Row(
                title="Efficiency",
                collapsed=True,
                panels=(
                    classes.use_of_gpus(settings),
                    workload_gpus.activity_by_gpu(settings),
                    workload_gpus.gpu_power(),
                    workload_gpus.energy(settings),
                    workload_gpus.throttled(),
                ),
            ),
            Row(
                title="Pods",
                collapsed=True,
                panels=(
                    pods.usage_by_pod(settings),
                    pods.pod_phases(),
                    pods.pods_that_wait(),
                    pods.container_exits(),
                    pods.pod_start_times(),
                ),
            ),
            Row(
                title="Network and files",
                collapsed=True,
                panels=(
                    workload_hosts.pod_network(),
                    workload_hosts.node_network(),
                    workload_hosts.network_errors(),
                    workload_hosts.io_pressure(),
                    workload_hosts.file_traffic(),
                ),
            ),
            Row(
                title="GPU-hours and cost",
                collapsed=True,
                panels=(
                    workload_cost.gpu_hours(settings),
                    workload_cost.idle_gpu_hours(settings),
                    *workload_cost.cost_panels(settings),
                    workload_cost.idle_share_by_workload(settings),
                    workload_cost.gpu_hours_by_model(settings),
                ),
            ),
            data_health_row(settings, _SOURCES),
        ),
        annotations=(
            firing_alerts(),
            xid_errors(),
            restarts(IN_NAMESPACE, IN_WORKLOAD, IN_POD),
            mig_changes(),
        ),
    )
