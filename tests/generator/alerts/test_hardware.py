"""GPUs that are missing, that do not answer, or that nobody offers. A step is a minute."""

from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.faulty import (
    RECORDING,
    about_node,
    booted,
    firing,
    healthy,
    in_maintenance,
    reading,
)

ONLY = (*RECORDING, "kubernetes", "collector", "maintenance", "node-exporter", "hardware")
KSM = 'cluster="c",instance="ksm:8080",job="kube-state-metrics"'


def agent(name: str, node: str = "n1") -> str:
    """A series of the agent about the node."""
    return f'gpuscope_{name}{{cluster="c",instance="{node}:9836",job="gpuscope",node="{node}"}}'


def kube(node: str, capacity: int, allocatable: int | str, cordoned: int = 0, ready: str = "true") -> dict[str, str]:
    """A node of Kubernetes."""
    own = f'{KSM},node="{node}"'
    found = {
        f'kube_node_status_capacity{{{own},resource="nvidia_com_gpu",unit="integer"}}': f"{capacity}x100",
        f'kube_node_status_allocatable{{{own},resource="nvidia_com_gpu",unit="integer"}}': (
            allocatable if isinstance(allocatable, str) else f"{allocatable}x100"
        ),
        f"kube_node_spec_unschedulable{{{own}}}": f"{cordoned}x100",
    }
    for status in ("true", "false", "unknown"):
        condition = f'kube_node_status_condition{{{own},condition="Ready",status="{status}"}}'
        found[condition] = f"{int(status == ready)}x100"
    return found


def slurm(node: str, gpus: int) -> dict[str, str]:
    """A node of Slurm that works."""
    own = f'cluster="c",instance="k:9837",job="collector",scheduler="slurm",node="{node}"'
    return {
        f'gpuscope_scheduler_node_gpus{{{own},kind="total"}}': f"{gpus}x100",
        f'gpuscope_scheduler_node_state{{{own},state="ready"}}': "1x100",
    }


def lost(node: str, gpus: range, values: str) -> dict[str, str]:
    """GPUs whose answers are these."""
    return {reading("gpu_up", gpu, node): values for gpu in gpus}


def test_a_node_that_loses_gpus_is_one_alert(tmp_path: Path) -> None:
    """Of eight GPUs that are lost at once, as of one; the node's label is what groups them."""
    samples = healthy(8, "all", "x100") | lost("all", range(8), "1x20 0x80") | booted(node="all", steps=100)
    samples |= healthy(2, "one", "x100") | lost("one", range(1), "1x20 0x80")
    # The agent began after the GPU was gone: Slurm knows better.
    samples |= healthy(7, "slurm", "x100") | slurm("slurm", 8)
    # Back before five minutes are over, and lost again.
    samples |= healthy(2, "short", "x100") | lost("short", range(1), "1x20 0x3 1x5 0x3 1x80")
    found = [about_node("GpuCountBelowExpected", "critical", node) for node in ("all", "one")]
    known = [about_node("GpuCountBelowExpected", "critical", "slurm")]
    fires(
        tmp_path,
        samples,
        {"4m": [], "12m": known, "22m": known, "29m": known + found, "38m": known + found},
        every="1m",
        only=ONLY,
        alerts="GpuCount.*",
    )


def test_a_gpu_that_vanishes_from_dcgm_is_missed_where_kubernetes_knows_of_it(tmp_path: Path) -> None:
    """Its allocatable does not change. A node whose exporter is gone, or that was never watched, is not judged."""
    samples = kube("d1", 2, 2) | kube("d2", 2, 2) | kube("d3", 2, 2)
    for node, gpu, values in (
        ("d1", 0, "50x40"),
        ("d1", 1, "50x4 stale"),
        ("d2", 0, "50x4 stale"),
        ("d2", 1, "50x4 stale"),
    ):
        own = f'cluster="c",gpu="{gpu}",UUID="GPU-{node}-{gpu}",Hostname="{node}",modelName="H100"'
        samples[f"DCGM_FI_DEV_GPU_TEMP{{{own}}}"] = values
    told = [about_node("GpuCountBelowExpected", "critical", "d1")]
    fires(
        tmp_path,
        samples,
        {"4m": [], "9m": [], "14m": told},
        every="1m",
        only=("dcgm", "kubernetes", "level-node", "hardware"),
    )


def test_what_is_not_known_to_be_missing_is_not_missing(tmp_path: Path) -> None:
    """The exporter is down, a boot, another driver, maintenance, shares of GPUs, MIG, no GPUs at all."""
    samples: dict[str, str] = {}
    down = healthy(2, "down", "x20 stale") | slurm("down", 2)
    booting = healthy(8, "boot", "x100") | booted(0, "boot", 100) | slurm("boot", 8)
    booting |= {agent("gpus_expected", "boot"): "8x100"} | lost("boot", range(8), "0x8 1x100")
    replaced = healthy(2, "driver", "x100") | kube("driver", 2, 2, cordoned=1)
    replaced |= {agent("up", "driver"): "1x20 0x80"} | lost("driver", range(2), "1x20 0x80")
    planned = healthy(2, "planned", "x100") | in_maintenance("planned", "1x100") | lost("planned", range(2), "0x100")
    shared = healthy(4, "shared", "x100") | kube("shared", 32, 32)
    split = healthy(1, "mig", "x100") | kube("mig", 7, 7)
    split |= {reading("gpu_mig_mode_enabled", 0, "mig"): "1x100"}
    for one in (down, booting, replaced, planned, shared, split, kube("cpu", 0, 0), booted(node="cpu", steps=100)):
        samples |= one
    fires(
        tmp_path,
        samples,
        {f"{minute}m": [] for minute in (6, 12, 27, 35)},
        every="1m",
        only=ONLY,
    )


