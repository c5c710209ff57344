"""node-exporter: CPU, memory, disks, file systems, pressure; NFS and the network stand in files of their own."""

from functools import partial

from gpuscope.simulate.cluster.curves import Wave
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.sources.kube_nodes import CPUS, MEMORY
from gpuscope.simulate.cluster.sources.node_mounts import add_mounts
from gpuscope.simulate.cluster.sources.node_network import add_efa, add_infiniband, add_network
from gpuscope.simulate.cluster.sources.target import Source, Target, daemon_pod, service
from gpuscope.simulate.cluster.storage import filesystems, io_bytes
from gpuscope.simulate.cluster.workloads import steady
from gpuscope.simulate.cluster.world import World

__all__ = ["NODE", "NODE_EFA"]

_MODES = {"user": 0.62, "system": 0.25, "iowait": 0.08, "irq": 0.01, "nice": 0.01, "softirq": 0.02, "steal": 0.01}
_BOOT_S = 20 * 86_400


def node_page(world: World, machine: Machine, *, efa: bool) -> str:
    """The exposition of one node."""
    page = Page()
    _system(page, world, machine)
    _cpu(page, world, machine)
    _memory(page, world, machine)
    _disks(page, world, machine)
    add_mounts(page, world, machine)
    add_network(page, world, machine)
    if efa:
        add_efa(page, world, machine)
    else:
        add_infiniband(page, world, machine)
    return page.text()


def _system(page: Page, world: World, machine: Machine) -> None:
    page.gauge("node_uname_info", "Labeled system information as provided by the uname system call.").add(
        1, nodename=machine.name, sysname="Linux", release="6.8.0-64-generic", machine="x86_64",
        version="#67-Ubuntu SMP", domainname="(none)",
    )  # fmt: skip
    page.gauge("node_os_info", "A metric with a constant '1' value labeled by os release.").add(
        1, id="ubuntu", name="Ubuntu", pretty_name="Ubuntu 24.04.3 LTS", version_id="24.04"
    )
    page.gauge("node_dmi_info", "A metric with a constant '1' value labeled by dmi fields.").add(
        1, product_name="GPU server", system_vendor="Example", bios_version="1.4.2"
    )
    page.gauge("node_exporter_build_info", "Build information of node_exporter.").add(
        1, version="1.10.2", branch="HEAD"
    )
    page.gauge("node_boot_time_seconds", "Node boot time, in unixtime.").add(world.stamp(world.since - _BOOT_S))
    page.gauge("node_time_seconds", "System time in seconds since epoch (1970).").add(world.now)
    success = page.gauge("node_scrape_collector_success", "node_exporter: Whether a collector succeeded.")
    for name in ("cpu", "meminfo", "filesystem", "infiniband", "mountstats", "pressure", "netdev"):
        success.add(1, collector=name)


def _busy(world: World, machine: Machine) -> tuple[float, Wave]:
    """Share of the CPUs that is busy on average, and how it swings."""
    passed = world.t - world.since
    mean = 0.12 + 0.45 * world.training_seconds(machine) / max(passed, 1.0)
    return mean, Wave(mean, 0.25, 1200.0, steady(machine.name))


def _cpu(page: Page, world: World, machine: Machine) -> None:
    trained = world.training_seconds(machine)
    passed = world.t - world.since
    other = Wave(0.12, 0.4, 1200.0, steady(machine.name)).total(world.since, world.t)
    seconds = page.counter("node_cpu_seconds_total", "Seconds the CPUs spent in each mode.")
    for cpu in range(CPUS):
        own = 0.9 + 0.2 * steady(f"{machine.name}/{cpu}")
        busy = (0.4 * trained + other) * own
        for mode, share in _MODES.items():
            seconds.add(round(busy * share, 2), cpu=cpu, mode=mode)
        seconds.add(round(passed - busy, 2), cpu=cpu, mode="idle")
    mean, wave = _busy(world, machine)
    for name in ("1", "5", "15"):
        page.gauge(f"node_load{name}", f"{name}m load average.").add(round(wave.at(world.t) * CPUS, 2))
    page.counter("node_context_switches_total", "Total number of context switches.").add(int(passed * 2e5 * mean))
    page.counter("node_intr_total", "Total number of interrupts serviced.").add(int(passed * 9e4))
    page.gauge("node_procs_running", "Number of processes in runnable state.").add(int(wave.at(world.t) * CPUS) + 1)
    page.gauge("node_procs_blocked", "Number of processes blocked waiting for I/O to complete.").add(1)
    for what, rate in (("cpu_waiting", 0.01), ("io_waiting", 0.05), ("io_stalled", 0.03), ("memory_waiting", 0.001),
                       ("memory_stalled", 0.0005)):  # fmt: skip
        page.counter(f"node_pressure_{what}_seconds_total", f"Pressure stall information: {what}.").add(
            round(rate * (0.5 * trained + 0.2 * passed), 6)
        )


