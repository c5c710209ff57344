"""The GPU Partition board: how are GPUs split, who holds the parts, and are they used?"""

from __future__ import annotations

from gpuscope_generator.panels import mig, mig_gpus, mig_instances, mig_layout, mig_nodes
from gpuscope_generator.panels.annotations import firing_alerts, mig_changes, restarts, xid_errors
from gpuscope_generator.panels.health import data_health_row
from gpuscope_generator.panels.mig_instances import HOLDER_NAMESPACE, HOLDER_WORKLOAD, INSTANCE, PROFILE
from gpuscope_generator.panels.variables import (
    DATASOURCE,
    GPU,
    IN_NAMESPACE,
    IN_NODE,
    IN_WORKLOAD,
    NODE,
    cluster_variable,
)
from gpuscope_generator.settings import Settings
from gpuscope_generator.view import Board, Noun, Row

__all__ = ["partition_board"]

_SOURCES = ("dcgm", "amd", "kube-state-metrics", "slurm")


def partition_board(settings: Settings) -> Board:
    """The board for those who split GPUs, and for those who hold a part of one."""
    return Board(
        noun=Noun.PARTITION,
        title="GPU Partitions",
        description="How are GPUs split into MIG instances, who holds them, and what is left over?",
        variables=(
            DATASOURCE,
            cluster_variable(),
            NODE,
            GPU,
            PROFILE,
            INSTANCE,
            HOLDER_NAMESPACE,
            HOLDER_WORKLOAD,
        ),
        rows=(
            Row(
                title="",
                panels=(
                    mig.mig_gpus(),
                    mig.instances_total(),
                    mig.slices_held(),
                    mig.busy_share(settings),
                    mig.slices_unconfigured(),
                ),
            ),
            Row(title="Nodes", collapsed=True, panels=(mig_nodes.nodes_with_mig(),)),
            Row(
                title="Profiles",
                collapsed=True,
                panels=(mig.instances_by_profile(), mig.instances_over_time(), mig.gpu_equivalents()),
            ),
            Row(
                title="Instances of the chosen node",
                collapsed=True,
                panels=(
                    mig_layout.layout(settings),
                    mig_instances.compute(),
                    mig_instances.memory(),
                    mig_layout.holders_over_time(),
                    mig_instances.whole_gpus(),
                    mig_instances.sm_activity(),
                    mig_instances.tensor_activity(),
                    mig_instances.bandwidth(),
                ),
            ),
            Row(
                title="Fragmentation",
                collapsed=True,
                panels=(mig_gpus.fragmentation(), mig_gpus.free_by_size()),
            ),
            Row(
                title="Shared GPUs",
                collapsed=True,
                panels=(mig_gpus.shared_gpus(), mig_gpus.sharing_note()),
            ),
            Row(
                title="Configuration",
                collapsed=True,
                panels=(mig_nodes.configs(), mig_nodes.config_states(), mig_nodes.instance_changes()),
            ),
            data_health_row(settings, _SOURCES),
        ),
        annotations=(
            firing_alerts(),
            xid_errors(IN_NODE),
            restarts(IN_NAMESPACE, IN_WORKLOAD),
            mig_changes(IN_NODE),
        ),
    )
