"""What kubelet tells of the simulated machine's pods: which container has which device, by which name.

Nothing imports this module before a scenario has pods: protobuf costs some MiB.
"""

import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gpuscope.podresources import ListPodResourcesResponse
from gpuscope.simulate.device import SimGpu
from gpuscope.simulate.mig import SimMig
from gpuscope.simulate.pods import PodPlan
from gpuscope.simulate.tenancy import Held, Run

if TYPE_CHECKING:
    from gpuscope.podresources.messages import ContainerResources

__all__ = ["pod_resources"]

_DRA_DRIVER = "gpu.nvidia.com"
# Ids that the driver gives to the profiles of GPUs with seven slices.
_PROFILE_IDS = {7: 0, 4: 5, 3: 9, 2: 14, 1: 19}


def pod_resources(runs: Iterable[Run], node: str) -> ListPodResourcesResponse:
    """The answer to ``List``.

    Args:
        runs: who runs now; jobs of Slurm are none of kubelet's.
        node: name of the machine, which DRA calls its pool of devices.
    """
    answer = ListPodResourcesResponse()
    for run in runs:
        if not isinstance(run.plan, PodPlan):
            continue
        pod = answer.pod_resources.add(name=run.name, namespace=run.plan.namespace)
        for plan in run.plan.containers:
            container = pod.containers.add(name=plan.name)
            held = [one for one in run.held if one.container is plan]
            if plan.claim is not None:
                _add_claim(container, plan.claim, run.plan.namespace, held, node)
                continue
            for one in held:
                # With a topology policy kubelet tells devices one by one, so a resource may stand there several times.
                container.devices.add(
                    resource_name=plan.resource or _resource(one.mig), device_ids=[_device_id(plan.ids, one)]
                )
    return answer


def _resource(mig: SimMig | None) -> str:
    return "nvidia.com/gpu" if mig is None else f"nvidia.com/mig-{mig.profile.replace('+', '.')}"


def _device_id(form: str, held: Held) -> str:
    gpu, mig, replica = held.gpu, held.mig, held.tenant.replica
    if form == "gke":
        name = f"nvidia{gpu.minor}" + ("" if mig is None else f"/gi{mig.gi}")
        return name if replica is None else f"{name}/vgpu{replica}"
    name = mig.uuid if mig else gpu.uuid
    if form == "legacy" and mig:
        name = f"MIG-{gpu.uuid}/{mig.gi}/{mig.ci}"
    return name if replica is None else f"{name}::{replica}"


def _add_claim(container: "ContainerResources", claim: str, namespace: str, held: Sequence[Held], node: str) -> None:
    claim_uid = uuid.uuid5(uuid.NAMESPACE_OID, f"{node}/{namespace}/{claim}")
    entry = container.dynamic_resources.add(claim_name=claim, claim_namespace=namespace)
    for one in held:
        device = _dra_device(one.gpu, one.mig)
        resource = entry.claim_resources.add(driver_name=_DRA_DRIVER, pool_name=node, device_name=device)
        resource.cdi_devices.add(name=f"k8s.gpu.nvidia.com/claim={claim_uid}-{device}")


def _dra_device(gpu: SimGpu, mig: SimMig | None) -> str:
    if mig is None:
        return f"gpu-{gpu.minor}"
    sizes = {peer.gi: peer.plan.memory_slices for peer in gpu.mig}
    start = sum(list(sizes.values())[: list(sizes).index(mig.gi)])
    profile = mig.plan.profile.replace(".", "").replace("+", "-")
    return f"gpu-{gpu.minor}-mig-{profile}-{_PROFILE_IDS[mig.slices]}-{start}"
