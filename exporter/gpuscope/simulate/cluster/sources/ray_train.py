"""Ray Train and Ray Data: how long the workers of a run have waited for checkpoints and for data."""

from functools import partial

from gpuscope.simulate.cluster.curves import Cycle
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources.target import Source, Target, service
from gpuscope.simulate.cluster.workloads import steady
from gpuscope.simulate.cluster.world import Pod, World

__all__ = ["RAY_TRAIN"]

_RUNS = ("mistral-sft", "sweep-")
"""Workloads whose script runs with Ray."""

_CHECKPOINT = Cycle(120.0)
_STORED_S = 6.0
_BATCH = Cycle(30.0)
_LATE_S = 0.8


def ray_page(world: World, pod: Pod) -> str:
    """The exposition of the metrics agent of one Ray node, with a worker for each of its GPUs."""
    page = Page()
    run = pod.workload.name
    blocked = page.gauge(
        "ray_train_report_total_blocked_time_s", "Cumulative time in seconds to report a checkpoint to the storage."
    )
    waited = page.gauge("ray_data_iter_total_blocked_seconds", "Seconds user thread is blocked by iter_batches()")
    session = labels(SessionName="session_2026-11-30_08-00-00_000001_1", ray_io_cluster=run)
    for rank in range(sum(pod.gpus.values())):
        share = 0.8 + 0.4 * steady(f"{pod.name}/{rank}")
        blocked.add(
            round(_CHECKPOINT.seconds(pod.began, world.t, 0.0, _STORED_S * share), 3), session,
            ray_train_run_name=run, ray_train_run_id=f"{run}-1", ray_train_worker_world_rank=rank,
            ray_train_worker_local_rank=rank, ray_train_worker_node_rank=0,
        )  # fmt: skip
    late = _LATE_S * (2.5 if world.shape.faults else 1.0)
    waited.add(round(_BATCH.seconds(pod.began, world.t, 0.0, late), 3), session, dataset=f"{run}_train_1")
    return page.text()


def _targets(world: World) -> list[Target]:
    return [
        Target(pod.name, service(pod.namespace, "ray", f"{pod.name}:8080", pod=pod.name), partial(ray_page, world, pod))
        for pod in world.pods()
        if pod.workload.name.startswith(_RUNS)
    ]


RAY_TRAIN = Source("ray-train", "ray", "Ray Train and Ray Data, as KubeRay's pods publish them", _targets)
