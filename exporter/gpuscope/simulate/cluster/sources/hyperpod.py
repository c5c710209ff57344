"""What HyperPod adds beside its training operator: calls of models, and MIG instances; and KEDA's operator."""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.sources.buckets import FIRST_MILLISECONDS, MILLISECONDS
from gpuscope.simulate.cluster.sources.serving import Server, servers_of
from gpuscope.simulate.cluster.sources.target import Source, Target, daemon_pod, service
from gpuscope.simulate.cluster.traffic import BURST
from gpuscope.simulate.cluster.world import World

__all__ = ["HYPERPOD_INFERENCE", "KEDA", "NVIDIA_MIG"]


def inference_page(world: World) -> str:
    """``model_*`` of HyperPod's inference operator, for the servers that it would run."""
    page = Page()
    for server in servers_of(world, "vllm"):
        if not server.role and server.workload.kind == "Deployment":
            _model(page, server)
    return page.text()


def _model(page: Page, server: Server) -> None:
    normal, burst = server.counts()
    base = labels(
        resource_name=server.workload.name, resource_type="jumpstart", namespace=server.plan.namespace,
        model_name=server.model, model_version="1", model_container_type="lmi", model_container_image="lmi:0.33",
        instance_type="ml.p5.48xlarge", pod_name=server.plan.name, node_name=server.machine.name, method="POST",
        uri="/invocations",
    )  # fmt: skip
    page.counter("model_invocations_total", "Total number of invocation requests").add(int(normal + burst), base)
    errors = page.counter("model_errors_total", "Total number of errors")
    if burst:
        errors.add(int(burst * 0.02), base, status="503")
        errors.add(int(normal * 0.001), base, status="400")
    page.gauge("model_concurrent_requests", "Active concurrent requests").add(sum(server.load()[:2]), base)
    for name, (calm, hot) in (
        ("model_latency_milliseconds", MILLISECONDS),
        ("model_ttfb_milliseconds", FIRST_MILLISECONDS),
    ):
        page.histogram(name, f"Histogram of {name}").observe(((calm, normal), (hot, burst)), base)


def mig_page(world: World, machine: Machine) -> str:
    """``nvidia_mig_*`` of one node; nothing where no GPU has MIG."""
    page = Page()
    counts: dict[tuple[int, str], int] = {}
    for device in machine.devices():
        if device.instance is None:
            continue
        gpu, instance = device.gpu, device.instance
        profile = instance.plan.profile
        counts[gpu.index, profile] = counts.get((gpu.index, profile), 0) + 1
        base = labels(
            gpu=gpu.index, gpu_uuid=gpu.uuid, GPU_I_ID=instance.gi, GPU_I_PROFILE=profile, Hostname=machine.name
        )
        page.gauge("nvidia_mig_memory_usage", "Memory used by a MIG instance in bytes").add(
            gpu.used_memory(instance), base
        )
        page.gauge("nvidia_mig_compute_utilization", "Compute utilization of a MIG instance in percent").add(
            round(100 * instance.load.graphics, 2), base
        )
    for (index, profile), count in counts.items():
        page.gauge("nvidia_mig_instance_count", "MIG instances of a GPU per profile").add(
            count, gpu=index, GPU_I_PROFILE=profile, Hostname=machine.name
        )
    return page.text()


def keda_page(world: World) -> str:
    """KEDA's operator: what its scalers see."""
    page = Page()
    for server in servers_of(world, "vllm"):
        if server.workload.kind != "Deployment":
            continue
        base = labels(
            namespace=server.plan.namespace, scaledObject=server.workload.name, scaler="prometheusScaler",
            triggerIndex="0", metric="s0-prometheus", type="scaledobject",
        )  # fmt: skip
        waiting = 60 * BURST.level(world.t) if world.shape.faults else 0.0
        if base in {line.partition("{")[2].partition("}")[0] for line in page.gauge("keda_scaler_metrics_value").lines}:
            continue
        page.gauge("keda_scaler_metrics_value").add(round(4 + waiting, 3), base)
        page.gauge("keda_scaler_active").add(1, base)
        page.gauge("keda_scaler_metrics_latency_seconds").add(0.012, base)
        page.counter("keda_scaler_detail_errors_total").add(0, base)
    return page.text()


def _inference_targets(world: World) -> list[Target]:
    if not any(not one.role and one.workload.kind == "Deployment" for one in servers_of(world, "vllm")):
        return []
    where = service("hyperpod-inference-system", "hyperpod-inference-operator", "10.244.7.6:8443")
    return [Target("operator", where, partial(inference_page, world))]


def _mig_targets(world: World) -> list[Target]:
    return [
        Target(
            machine.name,
            service("hyperpod-observability", "mig-exporter", f"{machine.address}:9401",
                    pod=daemon_pod("mig-exporter", machine.name)),
            partial(mig_page, world, machine),
        )
        for machine in world.machines
        if any(plan.mig for plan in machine.scenario.gpus)
    ]  # fmt: skip


def _keda_targets(world: World) -> list[Target]:
    if not any(one.workload.kind == "Deployment" for one in servers_of(world, "vllm")):
        return []
    where = service("keda", "keda-operator", "10.244.7.7:8080")
    return [Target("operator", where, partial(keda_page, world))]


HYPERPOD_INFERENCE = Source(
    "hyperpod-inference", "hyperpod-inference-operator", "HyperPod's inference operator", _inference_targets,
    honor_labels=True,
)  # fmt: skip
NVIDIA_MIG = Source("nvidia-mig", "mig-exporter", "HyperPod's MIG metrics", _mig_targets)
KEDA = Source("keda", "keda-operator", "KEDA's operator", _keda_targets, honor_labels=True)
