"""The Training board: do jobs make progress, and if not, why?"""

from __future__ import annotations

from gpuscope_generator.panels import faults, nccl, queue, recovery, reliability, training
from gpuscope_generator.panels.annotations import firing_alerts, restarts, xid_errors
from gpuscope_generator.panels.checkpoint import blocked_time, checkpoint_age
from gpuscope_generator.panels.health import data_health_row
from gpuscope_generator.panels.training_choice import QUEUE, WINDOW
from gpuscope_generator.panels.training_nodes import related_nodes
from gpuscope_generator.panels.training_variables import JOB_WORKLOAD
from gpuscope_generator.panels.variables import (
    DATASOURCE,
    IN_NAMESPACE,
    IN_WORKLOAD,
    NAMESPACE,
    TEAM,
    WORKLOAD_KIND,
    cluster_variable,
)
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, Noun, Row

__all__ = ["training_board"]

_SOURCES = (
    "dcgm",
    "kube-state-metrics",
    "kueue",
    "volcano",
    "slurm",
    "training-operator",
    "jobset",
    "hyperpod",
    "nvsentinel",
    "nccl",
    "ray-train",
)


def training_board(settings: Settings) -> Board:
    """The board for those who train, and for those who keep training alive."""
    return Board(
        noun=Noun.TRAINING,
        title="GPU Training",
        description="Do training jobs make progress, and if not, why? What do faults cost?",
        variables=(
            DATASOURCE,
            cluster_variable(),
            TEAM,
            NAMESPACE,
            WORKLOAD_KIND,
            JOB_WORKLOAD,
            QUEUE,
            WINDOW,
        ),
        rows=(
            Row(
                title="",
                panels=(
                    training.jobs_created(),
                    training.jobs_succeeded(),
                    training.jobs_failed(),
                    training.jobs_removed(),
                    training.success_rate(),
                    training.jobs(settings),
                ),
            ),
            Row(
                title="Progress",
                collapsed=True,
                panels=(
                    training.job_states(),
                    training.jobs_by_state(),
                    training.gpus_by_state(),
                    training.progress(),
                ),
            ),
            Row(
                title="Reliability",
                collapsed=True,
                panels=(
                    reliability.efficiency(),
                    reliability.mtbf(),
                    reliability.mttr(),
                    reliability.interruptions(),
                    reliability.unknown_share(settings),
                    reliability.efficiency_trend(),
                    reliability.lost_gpu_hours(),
                ),
            ),
            Row(
                title="Faults",
                collapsed=True,
                panels=(
                    faults.faults_by_type(),
                    faults.faults_by_domain(),
                    faults.fault_trend(),
                    faults.xid_by_node(),
                    faults.container_exits(),
                ),
            ),
            Row(
                title="Recovery",
                collapsed=True,
                panels=(
                    recovery.restarts(),
                    recovery.restart_trend(),
                    recovery.downtime(),
                    recovery.detection_latency(),
                    recovery.remediation_latency(),
                    recovery.latency_quantiles(),
                    recovery.phases(),
                    recovery.node_repair(),
                ),
            ),
            Row(
                title="Queueing",
                collapsed=True,
                panels=(
                    queue.queue_lengths(),
                    queue.pending_by_reason(),
                    queue.waiting_times(),
                    queue.evictions(),
                    queue.quota(),
                ),
            ),
            Row(title="Checkpoints and data", collapsed=True, panels=(checkpoint_age(settings), blocked_time())),
            Row(
                title="Communication",
                collapsed=True,
                panels=(nccl.bus_bandwidth(), nccl.rank_times(), nccl.stragglers()),
            ),
            Row(title="Nodes of the chosen workloads", collapsed=True, panels=(related_nodes(),)),
            data_health_row(settings, _SOURCES),
        ),
        annotations=(
            firing_alerts(),
            xid_errors(),
            restarts(IN_NAMESPACE, IN_WORKLOAD),
            faults.interruption_marks(),
            faults.cordons(),
        ),
        time_from="now-24h",
    )