def _memory(page: Page, world: World, machine: Machine) -> None:
    _, wave = _busy(world, machine)
    used = MEMORY * min(0.9, 0.1 + wave.at(world.t))
    free = MEMORY - used
    for name, value in (
        ("MemTotal", MEMORY), ("MemFree", free * 0.3), ("MemAvailable", free), ("Buffers", 2e9), ("Cached", free * 0.6),
        ("Slab", 6e9), ("SReclaimable", 4e9), ("SwapTotal", 0), ("SwapFree", 0), ("Dirty", 3e8),
        ("Hugepagesize", 2 << 20),
    ):  # fmt: skip
        page.gauge(f"node_memory_{name}_bytes", f"Memory information field {name}_bytes.").add(int(value))
    for name, value in (("HugePages_Total", 2048), ("HugePages_Free", 512)):
        page.gauge(f"node_memory_{name}", f"Memory information field {name}.").add(value)
    page.counter("node_vmstat_oom_kill", "/proc/vmstat information field oom_kill.").add(0)
    page.counter("node_vmstat_pgmajfault", "/proc/vmstat information field pgmajfault.").add(
        int((world.t - world.since) * 3)
    )
    page.gauge("node_filefd_allocated", "File descriptor statistics: allocated.").add(21_000)
    page.gauge("node_filefd_maximum", "File descriptor statistics: maximum.").add(9.2e6)
    page.gauge("node_nf_conntrack_entries", "Number of currently allocated flow entries.").add(4200)
    page.gauge("node_nf_conntrack_entries_limit", "Maximum size of connection tracking table.").add(1_048_576)


def _disks(page: Page, world: World, machine: Machine) -> None:
    shares = [
        (
            share.plan.name,
            share.plan.type,
            share.plan.mountpoint,
            share.size,
            share.free,
            share.inodes,
            share.inodes_free,
        )
        for share in filesystems(world, machine)
    ]
    shares.append(("/dev/nvme0n1p1", "ext4", "/", 1e12, 6.1e11, 6e7, 5.4e7))
    for device, kind, mountpoint, size, free, inodes, inodes_free in shares:
        base = labels(device=device, fstype=kind, mountpoint=mountpoint)
        for name, value in (
            ("size_bytes", size), ("free_bytes", free), ("avail_bytes", free), ("files", inodes),
            ("files_free", inodes_free), ("readonly", 0), ("device_error", 0),
        ):  # fmt: skip
            page.gauge(f"node_filesystem_{name}", f"Filesystem {name}.").add(value, base)
    read, written = io_bytes(world, machine, "xfs")
    for device, share in (("md0", 1.0), ("nvme0n1", 0.01)):
        for name, value in (
            ("read_bytes_total", read * share), ("written_bytes_total", written * share),
            ("reads_completed_total", read * share / 131_072), ("writes_completed_total", written * share / 262_144),
        ):  # fmt: skip
            page.counter(f"node_disk_{name}", f"Disk statistics: {name}.").add(int(value), device=device)
        page.counter("node_disk_io_time_seconds_total", "Total seconds spent doing I/Os.").add(
            round((read + written) * share / 12e9, 3), device=device
        )


def _targets(world: World, *, efa: bool) -> list[Target]:
    return [
        Target(
            machine.name,
            # kube-prometheus relabels `instance` to the node's name.
            service("monitoring", "node-exporter", machine.name, endpoint="https",
                    pod=daemon_pod("node-exporter", machine.name)),
            partial(node_page, world, machine, efa=efa),
        )
        for machine in world.machines
    ]  # fmt: skip


NODE = Source("node", "node-exporter", "node-exporter with InfiniBand", partial(_targets, efa=False))
NODE_EFA = Source("node-efa", "node-exporter", "node-exporter with EFA", partial(_targets, efa=True))
