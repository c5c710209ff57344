"""MIG instances of one GPU, as our agent and as dcgm-exporter tell them."""

from dataclasses import dataclass

from tests.generator.rules.fleet import Device, dcgm_labels

GIB = 2**30


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A GPU instance with one compute instance."""

    gi: int
    profile: str
    slices: int
    compute: float | None = 0.5
    used: int = 4 * GIB
    free: int = 6 * GIB
    pod: str = ""


SPLIT = (
    Instance(gi=1, profile="3g.40gb", slices=3, compute=1.0, used=30 * GIB, free=10 * GIB, pod="big-0"),
    Instance(gi=3, profile="2g.20gb", slices=2, compute=0.5, used=10 * GIB, free=10 * GIB, pod="mid-0"),
    Instance(gi=5, profile="1g.10gb", slices=1, compute=0.0),
    Instance(gi=6, profile="1g.10gb", slices=1, compute=0.0),
)
"""Seven slices: work on 3 + 2 * 0.5 = 4 of them; five are held."""


def native_split(device: Device, *instances: Instance) -> dict[str, str]:
    """As our agent tells it."""
    at = f'instance="10.0.0.1:9836",node="{device.node}",gpu="{device.gpu}",uuid="{device.uuid}"'
    found = {
        f'gpuscope_gpu_info{{{at},model="{device.model}"}}': "1x40",
        f"gpuscope_gpu_up{{{at}}}": "1x40",
        f"gpuscope_gpu_mig_mode_enabled{{{at}}}": "1x40",
    }
    for one in instances:
        mig_uuid = f"MIG-{device.uuid}-{one.gi}"
        inside = f'{at},mig_uuid="{mig_uuid}",gi="{one.gi}",profile="{one.profile}"'
        found |= {
            f'gpuscope_mig_info{{{inside},ci="0",mig_index="0"}}': "1x40",
            f'gpuscope_mig_slices{{{inside},kind="gi"}}': f"{one.slices}x40",
            f'gpuscope_mig_slices{{{inside},kind="ci"}}': f"{one.slices}x40",
            f"gpuscope_mig_memory_used_bytes{{{inside}}}": f"{one.used}x40",
            f"gpuscope_mig_memory_total_bytes{{{inside}}}": f"{one.used + one.free + GIB}x40",
            f"gpuscope_mig_memory_reserved_bytes{{{inside}}}": f"{GIB}x40",
            f'gpuscope_allocations{{{at},mig_uuid="{mig_uuid}"}}': f"{int(bool(one.pod))}x40",
        }
        if one.compute is not None:
            found[f"gpuscope_mig_graphics_active_ratio{{{inside}}}"] = f"{one.compute}x40"
        if one.pod:
            owner = f'{at},mig_uuid="{mig_uuid}",namespace="ml",pod="{one.pod}",container="main"'
            found[f"gpuscope_pod_allocation_info{{{owner}}}"] = "1x40"
    return found


def dcgm_split(device: Device, *instances: Instance, renamed: bool = False, memory: bool = True) -> dict[str, str]:
    """As dcgm-exporter tells it: no utilization, and a copy of what is known of the whole GPU for every instance."""
    found = {f'up{{instance="{device.node}:9400",namespace="gpu-operator",pod="exporter-{device.node}"}}': "1x40"}
    for one in instances:
        extra = {"GPU_I_ID": str(one.gi), "GPU_I_PROFILE": one.profile}
        at = dcgm_labels(Device(node=device.node, gpu=device.gpu, uuid=device.uuid, pod=one.pod, extra=extra))
        engine = "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO" if renamed else "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
        temperature = "DCGM_FI_DEV_GPU_TEMP_CELSIUS" if renamed else "DCGM_FI_DEV_GPU_TEMP"
        power = "DCGM_FI_DEV_BOARD_POWER_WATTS" if renamed else "DCGM_FI_DEV_POWER_USAGE"
        found |= {f"{temperature}{{{at}}}": "60x40", f"{power}{{{at}}}": "350x40"}
        if one.compute is not None:
            found[f"{engine}{{{at}}}"] = f"{one.compute}x40"
        if memory:
            found[f"DCGM_FI_DEV_FB_USED{{{at}}}"] = f"{one.used // 2**20}x40"
            found[f"DCGM_FI_DEV_FB_FREE{{{at}}}"] = f"{one.free // 2**20}x40"
    return found
