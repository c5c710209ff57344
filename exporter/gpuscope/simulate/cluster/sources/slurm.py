"""Slurm's own metrics (``MetricsType=metrics/openmetrics``, 26.05 with slurmdbd): gauges only, no job by its id."""

from collections.abc import Callable
from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.slurm import MEMORY_MIB, PARTITION, ended_jobs
from gpuscope.simulate.cluster.sources.slurm_state import (
    JobCounts,
    NodeCounts,
    by_account,
    by_user,
    job_counts,
    node_counts,
    together,
)
from gpuscope.simulate.cluster.sources.target import Source, Target
from gpuscope.simulate.cluster.world import World

__all__ = ["SLURM"]

_JOB_STATES = (
    "bootfail", "cancelled", "completing", "configuring", "deadline", "expediting", "fed_requeued", "hold",
    "outofmemory", "powerup_node", "preempted", "requeued", "resizing", "revoked", "signaling", "stageout", "suspended",
    "timeout",
)  # fmt: skip
_NODE_STATES = (
    "alloc", "blocked", "completing", "cloud", "down", "drain", "drained", "draining", "dyn_future", "dyn_normal",
    "external", "fail", "future", "idle", "invalid_reg", "maint", "mixed", "noresp", "planned", "power_down",
    "power_up",
    "powered_down", "powering_up", "reboot_issued", "reboot_req", "resv", "unknown",
)  # fmt: skip
_OTHER_WORDS = {"completing": "cg", "noresp": "no_resp", "reboot_req": "reboot_requested"}
_SCHEDULER = (
    "agent_cnt", "agent_queue_size", "agent_thread_cnt", "bf_depth_mean", "bf_mean_cycle", "bf_mean_table_sz",
    "bf_queue_len_mean", "bf_try_depth_mean", "backfilled_het_jobs", "backfilled_jobs", "bf_active", "bf_cycle_cnt",
    "bf_cycle_last", "bf_cycle_max", "bf_cycle_tot", "bf_depth_tot", "bf_depth_try_tot", "bf_last_depth",
    "bf_last_depth_try", "bf_queue_len", "bf_queue_len_tot", "bf_table_size", "bf_table_size_tot",
    "last_backfilled_jobs",
    "sdiag_latency", "schedule_cycle_depth", "schedule_cycle_max", "sched_exit_end", "sched_exit_lic",
    "sched_exit_timeout", "sched_mean_depth_cycle", "slurmdbd_queue_size",
)  # fmt: skip


def _jobs(page: Page, lead: str, counts: JobCounts, base: str = "", *, nodes: bool = True) -> None:
    def put(name: str, value: float) -> None:
        page.gauge(f"{lead}{name}", f"Number of jobs: {name or 'all'}").add(value, base)

    put("", counts.total)
    for name in _JOB_STATES:
        put(f"_{name}", counts.configuring if name == "configuring" else 0)
    finished = counts.completed + counts.failed + counts.node_failed
    for name, value in (
        ("running", counts.running), ("pending", counts.pending), ("completed", counts.completed),
        ("failed", counts.failed), ("node_failed", counts.node_failed), ("finished", finished),
        ("started", finished + counts.running), ("cpus_alloc", counts.cpus), ("gpus_alloc", counts.gpus),
        ("memory_alloc", counts.memory),
    ):  # fmt: skip
        put(f"_{name}", value)
    if nodes:
        put("_nodes_alloc", counts.nodes)


def jobs_page(world: World) -> str:
    """``/metrics/jobs``."""
    page = Page()
    _jobs(page, "slurm_jobs", together(job_counts(world).values()))
    return page.text()


def people_page(world: World) -> str:
    """``/metrics/jobs-users-accts``."""
    page = Page()
    counts = job_counts(world)
    for user, own in by_user(counts).items():
        _jobs(page, "slurm_user_jobs", own, labels(username=user))
    for account, own in by_account(counts).items():
        _jobs(page, "slurm_account_jobs", own, labels(account=account))
    return page.text()


