"""AMD device-metrics-exporter 1.5: two nodes of eight MI300X that stand beside the others; all its metrics are gauges.

One GPU of the second node is split into four partitions; only partition 0 tells what concerns the whole GPU.
"""

import math
from functools import partial
from zlib import crc32

from gpuscope.simulate.activity import load_at
from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.sources.target import Source, Target, service
from gpuscope.simulate.cluster.world import World

__all__ = ["AMD"]

_NODES, _GPUS, _PARTITIONS = 2, 8, 4
_VRAM_MIB = 196_592
_POWER_IDLE, _POWER_LIMIT = 140.0, 750.0
_MEAN_WATTS = 560.0
_KINDS = ("training", "inference")


def amd_page(world: World, node: int) -> str:
    """The exposition of one node."""
    page = Page()
    page.gauge("gpu_nodes_total", "Number of GPUs in the node").add(_GPUS, hostname=_name(node))
    number = 0
    for gpu in range(_GPUS):
        parts = _PARTITIONS if node == 1 and gpu == _GPUS - 1 else 1
        for part in range(parts):
            _gpu(page, world, node, gpu, number, part, parts)
            number += 1
    return page.text()


def _name(node: int) -> str:
    return f"amd-{node + 1:03d}"


def _gpu(page: Page, world: World, node: int, gpu: int, number: int, part: int, parts: int) -> None:
    seed = f"{world.shape.seed}/{_name(node)}/{gpu}"
    kind = _KINDS[node]
    pod = "mixtral-train-0" if kind == "training" else f"mixtral-chat-{gpu}"
    base = labels(
        gpu_id=number, gpu_uuid=f"{crc32(seed.encode()):08x}-0000-1000-80{gpu:02x}-{crc32(seed[::-1].encode()):012x}",
        serial_number=f"69232500{node}{gpu}", card_series="AMD Instinct MI300X", card_model="0x74a1", card_vendor="AMD",
        driver_version="6.14.14", vbios_version="113-M3000100-103", hostname=_name(node),
        gpu_partition_id=part, gpu_compute_partition_type="SPX" if parts == 1 else "QPX",
        gpu_memory_partition_type="NPS1", pod=pod, namespace="team-moe", container="main",
    )  # fmt: skip
    load = load_at(kind, world.t, f"{seed}/{part}", "mixtral")
    whole = parts == 1 or part == 0
    percent = {
        "gpu_prof_sm_active": load.sm, "gpu_prof_occupancy_percent": load.occupancy,
        "gpu_prof_tensor_active_percent": load.tensor, "gpu_prof_gui_util_percent": load.graphics,
    }  # fmt: skip
    if parts == 1:
        percent["gpu_gfx_activity"] = load.graphics
    if whole:
        percent["gpu_umc_activity"] = load.dram
    for name, value in percent.items():
        page.gauge(name).add(round(100 * value, 3), base)
    for core in range(2):
        page.gauge("gpu_gfx_busy_instantaneous").add(round(100 * load.graphics), base, xcc_index=core)
    total = _VRAM_MIB // parts
    used = int(total * load.memory)
    for name, value in (("total", total), ("used", used), ("free", total - used)):
        page.gauge(f"gpu_{name}_vram").add(value, base)
    power = _POWER_IDLE + (_POWER_LIMIT - _POWER_IDLE) * min(1.0, 0.5 * load.sm + 0.5 * load.tensor)
    page.gauge("gpu_package_power").add(round(power) if whole else 0, base)
    page.gauge("gpu_power_usage").add(round(power) if whole else 0, base)
    page.gauge("gpu_health").add(1, base)
    if whole:
        _sensors(page, world, base, power)


def _sensors(page: Page, world: World, base: str, power: float) -> None:
    # A swing of the mean stands for energy: it never falls, and its rate is the power's mean.
    t = world.t
    joules = _MEAN_WATTS * (t - world.since) + 2000 * math.sin(t / 60)
    heat = 34 + 40 * power / _POWER_LIMIT
    for name, value in (
        ("gpu_energy_consumed", int(joules * 1e6)), ("gpu_junction_temperature", round(heat + 6)),
        ("gpu_memory_temperature", round(heat)), ("gpu_ecc_correct_total", int(t - world.since) // 7200),
        ("gpu_ecc_uncorrect_total", 0), ("pcie_replay_count", 0), ("pcie_speed", 32), ("pcie_max_speed", 32),
        ("pcie_bandwidth", 4200), ("gpu_violation_ppt_residency_percentage", 4 if power > 600 else 0),
        ("gpu_violation_socket_thermal_residency_percentage", 0),
        ("gpu_violation_hbm_thermal_residency_percentage", 0),
        ("gpu_violation_vr_thermal_residency_percentage", 0),
        ("gpu_violation_processor_hot_residency_percentage", 0),
    ):  # fmt: skip
        page.gauge(name).add(value, base)
    for kind, value in (("GPU_CLOCK_TYPE_SYSTEM", 2100), ("GPU_CLOCK_TYPE_MEMORY", 1300)):
        page.gauge("gpu_clock").add(value, base, clock_type=kind, clock_index="0")


def _targets(world: World) -> list[Target]:
    return [
        Target(
            _name(node),
            service("kube-amd-gpu", "amd-device-metrics-exporter", f"10.1.0.{node + 1}:5000",
                    pod=f"amd-device-metrics-exporter-{_name(node)}"),
            partial(amd_page, world, node),
        )
        for node in range(_NODES)
    ]  # fmt: skip


AMD = Source("amd", "amd-device-metrics-exporter", "AMD device-metrics-exporter on two nodes more", _targets)
