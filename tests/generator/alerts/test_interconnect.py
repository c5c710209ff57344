"""Links between GPUs and to the host. A step is a minute."""

from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.faulty import (
    about_node,
    booted,
    firing,
    healthy,
    held_by_job,
    in_maintenance,
    reading,
    uuid_of,
)

ONLY = ("gpuscope", "level-fault", "collector", "maintenance", "node-exporter", "interconnect")
STATES = ("not_supported", "not_started", "in_progress", "completed")


def links(up: str, down: str, gpu: int = 0, node: str = "n1") -> dict[str, str]:
    """How many links are up and down."""
    return {
        reading("gpu_nvlink_links", gpu, node, state="up"): up,
        reading("gpu_nvlink_links", gpu, node, state="down"): down,
    }


def fabric(states: dict[str, str], gpu: int = 0, node: str = "n1") -> dict[str, str]:
    """The state of a GPU in its fabric."""
    return {reading("gpu_fabric_state", gpu, node, state=state): states.get(state, "0x150") for state in STATES}


def width(current: str, gpu: int, most: int = 16) -> dict[str, str]:
    """Lanes of PCIe."""
    return {
        reading("gpu_pcie_link_width", gpu, state="current"): current,
        reading("gpu_pcie_link_width", gpu, state="max"): f"{most}x100",
    }


def generation(current: str, gpu: int) -> dict[str, str]:
    """Speed of PCIe."""
    return {
        reading("gpu_pcie_link_generation", gpu, state="current"): current,
        reading("gpu_pcie_link_generation", gpu, state="max"): "5x100",
    }


def test_links_that_were_up_and_are_not_are_told(tmp_path: Path) -> None:
    """It is urgent while work over several GPUs runs there. Links that never were up are not missed."""
    samples = healthy(6, steps="x150") | healthy(1, "m1", "x150") | in_maintenance("m1", "1x150")
    samples |= held_by_job("7", {"n1": [0, 1]}, "1x150") | held_by_job("8", {"n1": [2]}, "1x150")
    samples |= links("18x69 16x80", "0x69 2x80", 0) | links("18x150", "0x150", 1)
    samples |= links("18x69 0x80", "0x69 18x80", 2)
    # A board with links that are not wired; one whose links come and go; one in MIG mode tells nothing.
    samples |= links("0x150", "4x150", 3)
    samples |= links("18x69 17x8 18x3 17x8 18x80", "0x150", 4)
    samples |= links("18x69 17x80", "0x69 1x80", 0, "m1")
    found = [firing("GpuInterconnectLinkDown", "warning", gpu) for gpu in (0, 2)]
    found.append(firing("GpuInterconnectLinkDown", "critical", 0))
    fires(
        tmp_path,
        samples,
        {"79m": [], "84m": found, "92m": found},
        every="1m",
        only=ONLY,
    )


def test_links_that_come_up_after_a_boot_are_waited_for(tmp_path: Path) -> None:
    """Eight minutes without links, as at each boot; then others of the node show how many there should be."""
    samples = healthy(2, steps="x60") | booted(0, steps=60)
    samples |= links("0x8 18x60", "18x8 0x60", 0) | links("0x8 16x60", "18x8 2x60", 1)
    told = [firing("GpuInterconnectLinkDown", "warning", 1)]
    fires(
        tmp_path,
        samples,
        {"5m": [], "12m": [], "16m": [], "24m": [], "28m": told},
        every="1m",
        only=ONLY,
    )


def test_errors_count_by_the_hour_and_corrected_symbols_do_not(tmp_path: Path) -> None:
    """Above the threshold for a quarter of an hour; a counter that begins anew is none."""

    def errors(kind: str, values: str, gpu: int) -> dict[str, str]:
        return {reading("gpu_nvlink_errors_total", gpu, type=kind): values}

    samples = healthy(7, steps="x100")
    samples |= errors("crc", "0x9 0+2x90", 0) | errors("crc", "0x9 0+1x90", 1) | errors("symbol", "0+500x99", 2)
    samples |= errors("recovery", "0+500x99", 2) | errors("replay", "900+0x30 0x69", 3)
    samples |= errors("recovery_failed", "0x9 0+1x90", 1)
    samples |= {
        reading("gpu_pcie_replays_total", 4): "0x9 0+9x90",
        reading("gpu_pcie_replays_total", 5): "0x9 0+7x90",
        reading("gpu_pcie_replays_total", 6): "5000x30 stale _x5 5000x63",
    }
    told = [
        firing("GpuInterconnectErrors", "warning", 0, interconnect="nvlink"),
        firing("GpuInterconnectErrors", "warning", 1, interconnect="nvlink"),
        firing("GpuInterconnectErrors", "warning", 4, interconnect="pcie"),
    ]
    fires(tmp_path, samples, {"20m": [], "33m": [], "45m": told}, every="1m", only=ONLY)


