"""Clusters in which all alerts together must keep still, or say just one thing. Rules of all files are loaded."""

from collections.abc import Mapping
from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.nodes import LONG, agent, series, slurm_node, together
from tests.generator.rules.fleet import GIB, Device, amd, dcgm, native
from tests.generator.rules.instances import SPLIT, dcgm_split, native_split

from gpuscope_generator.settings import Intervals, Settings

SLOWLY = Settings(intervals=Intervals(normalize=240, aggregate=240, slow=300))
"""A round every four minutes: all rules over an hour and a quarter cost seconds, not minutes."""


def longer(samples: Mapping[str, str]) -> dict[str, str]:
    """Samples of forty steps go on for two hours."""
    return {key: value.replace("x40", "x130") for key, value in samples.items()}


def kube_node(name: str, gpus: int, ready: str = "true") -> dict[str, str]:
    """A node of Kubernetes."""
    at = {"instance": "ksm:8080", "job": "ksm", "node": name}
    found = series("kube_node_info", LONG, **at) | series("kube_node_spec_unschedulable", "0x200", **at)
    for status in ("true", "false", "unknown"):
        values = f"{int(status == ready)}x200"
        found |= series("kube_node_status_condition", values, **at, condition="Ready", status=status)
    if gpus:
        of = at | {"resource": "nvidia_com_gpu", "unit": "integer"}
        found |= series("kube_node_status_capacity", f"{gpus}x200", **of)
        found |= series("kube_node_status_allocatable", f"{gpus}x200", **of)
    return found


def host(name: str) -> dict[str, str]:
    """A host as node-exporter tells it, up for a day."""
    at = {"instance": f"{name}:9100", "job": "node"}
    return together(
        series("up", LONG, **at),
        series("node_boot_time_seconds", "-86400x200", **at),
        series("node_uname_info", LONG, **at, nodename=name, release="6.1"),
        series("node_memory_MemTotal_bytes", f"{512 * GIB}x200", **at),
        series("node_memory_MemAvailable_bytes", f"{400 * GIB}x200", **at),
        series("node_load1", "8x200", **at),
    )


def itself(name: str) -> dict[str, str]:
    """What an agent that is well tells of itself."""
    at = {"instance": f"{name}:9836", "job": "gpuscope", "node": name}
    found = series("up", LONG, instance=f"{name}:9836", job="gpuscope")
    for metric in ("up", "ready", "event_watcher_up", "kernel_log_up", "config_last_reload_successful"):
        found |= series(f"gpuscope_{metric}", LONG, **at)
    for tier in ("fast", "slow", "activity"):
        found |= series("gpuscope_cycle_last_success_timestamp_seconds", "0+60x200", **at, tier=tier)
    for part in ("power", "ecc", "xid"):
        found |= series("gpuscope_collector_success", LONG, **at, collector=part)
    return found


def device(node: str, gpu: int, **more: object) -> Device:
    return Device(node=node, gpu=gpu, uuid=f"GPU-{node}-{gpu}", capped=0.0, corrected=0, **more)  # type: ignore[arg-type]


BUSY = [device(node, gpu, pod=f"train-{node}", compute=0.9) for node in ("n1", "n2") for gpu in range(2)]
FREE = [device("n3", gpu, compute=0.0, sm=0.0, tensor=0.0, dram=0.0, used=0, free=79 * GIB) for gpu in range(2)]


def idling() -> dict[str, str]:
    """Free GPUs sleep: low clocks, a slow link, and idleness as the reason of both."""
    found: dict[str, str] = {}
    for one in FREE:
        at = {"instance": f"10.0.0.{one.gpu}:9836", "node": one.node, "gpu": str(one.gpu), "uuid": one.uuid}
        found |= series("gpuscope_gpu_clock_event_reason_active", LONG, **at, reason="idle")
        for what, now, most in (("generation", 1, 5), ("width", 16, 16)):
            found |= series(f"gpuscope_gpu_pcie_link_{what}", f"{now}x200", **at, link="current")
            found |= series(f"gpuscope_gpu_pcie_link_{what}", f"{most}x200", **at, link="max")
    return found


def well() -> dict[str, str]:
    """A small cluster in which all is well: two nodes work, one is free."""
    names = ("n1", "n2", "n3")
    parts = [part for name in names for part in (kube_node(name, 2), host(name), itself(name))]
    return together(*parts, longer(native(*BUSY, *FREE)), idling())


def without_gpus() -> dict[str, str]:
    """Complaint 32: not even an alert about what is absent. Its nodes may be as sick as they like."""
    parts = [kube_node("n1", 0), kube_node("n2", 0, "false"), host("n1"), host("n2")]
    return together(*parts, series("gpuscope_collector_source_up", LONG, scheduler="kubernetes", instance="c:9837"))


