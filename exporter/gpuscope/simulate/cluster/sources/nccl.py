"""NCCL Inspector: bandwidth and time of collectives by GPU, from the textfile collector of each node."""

from functools import partial

from gpuscope.simulate.cluster.curves import Wave
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.sources.target import Source, Target, daemon_pod, service
from gpuscope.simulate.cluster.workloads import steady
from gpuscope.simulate.cluster.world import Training, World

__all__ = ["NCCL"]

_COLLECTIVES = {"AllReduce": (1.0, "512-513MB"), "AllGather": (0.85, "64-65MB"), "ReduceScatter": (0.82, "64-65MB")}
_INSIDE_GBS, _ACROSS_GBS = 420.0, 46.0
_STRAGGLER = 5


def nccl_page(world: World, machine: Machine) -> str:
    """The exposition of one node; nothing while nobody trains there."""
    page = Page()
    held: dict[str, list[int]] = {}
    for run in machine.runs():
        kind = next((one.tenant.kind for one in run.held), "")
        if kind in {"training", "finetune"} and not any(one.mig for one in run.held):
            held[run.name] = [one.gpu.index for one in run.held]
    answering = {gpu.index for gpu in machine.gpus()}
    for name, gpus in held.items():
        training = _training(world, machine)
        nodes = len(training.nodes) if training else 1
        for gpu in gpus:
            if gpu in answering:
                _gpu(page, world, machine, gpu, nodes, len(gpus) * nodes, name if world.shape.slurm else "")
    return page.text()


def _training(world: World, machine: Machine) -> Training | None:
    return next((one for one in world.all_trainings if machine.name in one.nodes), None)


def _gpu(page: Page, world: World, machine: Machine, gpu: int, nodes: int, ranks: int, job: str) -> None:
    slow = 0.8 if world.shape.faults and gpu == _STRAGGLER and nodes > 1 else 1.0
    wave = Wave(1.0, 0.05, 240.0, steady(f"{machine.name}/{gpu}"))
    spans = {1: ("TP Group", "NVLS_Simple", _INSIDE_GBS)}
    if nodes > 1:
        spans[nodes] = ("DP Group", "Ring_Simple", _ACROSS_GBS)
    for span, (group, way, bandwidth) in spans.items():
        base = labels(
            version="v5.1", slurm_job_id=job, node=machine.name, gpu=f"GPU{gpu}", n_nodes=span, nranks=ranks,
            comm_name=group,
        )  # fmt: skip
        for name, (share, size) in _COLLECTIVES.items():
            level = bandwidth * share * wave.at(world.t) * slow
            inner = f"{base},{labels(collective=name, message_size=size, algo_proto=way)}"
            page.gauge("nccl_bus_bandwidth_gbs", "NCCL bus bandwidth in GB/s").add(round(level, 3), inner)
            megabytes = float(size.partition("-")[0])
            page.gauge("nccl_collective_exec_time_microseconds", "Collective execution time.").add(
                round(megabytes / level * 1000, 2), inner
            )
        if span > 1:
            inner = f"{base},{labels(p2p_operation='Send', message_size='8-9MB')}"
            page.gauge("nccl_p2p_bus_bandwidth_gbs", "NCCL P2P bus bandwidth in GB/s").add(
                round(bandwidth * 0.6 * slow, 3), inner
            )
            page.gauge("nccl_p2p_exec_time_microseconds", "P2P execution time.").add(round(320 / slow, 2), inner)


def _targets(world: World) -> list[Target]:
    return [
        Target(
            machine.name,
            service("monitoring", "node-exporter", machine.name, pod=daemon_pod("node-exporter", machine.name)),
            partial(nccl_page, world, machine),
        )
        for machine in world.machines
    ]


NCCL = Source("nccl", "nccl-inspector", "NCCL Inspector's text files", _targets, honor_labels=True)