def test_a_fabric_that_is_not_ready_is_one_alert_of_the_node(tmp_path: Path) -> None:
    """Where others show that there is a fabric; boards without switches, and boots, keep still."""
    samples: dict[str, str] = {}
    for node in ("well", "stopped", "failed", "slow", "booting"):
        samples |= healthy(2, node, "x100")
    samples |= fabric({"completed": "1x150"}, 0, "well") | fabric({"completed": "1x150"}, 1, "well")
    for gpu in range(2):
        samples |= fabric({"not_started": "1x150"}, gpu, "stopped")
        samples |= fabric({"completed": "1x150"}, gpu, "failed")
        samples |= {reading("gpu_fabric_status", gpu, "failed"): "0x19 999x80"}
        samples |= fabric({"in_progress": "1x8 0x90", "completed": "0x8 1x90"}, gpu, "slow")
        samples |= fabric({"not_started": "1x13 0x90", "completed": "0x13 1x90"}, gpu, "booting")
    samples |= booted(0, "booting", 100) | booted(node="stopped", steps=100)
    # Another model, of which no GPU is in any fabric.
    lone = healthy(1, "lone", "x100") | fabric({"not_started": "1x150"}, 0, "lone")
    samples |= {series.replace('model="NVIDIA H100"', 'model="GB200"'): values for series, values in lone.items()}
    stopped = about_node("GpuFabricNotReady", "critical", "stopped")
    failed = about_node("GpuFabricNotReady", "critical", "failed")
    fires(
        tmp_path,
        samples,
        {"9m": [], "14m": [stopped], "28m": [stopped], "34m": [stopped, failed]},
        every="1m",
        only=ONLY,
    )


def test_a_fatal_error_of_a_switch_is_told_once(tmp_path: Path) -> None:
    """Its code appears with the first event; a scrape that failed, a restart and what is not fatal are none."""

    def errors(node: str, values: str, sxid: int = 20034, severity: str = "fatal") -> dict[str, str]:
        own = f'cluster="c",instance="{node}:9836",job="gpuscope",node="{node}",pci_bus_id="0000:86:00.0"'
        return {f'gpuscope_nvswitch_sxid_errors_total{{{own},sxid="{sxid}",severity="{severity}"}}': values}

    samples: dict[str, str] = {}
    for node in ("first", "second", "gap", "mild"):
        samples |= healthy(1, node, "x60")
    for series in list(samples):
        if 'node="gap"' in series:
            samples[series] = "1x10 stale _x5 1x60"
    samples |= errors("first", "_x20 1x60") | errors("second", "3x20 4x60")
    samples |= errors("gap", "2x10 stale _x5 2x60") | errors("mild", "_x20 9x60", severity="nonfatal")
    told = [about_node("GpuSwitchFault", "critical", node) for node in ("first", "second")]
    fires(
        tmp_path,
        samples,
        {"12m": [], "19m": [], "24m": told, "36m": told},
        every="1m",
        only=("gpuscope", "interconnect"),
    )


def test_a_slow_pcie_link_is_told_but_not_one_that_sleeps(tmp_path: Path) -> None:
    """Width at any time; speed only while the GPU works."""
    samples = healthy(6, steps="x100") | width("8x100", 0) | width("16x100", 1) | generation("3x100", 1)
    samples |= generation("1x100", 2) | {reading("gpu_graphics_active_ratio", 2): "0x100"}
    samples |= width("16x20 8x14 16x70", 3) | width("0x100", 4, most=0) | generation("5x100", 5)
    told = [
        firing("GpuPcieDegraded", "warning", 0, what="width"),
        firing("GpuPcieDegraded", "warning", 1, what="generation"),
    ]
    fires(tmp_path, samples, {"13m": [], "19m": told, "36m": told}, every="1m", only=ONLY)


def test_dcgm_tells_of_fabric_and_pcie_too(tmp_path: Path) -> None:
    """4 is a registration that failed; 5 and 6 say that DCGM does not know, and 0 that there is no fabric."""
    samples: dict[str, str] = {}
    for node, status in (("d1", 4), ("d2", 5), ("d3", 0), ("d4", 3), ("d5", 6)):
        own = f'cluster="c",gpu="0",UUID="{uuid_of(0, node)}",Hostname="{node}",modelName="H100"'
        samples |= {
            f"DCGM_FI_DEV_FABRIC_MANAGER_STATUS{{{own}}}": f"{status}x40",
            f"DCGM_FI_DEV_GPU_TEMP{{{own}}}": "50x40",
            f"DCGM_FI_DEV_PCIE_LINK_WIDTH{{{own}}}": "8x40" if node == "d4" else "16x40",
            f"DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH{{{own}}}": "16x40",
        }
    fires(
        tmp_path,
        samples,
        {
            "25m": [
                about_node("GpuFabricNotReady", "critical", "d1"),
                firing("GpuPcieDegraded", "warning", 0, "d4", what="width"),
            ]
        },
        every="1m",
        only=("dcgm", "interconnect"),
    )
