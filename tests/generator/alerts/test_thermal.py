"""Heat, power brake, racks, and GPUs that hold up their job."""

from pathlib import Path

import pytest
from tests.generator.alerting import fires, says
from tests.generator.alerts.nodes import LONG, agent, fired, series, slurm_node, together
from tests.generator.promtool import expect

from gpuscope_generator.normalized import node
from gpuscope_generator.promql import select
from gpuscope_generator.settings import Settings

ONLY = ("gpuscope", "collector", "racks", "maintenance", "thermal")
HEAT = "GpuThermalSlowdown|GpuRackThermal|GpuPowerBrake"


def gpu(name: str, values: str, *, node: str = "n1", index: int = 0, **labels: str) -> dict[str, str]:
    at = {"cluster": "c", "job": "gpuscope", "instance": f"{node}:9836", "node": node}
    return series(f"gpuscope_gpu_{name}", values, **at, gpu=str(index), uuid=f"{node}-{index}", **labels)


def held(
    share: float, reason: str = "hw_thermal", *, node: str = "n1", index: int = 0, after: int = 10
) -> dict[str, str]:
    """Seconds in which a reason held the clocks down: a share of each minute, from a minute on."""
    rising = f"0x{after} {60 * share}+{60 * share}x120"
    return gpu("clock_event_seconds_total", rising, node=node, index=index, reason=reason)


def hot(node: str = "n1", index: int = 0, rack: str = "") -> str:
    of = f',rack="{rack}"' if rack else ""
    return f'GpuThermalSlowdown{{cluster="c",node="{node}",gpu="{index}",uuid="{node}-{index}"{of},severity="warning"}}'


@pytest.mark.parametrize("reason", ["hw_thermal", "sw_thermal"])
def test_heat_that_holds_a_gpu_down_for_more_than_half_of_ten_minutes(tmp_path: Path, reason: str) -> None:
    samples = agent("n1") | held(0.8, reason)
    fires(tmp_path, samples, {"15m": [], "26m": [hot()]}, every="1m", only=ONLY, alerts=HEAT)


def test_half_is_not_more_than_half_and_a_burst_is_not_ten_minutes(tmp_path: Path) -> None:
    burst = gpu("clock_event_seconds_total", "0x20 60 120 180 240 240x80", index=1, reason="hw_thermal")
    samples = agent("n1") | held(0.5) | burst
    fires(tmp_path, samples, {"24m": [], "30m": [], "45m": []}, every="1m", only=ONLY, alerts=HEAT)


@pytest.mark.parametrize("reason", ["sw_power_cap", "sync_boost"])
def test_the_power_cap_and_idleness_are_no_heat(tmp_path: Path, reason: str) -> None:
    fires(tmp_path, agent("n1") | held(1, reason), {"40m": []}, every="1m", only=ONLY, alerts=HEAT)


def test_a_gpu_at_its_own_limit_is_hot_whatever_its_temperature(tmp_path: Path) -> None:
    """Complaint 28: no fixed temperature. 84 degrees are fine for one model, and the limit of another."""
    samples = together(
        agent("n1"),
        gpu("temperature_celsius", "84x80", sensor="gpu"),
        gpu("temperature_headroom_celsius", "1x80"),
        gpu("temperature_celsius", "84x80", index=1, sensor="gpu"),
        gpu("temperature_headroom_celsius", "1.5x80", index=1),
    )
    fires(tmp_path, samples, {"4m": [], "7m": [hot()]}, every="1m", only=ONLY, alerts=HEAT)


def test_heat_that_comes_and_goes_is_one_alert(tmp_path: Path) -> None:
    """At its limit every other minute for an hour: it never holds for five minutes, so nobody is told."""
    times: dict[str, list[str]] = {f"{minute}m": [] for minute in range(6, 70, 8)}
    samples = agent("n1") | gpu("temperature_headroom_celsius", " ".join(["1 9"] * 35))
    fires(tmp_path, samples, times, every="1m", only=ONLY, alerts=HEAT)


def test_it_stays_for_ten_minutes_and_clears(tmp_path: Path) -> None:
    samples = agent("n1") | gpu("temperature_headroom_celsius", "0x20 9x60")
    times = {"20m": [hot()], "29m": [hot()], "33m": []}
    fires(tmp_path, samples, times, every="1m", only=ONLY, alerts=HEAT)


