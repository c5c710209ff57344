"""Two exporters of Slurm: vpenso's with its many descendants, and rivosinc's."""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.slurm import MEMORY_MIB, PARTITION
from gpuscope.simulate.cluster.sources.slurm_state import by_account, by_user, job_counts, node_counts
from gpuscope.simulate.cluster.sources.target import Source, Target
from gpuscope.simulate.cluster.world import World

__all__ = ["RIVOSINC", "VPENSO"]

_STATES = {"alloc": "alloc", "mixed": "mix", "idle": "idle", "drained": "drain", "draining": "drain"}
_NODES = ("alloc", "comp", "down", "drain", "err", "fail", "idle", "maint", "mix", "resv")
_QUEUE = ("suspended", "cancelled", "completing", "configuring", "timeout", "preempted")


def vpenso_page(world: World) -> str:
    """``slurm_queue_*``, ``slurm_gpus_*``, ``slurm_nodes_*`` and ``slurm_cpus_*``, all gauges."""
    page = Page()
    counts, nodes = job_counts(world), node_counts(world)
    gpus, held = sum(node.gpus for node in nodes), sum(node.gpus_allocated for node in nodes)
    for name, value in (
        ("alloc", held),
        ("idle", gpus - held),
        ("total", gpus),
        ("utilization", round(held / gpus, 4)),
    ):
        page.gauge(f"slurm_gpus_{name}", f"{name} GPUs").add(value)
    starting = sum(one.configuring for one in counts.values())
    for name in ("running", "pending", "completed", "failed"):
        page.gauge(f"slurm_queue_{name}", f"{name} jobs in the cluster").add(
            sum(getattr(one, name) for one in counts.values()) - (starting if name == "running" else 0)
        )
    page.gauge("slurm_queue_node_fail").add(sum(one.node_failed for one in counts.values()))
    page.gauge("slurm_queue_pending_dependency").add(0)
    page.gauge("slurm_queue_out_of_memory").add(0)
    for name in _QUEUE:
        page.gauge(f"slurm_queue_{name}", f"{name} jobs in the cluster").add(starting if name == "configuring" else 0)
    for name in _NODES:
        page.gauge(f"slurm_nodes_{name}", f"{name} nodes").add(sum(_STATES[node.state] == name for node in nodes))
    cpus, taken = sum(node.cpus for node in nodes), sum(node.cpus_allocated for node in nodes)
    for name, value in (("alloc", taken), ("idle", cpus - taken), ("other", 0), ("total", cpus)):
        page.gauge(f"slurm_cpus_{name}", f"{name} CPUs").add(value)
        if name != "other":
            page.gauge(f"slurm_partition_cpus_{'allocated' if name == 'alloc' else name}").add(
                value, partition=PARTITION
            )
    page.gauge("slurm_partition_jobs_pending").add(sum(one.pending for one in counts.values()), partition=PARTITION)
    for node in nodes:
        base = labels(node=node.name, status=node.state)
        page.gauge("slurm_node_cpu_alloc", "Allocated CPUs per node").add(node.cpus_allocated, base)
        page.gauge("slurm_node_cpu_total", "Total CPUs per node").add(node.cpus, base)
        page.gauge("slurm_node_mem_alloc", "Allocated memory per node").add(node.memory_allocated, base)
        page.gauge("slurm_node_mem_total", "Total memory per node").add(MEMORY_MIB, base)
    for lead, label, people in (("user", "user", by_user(counts)), ("account", "account", by_account(counts))):
        for who, one in people.items():
            for name, value in (
                ("jobs_running", one.running),
                ("jobs_pending", one.pending),
                ("cpus_running", one.cpus),
            ):
                page.gauge(f"slurm_{lead}_{name}", f"{name} of {lead}").add(value, **{label: who})
    for user, one in by_user(counts).items():
        page.gauge("slurm_user_gpus_running", "GPUs allocated per user for running jobs").add(one.gpus, user=user)
    return page.text()


def rivosinc_page(world: World) -> str:
    """Names with ``…_total`` that are gauges, by state, user, account and partition."""
    page = Page()
    counts, nodes = job_counts(world), node_counts(world)
    base = labels(partition=PARTITION)
    cpus, taken = sum(node.cpus for node in nodes), sum(node.cpus_allocated for node in nodes)
    memory = MEMORY_MIB * len(nodes) * 1e6
    held = sum(node.memory_allocated for node in nodes) * 1e6
    for name, value in (("total_cpus", cpus), ("idle_cpus", cpus - taken), ("real_mem", memory),
                        ("free_mem", memory - held),
                        ("cpu_load", round(taken * 0.8, 2)), ("weight", len(nodes))):  # fmt: skip
        page.gauge(f"slurm_partition_{name}").add(value, base)
    page.gauge("slurm_partition_alloc_cpus", "Alloc cpus per partition").add(taken, base, state="allocated")
    page.gauge("slurm_partition_alloc_mem", "Alloc mem per partition").add(held, base, state="allocated")
    for name, value in (("cpus_total", cpus), ("cpus_idle", cpus - taken), ("cpu_load", round(taken * 0.8, 2)),
                        ("mem_real", memory), ("mem_alloc", held), ("mem_free", memory - held)):  # fmt: skip
        page.gauge(f"slurm_{name}").add(value)
    for state in dict.fromkeys(node.state for node in nodes):
        own = [node for node in nodes if node.state == state]
        page.gauge("slurm_cpus_per_state").add(sum(node.cpus for node in own), state=state)
        page.gauge("slurm_node_count_per_state").add(len(own), state=state)
    for name in ("running", "pending"):
        total = sum(getattr(one, name) for one in counts.values())
        page.gauge("slurm_partition_job_state_total", "total jobs per partition per state").add(
            total, base, state=name.upper()
        )
        for user, one in by_user(counts).items():
            page.gauge("slurm_user_state_total", "total jobs per state per user").add(
                getattr(one, name), username=user, state=name.upper()
            )
        for account, one in by_account(counts).items():
            page.gauge("slurm_account_job_state_total", "total jobs per account per job state").add(
                getattr(one, name), account=account, state=name.upper()
            )
    for lead, label, people in (("user", "username", by_user(counts)), ("account", "account", by_account(counts))):
        for who, one in people.items():
            page.gauge(f"slurm_{lead}_cpu_alloc", f"alloc cpu per {lead}").add(one.cpus, **{label: who})
            page.gauge(f"slurm_{lead}_mem_alloc", f"alloc mem per {lead}").add(one.memory * 1e6, **{label: who})
    return page.text()


def _targets(world: World, *, vpenso: bool) -> list[Target]:
    if not any(machine.scenario.jobs for machine in world.machines):
        return []
    page, address = (vpenso_page, "slurm-login:8080") if vpenso else (rivosinc_page, "slurm-login:9092")
    return [Target("exporter", {"instance": address}, partial(page, world))]


VPENSO = Source("slurm-vpenso", "slurm-exporter", "vpenso's prometheus-slurm-exporter", partial(_targets, vpenso=True))
RIVOSINC = Source("slurm-rivosinc", "slurm-exporter", "rivosinc's Slurm exporter", partial(_targets, vpenso=False))
