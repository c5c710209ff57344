"""One physical fleet, told by every exporter in its own words: the normalized numbers must not differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field

GIB = 2**30
LONG = "x40"
DEVICES = ("gpuscope", "dcgm", "amd", "devices", "level-node", "level-cluster")
"""Rule files about GPUs."""
NATIVE = ("gpuscope", "devices", "level-node", "level-cluster")
DCGM = ("dcgm", "devices", "level-node", "level-cluster")
SOON = "6m"
"""When rates over five minutes are there; each minute more costs every test that evaluates it."""


@dataclass(frozen=True, kw_only=True)
class Device:
    """A GPU and what it does; levels hold still, counters rise evenly."""

    node: str = "n1"
    gpu: int = 0
    uuid: str = "GPU-a"
    model: str = "NVIDIA H100 80GB HBM3"
    pod: str = ""
    namespace: str = "ml"
    job: str = ""
    power: int = 300
    compute: float = 0.5
    sm: float = 0.25
    occupancy: float = 0.125
    tensor: float = 0.75
    dram: float = 0.375
    used: int = 40 * GIB
    free: int = 39 * GIB
    reserved: int = 1 * GIB
    capped: float = 0.5
    """Share of time under the power cap."""
    temperature: int = 60
    corrected: int = 3
    extra: Mapping[str, str] = field(default_factory=dict)


def expected(device: Device) -> dict[str, dict[str, float]]:
    """Normalized series of a device, by query: what every source must lead to."""
    where = f'gpu="{device.gpu}",node="{device.node}",uuid="{device.uuid}"'
    levels = {
        "gpu:up:bool": 1,
        "gpu:healthy:bool": 1,
        "gpu:compute_active:ratio_union": device.compute,
        "gpu:sm_active:ratio_union": device.sm,
        "gpu:sm_occupancy:ratio_union": device.occupancy,
        "gpu:tensor_active:ratio_union": device.tensor,
        "gpu:memory_bandwidth_active:ratio_union": device.dram,
        "gpu:memory_used_bytes:union": device.used,
        "gpu:memory_total_bytes:union": device.used + device.free,
        "gpu:power_watts:union": device.power,
        "gpu:temperature_celsius:union": device.temperature,
        "gpu:memory_temperature_celsius:union": device.temperature + 8,
        "gpu:sm_clock_hertz:union": 1_980_000_000,
        "gpu:energy_joules_total:union": device.power * 360,
        "gpu:pcie_replays_total:union": 2,
        "gpu:allocated:ratio_union": 1 if device.pod or device.job else 0,
        "gpu:idle:bool": 0,
    }
    found = {f'{name}{{uuid="{device.uuid}"}}': {f"{name}{{{where}}}": float(value)} for name, value in levels.items()}
    throttled = f'round(gpu:throttled:ratio_rate5m{{uuid="{device.uuid}",reason="sw_power_cap"}}, 0.001)'
    found[throttled] = {f'{{{where},reason="sw_power_cap"}}': device.capped}
    errors = f'gpu:ecc_errors_total:union{{uuid="{device.uuid}",severity="corrected"}}'
    found[errors] = {f'gpu:ecc_errors_total:union{{{where},severity="corrected"}}': float(device.corrected)}
    return found


def native(*devices: Device) -> dict[str, str]:
    """As our agent tells it, with attribution from kubelet or from job files."""
    found: dict[str, str] = {}
    for device in devices:
        at = f'instance="10.0.0.{device.gpu}:9836",node="{device.node}",gpu="{device.gpu}",uuid="{device.uuid}"'

        def put(name: str, value: float | str, labels: str = "", *, at: str = at) -> None:
            values = value if isinstance(value, str) else f"{value}{LONG}"
            found[f"gpuscope_{name}{{{at}{labels}}}"] = values

        put("gpu_info", 1, f',model="{device.model}",serial="1"')
        put("gpu_up", 1)
        put("gpu_mig_mode_enabled", 0)
        put("gpu_power_watts", device.power)
        put("gpu_energy_joules_total", f"0+{device.power * 30}{LONG}")
        put("gpu_temperature_celsius", device.temperature, ',sensor="gpu"')
        put("gpu_temperature_celsius", device.temperature + 8, ',sensor="memory"')
        put("gpu_clock_hertz", 1_980_000_000, ',clock="sm"')
        put("gpu_utilization_ratio", 1)
        put("gpu_graphics_active_ratio", device.compute)
        put("gpu_sm_active_ratio", device.sm)
        put("gpu_sm_occupancy_ratio", device.occupancy)
        put("gpu_tensor_active_ratio", device.tensor)
        put("gpu_dram_active_ratio", device.dram)
        put("gpu_memory_used_bytes", device.used)
        put("gpu_memory_total_bytes", device.used + device.free + device.reserved)
        put("gpu_memory_reserved_bytes", device.reserved)
        put("gpu_pcie_replays_total", 2)
        put("gpu_ecc_errors_total", device.corrected, ',severity="corrected",location="total"')
        put("gpu_ecc_errors_total", 1, ',severity="corrected",location="sram"')
        put("gpu_clock_event_seconds_total", f"0+{30 * device.capped}{LONG}", ',reason="sw_power_cap"')
        put("gpu_recovery_action", 1, ',action="none"')
        put("gpu_recovery_action", 0, ',action="gpu_reset"')
        put("gpu_remapped_rows_pending", 0)
        put("gpu_remapping_failed", 0)
        held = bool(device.pod or device.job)
        put("allocations", 1 if held else 0, ',mig_uuid=""')
        if device.pod:
            put("pod_allocation_info", 1, f',namespace="{device.namespace}",pod="{device.pod}",container="main"')
        if device.job:
            put("job_allocation_info", 1, f',job_id="{device.job}",user="ada"')
    return found


_NEW_NAMES = {
    "DEV_POWER_USAGE": "DEV_BOARD_POWER_WATTS",
    "DEV_GPU_TEMP": "DEV_GPU_TEMP_CELSIUS",
    "DEV_MEMORY_TEMP": "DEV_MEMORY_TEMP_CELSIUS",
    "DEV_GPU_UTIL": "DEV_GPU_UTIL_RATIO",
    "PROF_GR_ENGINE_ACTIVE": "PROF_GR_ENGINE_UTIL_RATIO",
    "PROF_SM_ACTIVE": "PROF_SM_UTIL_RATIO",
    "PROF_SM_OCCUPANCY": "PROF_SM_OCCUPANCY_RATIO",
    "PROF_PIPE_TENSOR_ACTIVE": "PROF_TENSOR_UTIL_RATIO",
    "PROF_DRAM_ACTIVE": "PROF_DRAM_UTIL_RATIO",
    "DEV_PCIE_REPLAY_COUNTER": "DEV_PCIE_REPLAY_TOTAL",
    "DEV_ROW_REMAP_FAILURE": "DEV_ROW_REMAP_FAILED",
    "DEV_POWER_VIOLATION": "DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS",
}


def dcgm(*devices: Device, renamed: bool = False, honor_labels: bool = False) -> dict[str, str]:
    """As dcgm-exporter tells it.

    Args:
        devices: the fleet.
        renamed: with the names since DCGM 4.6, and ``hostname`` for ``Hostname``.
        honor_labels: whether the scrape keeps ``pod`` of the sample; else it is ``exported_pod``, and ``pod`` is the
            exporter's.
    """
    found: dict[str, str] = {}
    for device in devices:
        target = f'instance="{device.node}:9400",namespace="gpu-operator",pod="exporter-{device.node}"'
        found[f'up{{{target},job="dcgm"}}'] = f"1{LONG}"
        at = dcgm_labels(device, renamed=renamed, honor_labels=honor_labels)

        def put(name: str, value: float | str, *, at: str = at) -> None:
            name = _NEW_NAMES.get(name, name) if renamed else name
            found[f"DCGM_FI_{name}{{{at}}}"] = value if isinstance(value, str) else f"{value}{LONG}"

        put("DEV_POWER_USAGE", device.power)
        put("DEV_TOTAL_ENERGY_CONSUMPTION", f"0+{device.power * 30_000}{LONG}")
        put("DEV_GPU_TEMP", device.temperature)
        put("DEV_MEMORY_TEMP", device.temperature + 8)
        put("DEV_SM_CLOCK", 1980)
        put("DEV_GPU_UTIL", 100)
        put("PROF_GR_ENGINE_ACTIVE", device.compute)
        put("PROF_SM_ACTIVE", device.sm)
        put("PROF_SM_OCCUPANCY", device.occupancy)
        put("PROF_PIPE_TENSOR_ACTIVE", device.tensor)
        put("PROF_DRAM_ACTIVE", device.dram)
        put("DEV_FB_USED", device.used // 2**20)
        put("DEV_FB_FREE", device.free // 2**20)
        put("DEV_FB_RESERVED", device.reserved // 2**20)
        put("DEV_PCIE_REPLAY_COUNTER", 2)
        put("DEV_ECC_SBE_VOL_TOTAL", device.corrected)
        put("DEV_POWER_VIOLATION", f"0+{int(30e9 * device.capped)}{LONG}")
        put("DEV_ROW_REMAP_FAILURE", 0)
    return found


def dcgm_labels(device: Device, *, renamed: bool = False, honor_labels: bool = False) -> str:
    """Labels of a sample of dcgm-exporter behind a scrape that adds those of its target."""
    host = "hostname" if renamed else "Hostname"
    labels = {
        "gpu": str(device.gpu),
        "UUID": device.uuid,
        "modelName": device.model,
        host: device.node,
        "instance": f"{device.node}:9400",
        "job": "dcgm",
        **device.extra,
    }
    own = {"namespace": "gpu-operator", "pod": f"exporter-{device.node}"}
    of_sample = {"namespace": device.namespace, "pod": device.pod, "container": "main"} if device.pod else {}
    if honor_labels:
        labels |= own | of_sample
    else:
        labels |= own | {f"exported_{name}": value for name, value in of_sample.items()}
    if device.job:
        labels["hpc_job"] = device.job
    return ",".join(f'{name}="{value}"' for name, value in labels.items())


def amd(*devices: Device) -> dict[str, str]:
    """As AMD's exporter tells it; its serial number is what identifies a GPU."""
    found: dict[str, str] = {}
    for device in devices:
        labels = {
            "gpu_id": str(device.gpu),
            "serial_number": device.uuid,
            "card_series": device.model,
            "card_model": "102-G30211-0C",
            "hostname": device.node,
            "gpu_partition_id": "0",
            "gpu_compute_partition_type": "spx",
            "instance": f"{device.node}:5000",
            "exported_pod": device.pod,
            "exported_namespace": device.namespace if device.pod else "",
            "job_id": device.job,
        }
        at = ",".join(f'{name}="{value}"' for name, value in labels.items() if value)

        def put(name: str, value: float | str, labels: str = "", *, at: str = at) -> None:
            found[f"{name}{{{at}{labels}}}"] = value if isinstance(value, str) else f"{value}{LONG}"

        put("gpu_package_power", device.power)
        put("gpu_energy_consumed", f"0+{device.power * 30_000_000}{LONG}")
        put("gpu_junction_temperature", device.temperature)
        put("gpu_memory_temperature", device.temperature + 8)
        put("gpu_clock", 1980, ',clock_type="GPU_CLOCK_TYPE_SYSTEM",clock_index="0"')
        put("gpu_clock", 1900, ',clock_type="GPU_CLOCK_TYPE_SYSTEM",clock_index="1"')
        put("gpu_clock", 2600, ',clock_type="GPU_CLOCK_TYPE_MEMORY",clock_index="0"')
        put("gpu_gfx_activity", device.compute * 100)
        put("gpu_prof_sm_active", device.sm * 100)
        put("gpu_prof_occupancy_percent", device.occupancy * 100)
        put("gpu_prof_tensor_active_percent", device.tensor * 100)
        put("gpu_umc_activity", device.dram * 100)
        put("gpu_used_vram", device.used // 2**20)
        put("gpu_total_vram", (device.used + device.free) // 2**20)
        put("gpu_ecc_correct_total", device.corrected)
        put("gpu_ecc_uncorrect_total", 0)
        put("pcie_replay_count", 2)
        put("gpu_violation_ppt_residency_percentage", device.capped * 100)
        put("gpu_health", 1)
    return found