def test_readings_that_vanish_leave_no_alert(tmp_path: Path) -> None:
    samples = agent("n1") | gpu("temperature_headroom_celsius", "0x20 stale")
    fires(tmp_path, samples, {"20m": [hot()], "33m": []}, every="1m", only=ONLY, alerts=HEAT)


def test_maintenance_is_silent(tmp_path: Path) -> None:
    samples = agent("n1") | slurm_node("n1", "maintenance") | held(1) | held(1, "hw_power_brake", index=1)
    fires(tmp_path, samples, {"40m": []}, every="1m", only=ONLY, alerts=HEAT)


def test_dcgm_exporter_tells_the_same(tmp_path: Path) -> None:
    at = {"cluster": "c", "gpu": "0", "UUID": "n1-0", "Hostname": "n1", "instance": "n1:9400", "job": "dcgm"}
    samples = series("DCGM_FI_DEV_GPU_TEMP", "80x80", **at) | series(
        "DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS", "0+54000000000x80", **at
    )
    fires(tmp_path, samples, {"30m": [hot()]}, every="1m", only=("dcgm", "thermal"), alerts=HEAT)


def test_a_hot_gpu_says_how_hot_and_whose_it_is(tmp_path: Path) -> None:
    samples = together(
        agent("n1"),
        gpu("temperature_celsius", "88x80", sensor="gpu"),
        gpu("temperature_headroom_celsius", "0.5x80"),
        series("kube_node_labels", LONG, cluster="c", node="n1", label_topology_kubernetes_io_rack="r7"),
    )
    says(
        tmp_path,
        samples,
        "GpuThermalSlowdown",
        [
            {
                "labels": {
                    "cluster": "c",
                    "node": "n1",
                    "gpu": "0",
                    "uuid": "n1-0",
                    "rack": "r7",
                    "severity": "warning",
                    "scope": "gpu",
                    "component": "thermal",
                    "audience": "platform",
                    "fault_class": "thermal",
                },
                "annotations": {
                    "summary": "Heat holds a GPU down.",
                    "description": "Heat held the clocks of GPU 0 of node n1 down for more than 50 % of ten minutes, "
                    "or the GPU is within 1 °C of the temperature at which its hardware slows down. It works slower, "
                    "and with it the whole job that it is part of.",
                    "location": "rack r7, node n1, GPU 0, n1-0, serial sn-n1-0",
                    "owner": "nobody known",
                    "measured": "88.0 °C, 0.5 °C below its slowdown",
                    "recommended_action": "Look at fans, airflow and inlet temperature of the node. If its neighbors "
                    "in the rack are hot as well, call the facility.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuThermalSlowdown.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=n1&var-gpu=0",
                },
            }
        ],
        at="20m",
        every="1m",
        only=ONLY,
    )


def test_a_power_brake_of_two_minutes_wakes_somebody_once_a_node(tmp_path: Path) -> None:
    """Complaint 14: the power brake has a reason of its own."""
    samples = together(agent("n1"), held(1, "hw_power_brake"), held(1, "hw_power_brake", index=1), agent("n2"))
    samples |= gpu("clock_event_seconds_total", "0x20 60x60", node="n2", reason="hw_power_brake")
    times = {"11m": [], "15m": fired("GpuPowerBrake", "critical", ["n1"])}
    fires(tmp_path, samples, times, every="1m", only=ONLY, alerts=HEAT)


def test_one_minute_of_power_brake_is_none(tmp_path: Path) -> None:
    samples = agent("n1") | gpu("clock_event_seconds_total", "0x10 60x60", reason="hw_power_brake")
    fires(tmp_path, samples, {f"{minute}m": [] for minute in range(11, 20)}, every="1m", only=ONLY, alerts=HEAT)


