"""cAdvisor in kubelet: CPU, memory, network and disks of containers; rows without a container are sums of the pod."""

from functools import partial

from gpuscope.simulate.cluster.curves import Wave
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.sources.target import Source, Target
from gpuscope.simulate.cluster.workloads import steady
from gpuscope.simulate.cluster.world import Pod, World

__all__ = ["CADVISOR"]

_CORES = {"training": 2.2, "finetune": 1.8, "inference": 1.1, "batch": 2.6, "notebook": 0.4, "idle": 0.02}
_NETWORK = {"training": 40e6, "finetune": 15e6, "inference": 6e6, "batch": 20e6, "notebook": 2e5, "idle": 1e3}
_PERIOD_S = 0.1


def cadvisor_page(world: World, machine: Machine) -> str:
    """The exposition of one node."""
    page = Page()
    page.gauge("cadvisor_version_info", "A metric with a constant '1' value labeled by versions.").add(
        1, kernelVersion="6.8.0-64-generic", osVersion="Ubuntu 24.04.3 LTS", dockerVersion="", cadvisorVersion=""
    )
    page.gauge("machine_cpu_cores", "Number of logical CPU cores.").add(32, machine_id=machine.name)
    page.gauge("machine_memory_bytes", "Amount of memory installed on the machine.").add(
        2 << 40, machine_id=machine.name
    )
    for pod in world.pods(machine):
        folder = f"/kubepods.slice/kubepods-pod{pod.run.uid.replace('-', '_')}.slice"
        base = labels(namespace=pod.namespace, pod=pod.name)
        count = len(pod.plan.containers)
        for place, container in enumerate(pod.plan.containers):
            share = 1.0 if count == 1 else (0.95 if place == 0 else 0.05 / (count - 1))
            inner = labels(
                container=container.name, id=f"{folder}/cri-containerd-{pod.run.container_id(container.name)}.scope",
                image=f"registry.example/{pod.workload.name}:2.4", name=pod.run.container_id(container.name),
            )  # fmt: skip
            _use(page, world, pod, f"{inner},{base}", share)
            _container(page, world, pod, f"{inner},{base}")
        _use(page, world, pod, f"{labels(id=folder)},{base}", 1.0)
        _network(page, world, pod, f"{labels(id=folder, interface='eth0', image='registry.example/pause:3.10')},{base}")
    return page.text()


def _cores(pod: Pod) -> Wave:
    devices = max(1, sum(pod.gpus.values()))
    return Wave(devices * _CORES.get(pod.activity, 0.1), 0.3, 600.0, steady(pod.run.uid))


def _use(page: Page, world: World, pod: Pod, base: str, share: float) -> None:
    cores = _cores(pod)
    seconds = cores.total(pod.began, world.t) * share
    page.counter("container_cpu_usage_seconds_total", "Cumulative cpu time consumed in seconds.").add(
        round(seconds, 3), base, cpu="total"
    )
    devices = max(1, sum(pod.gpus.values()))
    growth = min(1.0, (world.t - pod.began) / 300)
    used = devices * (128 << 30) * share * growth * (0.15 if pod.activity == "idle" else 0.45)
    level = Wave(used, 0.1, 900.0, steady(pod.run.uid)).at(world.t)
    for name, value in (("working_set", level), ("usage", level * 1.2), ("rss", level * 0.8), ("cache", level * 0.3)):
        metric = f"container_memory_{name}" if name in {"rss", "cache"} else f"container_memory_{name}_bytes"
        page.gauge(metric, f"Current {name} of memory in bytes.").add(int(value), base)


def _container(page: Page, world: World, pod: Pod, base: str) -> None:
    lived = world.t - pod.began
    page.counter("container_cpu_cfs_periods_total", "Number of elapsed enforcement period intervals.").add(
        int(lived / _PERIOD_S), base
    )
    page.counter("container_cpu_cfs_throttled_periods_total", "Number of throttled period intervals.").add(
        int(lived / _PERIOD_S * 0.02), base
    )
    page.counter(
        "container_cpu_cfs_throttled_seconds_total", "Total time duration the container has been throttled."
    ).add(round(lived * 0.004, 3), base)
    page.counter("container_oom_events_total", "Count of out of memory events observed for the container").add(0, base)
    page.gauge("container_spec_memory_limit_bytes", "Memory limit for the container.").add(
        max(1, sum(pod.gpus.values())) * (128 << 30), base
    )
    page.gauge("container_start_time_seconds", "Start time of the container since unix epoch in seconds.").add(
        world.stamp(pod.began), base
    )
    moved = _cores(pod).total(pod.began, world.t)
    for name, rate in (("reads", 2e6), ("writes", 5e5)):
        page.counter(f"container_fs_{name}_bytes_total", f"Cumulative count of bytes: {name}").add(
            int(moved * rate), base, device="/dev/md0"
        )


def _network(page: Page, world: World, pod: Pod, base: str) -> None:
    moved = Wave(_NETWORK.get(pod.activity, 1e4), 0.3, 600.0, steady(pod.run.uid)).total(pod.began, world.t)
    for name, share in (("receive", 1.0), ("transmit", 0.6)):
        page.counter(f"container_network_{name}_bytes_total", f"Cumulative count of bytes: {name}").add(
            int(moved * share), base
        )
        page.counter(f"container_network_{name}_packets_total", f"Cumulative count of packets: {name}").add(
            int(moved * share / 1400), base
        )
        page.counter(f"container_network_{name}_packets_dropped_total", f"Cumulative count of dropped: {name}").add(
            0, base
        )


def _targets(world: World) -> list[Target]:
    return [
        Target(
            machine.name,
            {
                "namespace": "kube-system", "service": "kubelet", "endpoint": "https-metrics",
                "instance": f"{machine.address}:10250", "node": machine.name, "metrics_path": "/metrics/cadvisor",
            },
            partial(cadvisor_page, world, machine),
        )
        for machine in world.machines
    ]  # fmt: skip


CADVISOR = Source("cadvisor", "kubelet", "cAdvisor in kubelet", _targets, honor_labels=True)