def without_driver() -> dict[str, str]:
    """An agent that was put on all nodes, also on those without GPUs."""
    at = {"instance": "n1:9836", "job": "gpuscope"}
    bare = series("up", LONG, **at) | series("gpuscope_up", "0x200", **at, node="n1")
    why = series("gpuscope_driver_unavailable_info", LONG, **at, node="n1", reason="no driver")
    return together(kube_node("n1", 0), host("n1"), bare, why, series("gpuscope_ready", "0x200", **at, node="n1"))


def without_exporter() -> dict[str, str]:
    """Neither are its GPUs missing, nor are they hot, frozen, idle or without readings."""
    broken = agent("n1", up="1x10 0x190", told="1x10 stale")
    return together(broken, agent("n2"), slurm_node("n1"), slurm_node("n2"), readings("n2"))


def readings(node: str) -> dict[str, str]:
    """What else an agent tells of its two GPUs."""
    found: dict[str, str] = {}
    for gpu in range(2):
        at = {"job": "gpuscope", "instance": f"{node}:9836", "node": node, "gpu": str(gpu), "uuid": f"{node}-{gpu}"}
        found |= series("gpuscope_gpu_graphics_active_ratio", "0.5x200", **at)
        for what, gib in (("total", 80), ("reserved", 1), ("used", 1)):
            found |= series(f"gpuscope_gpu_memory_{what}_bytes", f"{gib * GIB}x200", **at)
    return found


def in_mig(by_agent: bool) -> dict[str, str]:
    """Complaints 7 and 8: no utilization of the whole GPU is neither idleness nor a missing reading."""
    if by_agent:
        return together(longer(native_split(device("n1", 0), *SPLIT)), itself("n1"), host("n1"))
    return together(longer(dcgm_split(device("n1", 0), *SPLIT)), host("n1"))


def of_amd() -> dict[str, str]:
    """Complaint 31."""
    whole = amd(*(device("a1", gpu, pod="train-0", model="MI300X") for gpu in range(2)))
    return together(longer(whole), series("up", LONG, instance="a1:5000", job="amd"), host("a1"))


def of_two_versions() -> dict[str, str]:
    """An upgrade goes through a cluster: `hostname` and `Hostname`, and two names for each field."""
    old = dcgm(*(device("n1", gpu, pod="train-0") for gpu in range(2)))
    new = dcgm(*(device("n2", gpu, pod="train-1") for gpu in range(2)), renamed=True)
    return together(longer(old), longer(new), kube_node("n1", 2), kube_node("n2", 2), host("n1"), host("n2"))


def under_maintenance() -> dict[str, str]:
    """Powered off: not ready, no exporter, no GPUs; and the last that it said was that it is too hot."""
    at = {"job": "gpuscope", "instance": "n1:9836", "node": "n1", "gpu": "0", "uuid": "n1-0"}
    return together(
        agent("n1", up="1x20 0x180", told="1x20 stale"),
        series("gpuscope_gpu_temperature_headroom_celsius", "-3x20 stale", **at),
        series("gpuscope_gpu_xid_errors_total", "0x12 1x8 stale", **at, xid="79", gi="", ci=""),
        slurm_node("n1", "ready:4 maintenance:200", held=2),
        agent("n2"),
        readings("n2"),
        slurm_node("n2"),
    )


CLUSTERS = {
    "well": well(),
    "without_gpus": without_gpus(),
    "without_driver": without_driver(),
    "without_exporter": without_exporter(),
    "mig_by_agent": in_mig(True),
    "mig_by_dcgm": in_mig(False),
    "amd": of_amd(),
    "two_versions": of_two_versions(),
    "maintenance": under_maintenance(),
}


def within(cluster: str, samples: Mapping[str, str]) -> dict[str, str]:
    """The samples of a cluster, in a Prometheus that has several."""
    plain = {key.replace('cluster="c",', ""): value for key, value in samples.items()}
    return {key.replace("{", f'{{cluster="{cluster}",', 1): value for key, value in plain.items()}


def test_clusters_in_which_nothing_is_wrong_are_silent(tmp_path: Path) -> None:
    """All in one Prometheus: no cluster concerns another one. What fires names the cluster that it came from."""
    samples = together(*(within(name, found) for name, found in CLUSTERS.items()))
    switch = 'Watchdog{severity="none"}'
    down = 'GpuExporterDown{cluster="without_exporter",node="n1",severity="warning"}'
    expected = {"14m": [switch], "36m": [switch, down], "76m": [switch, down]}
    fires(tmp_path, samples, expected, every="1m", settings=SLOWLY, alerts=".*")


def test_an_empty_prometheus_fires_the_switch_alone(tmp_path: Path) -> None:
    fires(tmp_path, {}, {"20m": ['Watchdog{severity="none"}']}, every="5m", settings=SLOWLY, alerts=".*")