def rack(hot_gpus: int, gpus: int, name: str) -> dict[str, str]:
    """A rack with one node a GPU pair; ``hot_gpus`` of its GPUs are at their limit."""
    found: dict[str, str] = {}
    for index in range(gpus // 2):
        host = f"{name}-{index}"
        found |= agent(host) | series("kube_node_labels", LONG, cluster="c", node=host, label_rack=name)
        for own in range(2):
            margin = "0x60" if 2 * index + own < hot_gpus else "20x60"
            found |= gpu("temperature_headroom_celsius", margin, node=host, index=own)
    return found


RACK = ("gpuscope", "racks", "maintenance", "level-node", "level-heat", "thermal")


def test_a_quarter_of_a_rack_is_the_racks_fault(tmp_path: Path) -> None:
    """Four of sixteen, but neither three of eight nor four of eighteen."""
    samples = together(rack(4, 16, "r1"), rack(3, 8, "r2"), rack(4, 18, "r3"))
    expected = ['GpuRackThermal{cluster="c",rack="r1",severity="critical"}']
    fires(tmp_path, samples, {"4m": [], "9m": expected}, every="1m", only=RACK, alerts="GpuRackThermal")


def test_without_racks_the_alert_of_racks_is_silent(tmp_path: Path) -> None:
    samples = {key: value for key, value in rack(8, 8, "r1").items() if not key.startswith("kube_node_labels")}
    fires(tmp_path, samples, {"20m": []}, every="1m", only=RACK, alerts="GpuRackThermal")


def test_the_rack_by_the_name_of_the_node_or_by_any_of_the_labels(tmp_path: Path) -> None:
    labels = {
        "a": {"label_topology_kubernetes_io_rack": "r1", "label_rack": "other"},
        "b": {"label_cloud_google_com_gce_topology_subblock": "r2"},
        "c": {"label_rack": "r3"},
        "d": {"label_team": "x"},
        "r9-node-1": {"label_rack": "r3"},
    }
    samples: dict[str, str] = {}
    for name, own in labels.items():
        samples |= series("kube_node_labels", LONG, instance="ksm:8080", node=name, **own)
        samples |= series("kube_node_info", LONG, instance="ksm:8080", node=name)
    racks = {"a": "r1", "b": "r2", "c": "r3"}
    for settings, last in ((Settings(), "r3"), (Settings(rack_pattern="(r[0-9]+)-.*"), "r9")):
        found = {f'node:rack:union{{node="{name}",rack="{rack}"}}': 1.0 for name, rack in racks.items()}
        found[f'node:rack:union{{node="r9-node-1",rack="{last}"}}'] = 1.0
        folder = tmp_path / last
        folder.mkdir()
        only = ("racks", "kubernetes")
        expect(folder, samples, {select(node.RACK): found}, at="5m", every="1m", settings=settings, only=only)


JOB = ("gpuscope", "devices", "maintenance", "collector", "level-workload", "level-pace", "thermal")


def working(clocks: list[str], *, activity: str = "0.9x80", models: tuple[str, ...] = ()) -> dict[str, str]:
    """GPUs of one Slurm job, one a node, with their clocks in MHz."""
    found: dict[str, str] = {}
    for index, clock in enumerate(clocks):
        host = f"n{index}"
        model = models[index] if models else "NVIDIA H100 80GB HBM3"
        found |= gpu("info", LONG, node=host, model=model)
        found |= gpu("clock_hertz", clock, node=host, clock="sm")
        found |= gpu("graphics_active_ratio", activity, node=host)
        at = {"cluster": "c", "job": "gpuscope", "instance": f"{host}:9836", "node": host}
        found |= series("gpuscope_job_allocation_info", LONG, **at, gpu="0", uuid=f"{host}-0", job_id="42", user="ada")
    return found


SLOW = 'GpuStraggler{cluster="c",node="n3",gpu="0",uuid="n3-0",workload="42",severity="warning"}'


def test_a_gpu_below_85_percent_of_the_median_of_its_job(tmp_path: Path) -> None:
    samples = working(["2000x80", "2000x80", "2000x80", "1690x80", "1700x80"])
    fires(tmp_path, samples, {"14m": [], "25m": [SLOW]}, every="1m", only=JOB, alerts="GpuStraggler")


@pytest.mark.parametrize(
    "samples",
    [
        working(["2000x80", "2000x80", "1000x80"]),
        working(["2000x80", "2000x80", "2000x80", "1000x80"], activity="0.4x80"),
        working(["2000x80", "2000x80", "2000x80", "1000x80"], models=("A", "A", "A", "B")),
        working(["2000x80", "2000x80", "2000x80", "2000x20 1000x7 2000x60"]),
    ],
    ids=["three are no median", "idle", "another model", "a short dip"],
)
def test_what_is_no_straggler(tmp_path: Path, samples: dict[str, str]) -> None:
    fires(tmp_path, samples, {"28m": [], "40m": []}, every="1m", only=JOB, alerts="GpuStraggler")
