"""Nodes and namespaces, as kube-state-metrics tells of them."""

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Machine
from gpuscope.simulate.cluster.world import World

__all__ = ["CPUS", "MEMORY", "add_namespaces", "add_nodes"]

CPUS, MEMORY = 32, 2 << 40
_PODS = 110
_CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
_MODELS = {"NVIDIA H100 80GB HBM3": "NVIDIA-H100-80GB-HBM3"}
_BOOT_S = 30 * 86_400


def add_nodes(page: Page, world: World) -> None:
    """``kube_node_*``."""
    info = page.gauge("kube_node_info", "Information about a cluster node.")
    created = page.gauge("kube_node_created", "Unix creation timestamp")
    own = page.gauge("kube_node_labels", "Kubernetes labels converted to Prometheus labels.")
    role = page.gauge("kube_node_role", "The role of a cluster node.")
    cordoned = page.gauge("kube_node_spec_unschedulable", "Whether a node can schedule new pods.")
    taint = page.gauge("kube_node_spec_taint", "The taint of a cluster node.")
    condition = page.gauge("kube_node_status_condition", "The condition of a cluster node.")
    capacity = page.gauge("kube_node_status_capacity", "The total amount of resources available for a node.")
    allocatable = page.gauge("kube_node_status_allocatable", "The amount of resources allocatable for pods.")
    for machine in world.machines:
        node = labels(node=machine.name)
        info.add(
            1, node, kernel_version="6.8.0-64-generic", os_image="Ubuntu 24.04.3 LTS",
            container_runtime_version="containerd://2.1.4", kubelet_version="v1.33.4", kubeproxy_version="deprecated",
            provider_id="", pod_cidr="", system_uuid=f"ec2{machine.number:05x}", internal_ip=machine.address,
        )  # fmt: skip
        created.add(world.stamp(world.since - _BOOT_S), node)
        own.add(
            1, node, label_kubernetes_io_hostname=machine.name, label_topology_kubernetes_io_zone="zone-a",
            label_node_kubernetes_io_instance_type="gpu.8xlarge", label_nvidia_com_gpu_product=_product(machine),
            **_mig_labels(world, machine), label_node_pool="gpu",
            label_sagemaker_amazonaws_com_node_health_status=(
                "UnschedulablePendingReplacement" if machine.cordoned else "Schedulable"
            ),
        )  # fmt: skip
        role.add(1, node, role="gpu")
        cordoned.add(machine.cordoned, node)
        if machine.cordoned:
            taint.add(1, node, key="node.kubernetes.io/unschedulable", value="", effect="NoSchedule")
        for name in _CONDITIONS:
            bad = name != "Ready"
            for status in ("true", "false", "unknown"):
                condition.add(status == ("false" if bad else "true"), node, condition=name, status=status)
        for resource, unit, amount, left in _resources(machine):
            capacity.add(amount, node, resource=resource, unit=unit)
            allocatable.add(left, node, resource=resource, unit=unit)


def _mig_labels(world: World, machine: Machine) -> dict[str, str]:
    """What NVIDIA's MIG manager writes on its nodes; it runs where there is MIG."""
    if not world.shape.mig:
        return {}
    has = any(plan.mig for plan in machine.scenario.gpus)
    return {
        "label_nvidia_com_mig_config": "custom-mixed" if has else "all-disabled",
        "label_nvidia_com_mig_config_state": "success",
    }


def _product(machine: Machine) -> str:
    models = [gpu.model.name for gpu in machine.gpus()]
    return _MODELS.get(models[0], models[0].replace(" ", "-")) if models else ""


def _resources(machine: Machine) -> list[tuple[str, str, float, float]]:
    found: list[tuple[str, str, float, float]] = [
        ("cpu", "core", CPUS, CPUS - 2),
        ("memory", "byte", MEMORY, MEMORY - (32 << 30)),
        ("ephemeral_storage", "byte", 4 << 40, 3.6 * (1 << 40)),
        ("pods", "integer", _PODS, _PODS),
    ]
    counts: dict[str, list[int]] = {"nvidia_com_gpu": [0, 0]}
    answering = {gpu.index for gpu in machine.gpus()}
    for index, plan in enumerate(machine.scenario.gpus):
        names = (
            ["nvidia_com_mig_" + part.profile.replace(".", "_").replace("+", "_") for part in plan.mig]
            if plan.mig is not None
            else ["nvidia_com_gpu_shared"] * plan.replicas if plan.replicas > 1 else ["nvidia_com_gpu"]
        )  # fmt: skip
        for name in names:
            both = counts.setdefault(name, [0, 0])
            both[0] += 1
            both[1] += index in answering
    return found + [(name, "integer", total, left) for name, (total, left) in counts.items()]


def add_namespaces(page: Page, world: World) -> None:
    """``kube_namespace_*``."""
    created = page.gauge("kube_namespace_created", "Unix creation timestamp")
    own = page.gauge("kube_namespace_labels", "Kubernetes labels converted to Prometheus labels.")
    phase = page.gauge("kube_namespace_status_phase", "kubernetes namespace status phase.")
    spaces = dict.fromkeys(plan.namespace for machine in world.machines for plan in machine.plans())
    for space in {**spaces, "kube-system": None, "monitoring": None}:
        created.add(world.stamp(world.since - _BOOT_S), namespace=space)
        own.add(1, namespace=space, label_kubernetes_io_metadata_name=space, label_team=space.removeprefix("team-"))
        for name in ("Active", "Terminating"):
            phase.add(name == "Active", namespace=space, phase=name)