def nodes_page(world: World) -> str:
    """``/metrics/nodes``. What is called bytes is MiB there."""
    page = Page()
    nodes = node_counts(world)
    for node in nodes:
        base = labels(node=node.name)
        for name, value in (
            ("cpus", node.cpus), ("cpus_alloc", node.cpus_allocated), ("cpus_effective", node.cpus),
            ("cpus_idle", node.cpus - node.cpus_allocated), ("gpus", node.gpus), ("gpus_alloc", node.gpus_allocated),
            ("memory_alloc_bytes", node.memory_allocated), ("memory_effective_bytes", MEMORY_MIB),
            ("memory_free_bytes", MEMORY_MIB - node.memory_allocated), ("memory_bytes", MEMORY_MIB),
        ):  # fmt: skip
            page.gauge(f"slurm_node_{name}", f"Of the node: {name}").add(value, base)
    page.gauge("slurm_nodes", "Total number of nodes").add(len(nodes))
    for name, count in _states(nodes).items():
        page.gauge(f"slurm_nodes_{name}", f"Number of nodes in {name} state").add(count)
    return page.text()


def _states(nodes: list[NodeCounts]) -> dict[str, int]:
    found = dict.fromkeys(_NODE_STATES, 0)
    for node in nodes:
        found[node.state] += 1
        if node.drained:
            found["drain"] += 1
    return found


def partitions_page(world: World) -> str:
    """``/metrics/partitions``."""
    page = Page()
    nodes = node_counts(world)
    base = labels(partition=PARTITION)
    page.gauge("slurm_partitions", "Total number of partitions").add(1)
    _jobs(page, "slurm_partition_jobs", together(job_counts(world).values()), base, nodes=False)
    for name in (
        "max_job_nodes",
        "max_job_nodes_nohold",
        "min_job_nodes",
        "min_job_nodes_nohold",
        "wait_part_node_limit",
    ):
        page.gauge(f"slurm_partition_jobs_{name}").add(0, base)
    for name, count in _states(nodes).items():
        page.gauge(f"slurm_partition_nodes_{_OTHER_WORDS.get(name, name)}").add(count, base)
    cpus, held = sum(node.cpus for node in nodes), sum(node.cpus_allocated for node in nodes)
    memory, taken = MEMORY_MIB * len(nodes), sum(node.memory_allocated for node in nodes)
    for name, value in (
        ("nodes_cpus_efctv", cpus), ("nodes_cpus_idle", cpus - held), ("nodes_cpus_alloc", held),
        ("nodes_mem_alloc", taken), ("nodes_mem_avail", memory), ("nodes_mem_free", memory - taken),
        ("nodes_mem_tot", memory), ("cpus", cpus), ("gpus", sum(node.gpus for node in nodes)), ("nodes", len(nodes)),
    ):  # fmt: skip
        page.gauge(f"slurm_partition_{name}").add(value, base)
    return page.text()


def scheduler_page(world: World) -> str:
    """``/metrics/scheduler``."""
    page = Page()
    for name in _SCHEDULER:
        page.gauge(f"slurm_{name}").add(0)
    counts = together(job_counts(world).values())
    passed = int(world.t - world.since)
    numbers = [ended_jobs(world, job) for job in world.slurm_jobs]
    done, completed = sum(ended for ended, _ in numbers), sum(good for _, good in numbers)
    for name, value in (
        ("schedule_cycle_cnt", passed // 10), ("schedule_cycle_last", 812), ("schedule_cycle_tot", passed * 80),
        ("sched_mean_cycle", 800), ("schedule_queue_len", counts.pending), ("server_thread_cnt", 3),
        ("sdiag_jobs_submitted", done + counts.running + counts.pending), ("sdiag_jobs_started", done + counts.running),
        ("sdiag_jobs_completed", completed), ("sdiag_jobs_failed", done - completed),
        ("sdiag_jobs_canceled", 0), ("sdiag_jobs_pending", counts.pending), ("sdiag_jobs_running", counts.running),
        ("sdiag_job_states_ts", int(world.now)), ("bf_when_last_cycle", int(world.now) - 20),
        ("last_proc_req_start", int(world.now)), ("sched_stats_timestamp", int(world.now)),
    ):  # fmt: skip
        page.gauge(f"slurm_{name}").add(value)
    return page.text()


_PAGES: dict[str, Callable[[World], str]] = {
    "jobs": jobs_page, "nodes": nodes_page, "partitions": partitions_page, "scheduler": scheduler_page,
    "jobs-users-accts": people_page,
}  # fmt: skip


def _targets(world: World) -> list[Target]:
    if not any(machine.scenario.jobs for machine in world.machines):
        return []
    return [
        Target(name, {"instance": "slurmctld:6817", "metrics_path": f"/metrics/{name}"}, partial(page, world))
        for name, page in _PAGES.items()
    ]


SLURM = Source("slurm", "slurm", "Slurm's own metrics, 25.11 and newer", _targets)