def test_a_gpu_that_is_lost_without_a_line_in_the_log_is_told(tmp_path: Path) -> None:
    """After two minutes, so that a GPU that is being reset is none."""
    samples = healthy(3, steps="x100")
    samples |= {
        reading("gpu_failure_info", 0, reason="lost"): "_x20 1x80",
        reading("gpu_failure_info", 1, reason="lost"): "_x20 1 stale",
        reading("gpu_failure_info", 2, reason="timeout"): "_x20 1x80",
    }
    told = [firing("GpuFellOffBus", "critical")]
    fires(tmp_path, samples, {"21m": [], "25m": told, "40m": told}, every="1m", only=("gpuscope", "hardware"))


def test_a_driver_that_does_not_answer_is_one_alert_of_the_node(tmp_path: Path) -> None:
    """Calls that hang, or no driver at all; not one that somebody replaces, and not on a machine without GPUs."""
    samples = healthy(8, "hang", "x100") | {reading("gpu_worker_stuck", gpu, "hang"): "0x20 1x80" for gpu in range(8)}
    samples |= lost("hang", range(8), "1x20 0x80")
    samples |= healthy(2, "gone", "x100") | {agent("up", "gone"): "1x20 0x80"}
    samples |= healthy(2, "update", "x100") | {agent("up", "update"): "1x20 0x80"} | kube("update", 2, 2, cordoned=1)
    samples |= healthy(1, "short", "x100") | {reading("gpu_worker_stuck", 0, "short"): "0x20 1x3 0x80"}
    samples |= {agent("up", "cpu"): "0x100"}
    told = [about_node("GpuDriverUnresponsive", "critical", node) for node in ("hang", "gone")]
    fires(tmp_path, samples, {"24m": [], "28m": told, "35m": told}, every="1m", only=ONLY)


def test_a_scheduler_that_offers_less_is_told_after_a_quarter_of_an_hour(tmp_path: Path) -> None:
    """Also where the device plugin is gone; not on nodes that take no work, nor while the plugin comes up."""
    samples: dict[str, str] = {}
    for node in ("sick", "none", "cordoned", "broken", "whole", "flapping", "booted"):
        samples |= healthy(8, node, "x100")
    samples |= kube("sick", 8, 7) | kube("none", 8, "8x10 0x90") | kube("cordoned", 8, 7, cordoned=1)
    samples |= kube("broken", 8, 7, ready="false") | kube("whole", 8, 8) | kube("flapping", 8, "8x9 7x9 8x2 7x9 8x80")
    samples |= kube("booted", 8, "0x14 8x90") | booted(0, "booted", 100)
    samples |= healthy(4, "slurm", "x100") | slurm("slurm", 3)
    samples |= {f'kube_node_status_allocatable{{{KSM},node="cpu",resource="nvidia_com_gpu",unit="integer"}}': "0x100"}
    first = [about_node("GpuAllocatableBelowPresent", "warning", node) for node in ("sick", "slurm")]
    both = [*first, about_node("GpuAllocatableBelowPresent", "warning", "none")]
    fires(
        tmp_path,
        samples,
        {"13m": [], "19m": first, "29m": both, "35m": both},
        every="1m",
        only=ONLY,
        alerts="GpuAllocatable.*",
    )


def test_amd_gpus_have_the_same_alerts(tmp_path: Path) -> None:
    """Uncorrected errors, a failed health check, and a GPU that is gone, with nothing else than AMD's exporter."""
    base = 'cluster="c",card_series="MI300X",hostname="a1",gpu_partition_id="0",instance="a1:5000"'
    samples: dict[str, str] = {}
    for gpu in range(3):
        own = f'{base},gpu_id="{gpu}",serial_number="S{gpu}"'
        samples |= {
            f"gpu_total_vram{{{own}}}": "196592x100",
            f"gpu_health{{{own}}}": "1x20 0x80" if gpu == 1 else "1x100",
            f"gpu_ecc_uncorrect_total{{{own}}}": "7x20 9x80" if gpu == 0 else "5x100",
        }
    where = 'cluster="c", node="a1"'
    memory = f'GpuMemoryUncorrectable{{{where}, gpu="0", uuid="S0", severity="critical"}}'
    check = f'GpuHealthCheckFailed{{{where}, gpu="1", uuid="S1", severity="warning"}}'
    fires(
        tmp_path,
        samples,
        {"20m": [], "24m": [memory], "29m": [memory, check]},
        every="1m",
        only=("amd", "level-fault", "level-node", "hardware", "memory", "faults"),
    )
