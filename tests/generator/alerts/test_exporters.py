"""Exporters that are down, silent, or tell the same for ever."""

from pathlib import Path

from tests.generator.alerting import fires, says
from tests.generator.alerts.nodes import LONG, agent, fired, series, slurm_node, together
from tests.generator.rules.fleet import Device, dcgm

ONLY = ("exporters", "collector", "maintenance", "gpuscope", "devices", "level-node", "level-cluster", "monitoring")
OURS = "GpuExporterDown.*|GpuSeriesMissing"
TARGET = {"cluster": "c", "job": "gpuscope"}


def silenced(node: str, *, gpus: int = 2, cluster: str = "c") -> dict[str, str]:
    """From the eleventh minute on a scrape fails."""
    return agent(node, up="1x10 0x100", told="1x10 stale", gpus=gpus, cluster=cluster)


def test_an_exporter_that_does_not_answer_is_told_after_five_minutes(tmp_path: Path) -> None:
    samples = together(silenced("n1"), agent("n2"), slurm_node("n1"), slurm_node("n2"))
    down = fired("GpuExporterDown", "warning", ["n1"])
    fires(tmp_path, samples, {"10m": [], "15m": [], "17m": down, "50m": down}, every="1m", only=ONLY, alerts=OURS)


def test_somebody_is_woken_after_fifteen_minutes_where_work_runs(tmp_path: Path) -> None:
    samples = together(silenced("n1"), agent("n2"), slurm_node("n1", held=2), slurm_node("n2", held=2))
    down = fired("GpuExporterDown", "warning", ["n1"])
    woken = fired("GpuExporterDown", "critical", ["n1"])
    fires(tmp_path, samples, {"24m": down, "28m": down + woken}, every="1m", only=ONLY, alerts=OURS)


def test_it_clears_once_the_exporter_answers(tmp_path: Path) -> None:
    samples = agent("n1", up="1x10 0x10 1x60", told="1x10 stale _x9 1x60")
    fires(
        tmp_path,
        samples,
        {"19m": fired("GpuExporterDown", "warning", ["n1"]), "25m": []},
        every="1m",
        only=ONLY,
        alerts=OURS,
    )


def test_short_gaps_are_no_alert(tmp_path: Path) -> None:
    """A target that answers every other scrape for an hour."""
    flapping = " ".join(["1 0"] * 30)
    told = " ".join(["1 stale"] * 30)
    times: dict[str, list[str]] = {f"{minute}m": [] for minute in range(10, 60, 7)}
    fires(
        tmp_path, together(agent("n1", up=flapping, told=told), agent("n2")), times, every="1m", only=ONLY, alerts=OURS
    )


def test_an_exporter_that_is_gone_from_a_ready_node_is_told(tmp_path: Path) -> None:
    """Its pod was evicted: there is no target any more whose scrape could fail."""
    gone = agent("n1", up="1x20 stale", told="1x20 stale")
    samples = together(gone, agent("n2"), slurm_node("n1"), slurm_node("n2"))
    fires(
        tmp_path,
        samples,
        {"20m": [], "30m": fired("GpuExporterDown", "warning", ["n1"])},
        every="1m",
        only=ONLY,
        alerts=OURS,
    )


def test_a_node_that_never_had_one_is_told(tmp_path: Path) -> None:
    samples = together(agent("n2"), slurm_node("n1"), slurm_node("n2"))
    fires(tmp_path, samples, {"10m": fired("GpuExporterDown", "warning", ["n1"])}, every="1m", only=ONLY, alerts=OURS)


def test_a_node_that_is_gone_is_not_missed(tmp_path: Path) -> None:
    """Scaled down: neither its scheduler nor a scrape knows it any more."""
    gone = agent("n1", up="1x20 stale", told="1x20 stale")
    fires(tmp_path, together(gone, agent("n2")), {"40m": []}, every="1m", only=ONLY, alerts=OURS)


def test_maintenance_is_no_alert(tmp_path: Path) -> None:
    samples = together(silenced("n1"), agent("n2"), slurm_node("n1", "ready:8 maintenance:100"), slurm_node("n2"))
    fires(tmp_path, samples, {"40m": []}, every="1m", only=ONLY, alerts=OURS)


def test_a_cluster_without_gpus_or_without_exporters_is_silent(tmp_path: Path) -> None:
    samples = together(series("up", "0x100", job="node", instance="n1:9100"), slurm_node("n1"))
    fires(tmp_path, samples, {"20m": []}, every="1m", only=ONLY, alerts=OURS)


def test_one_of_two_exporters_on_a_node_counts(tmp_path: Path) -> None:
    """XIDs come from the agent only: dcgm-exporter does not stand in for it."""
    other = dcgm(Device(node="n1", uuid="n1-0"))
    fires(
        tmp_path,
        {f'{key[:-1]},cluster="c"}}': value.replace("x40", "x120") for key, value in other.items()} | silenced("n1"),
        {"20m": fired("GpuExporterDown", "warning", ["n1"])},
        every="1m",
        only=ONLY,
        alerts=OURS,
    )


def test_it_says_where_what_and_what_to_do(tmp_path: Path) -> None:
    says(
        tmp_path,
        together(silenced("n1"), agent("n2")),
        "GpuExporterDown",
        [
            {
                "labels": {
                    "cluster": "c",
                    "node": "n1",
                    "severity": "warning",
                    "scope": "node",
                    "component": "monitoring",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "An exporter of GPUs does not answer.",
                    "description": "Of the exporters of GPUs on node n1, 1 does not answer, or should be there and is "
                    "not; right would be 0. What they told is unknown now, and no fault of these GPUs can be seen.",
                    "location": "node n1",
                    "owner": "nobody known",
                    "measured": "1 exporter down",
                    "recommended_action": "Look at the exporter's pod or service on the node, then at the driver with "
                    "nvidia-smi. Do not read the silence as health.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuExporterDown.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=n1",
                },
            }
        ],
        at="20m",
        every="1m",
        only=ONLY,
    )


def test_many_at_once_are_one_fault_of_all(tmp_path: Path) -> None:
    """Two of nineteen nodes are more than a tenth; the node alerts stay, and Alertmanager hides them."""
    well = [agent(f"w{index}", gpus=1) for index in range(17)]
    samples = together(*well, silenced("n1", gpus=1), silenced("n2", gpus=1))
    nodes = fired("GpuExporterDown", "warning", ["n1", "n2"])
    many = ['GpuExporterDownMany{cluster="c",severity="critical"}']
    fires(tmp_path, samples, {"19m": nodes, "23m": nodes + many}, every="1m", only=ONLY, alerts=OURS)


def test_a_tenth_is_not_more_than_a_tenth_and_one_is_not_many(tmp_path: Path) -> None:
    well = [agent(f"w{index}", gpus=1) for index in range(18)]
    samples = together(
        *well,
        silenced("n1", gpus=1),
        silenced("n2", gpus=1),
        silenced("m1", cluster="d"),
        agent("m2", cluster="d"),
    )
    nodes = fired("GpuExporterDown", "warning", ["n1", "n2"]) + fired("GpuExporterDown", "warning", ["m1"], "d")
    fires(tmp_path, samples, {"40m": nodes}, every="1m", only=ONLY, alerts=OURS)


def test_an_exporter_that_answers_and_tells_of_no_gpu(tmp_path: Path) -> None:
    """Complaint 5: the driver hangs, and the series are gone."""
    no_driver = "1x20 stale"
    samples = together(agent("n1", told=no_driver, more={"up": "1x20 0x80"}), agent("n2"))
    missing = fired("GpuSeriesMissing", "warning", ["n1"])
    fires(tmp_path, samples, {"20m": [], "30m": [], "33m": missing, "60m": missing}, every="1m", only=ONLY, alerts=OURS)


BARE = series("up", LONG, **TARGET, instance="n3:9836") | series(
    "gpuscope_up", "0x200", **TARGET, instance="n3:9836", node="n3"
)
"""An agent without a driver."""


def test_what_no_exporter_ever_told_is_not_missed(tmp_path: Path) -> None:
    """The agent also runs on nodes without GPUs."""
    fires(tmp_path, together(BARE, agent("n1")), {"40m": []}, every="1m", only=ONLY, alerts=OURS)


def test_what_the_scheduler_promises_is_missed(tmp_path: Path) -> None:
    samples = together(BARE, agent("n1"), slurm_node("n3"))
    missing = fired("GpuSeriesMissing", "warning", ["n3"])
    fires(tmp_path, samples, {"9m": [], "15m": missing}, every="1m", only=ONLY, alerts=OURS)


def test_it_gives_the_reason_that_the_agent_gives(tmp_path: Path) -> None:
    target = TARGET | {"instance": "n3:9836", "node": "n3"}
    why = series("gpuscope_driver_unavailable_info", LONG, **target, reason="driver not loaded")
    says(
        tmp_path,
        together(BARE, why, slurm_node("n3")),
        "GpuSeriesMissing",
        [
            {
                "labels": {
                    "cluster": "c",
                    "node": "n3",
                    "severity": "warning",
                    "scope": "node",
                    "component": "monitoring",
                    "audience": "platform",
                },
                "annotations": {
                    "summary": "An exporter answers and tells of no GPU, on a node that has some.",
                    "description": "On node n3 1 exporter answers and tells of no GPU, though the node "
                    "has some, by its scheduler or by what was told within a day. Their state is unknown, not healthy. "
                    "driver: driver not loaded.",
                    "location": "node n3",
                    "owner": "nobody known",
                    "recommended_action": "Run nvidia-smi on the node: a driver that hangs or is not loaded is the "
                    "usual cause. Treat the node as not usable until it answers.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuSeriesMissing.md",
                    "dashboard_url": "/d/gpuscope-cluster/cluster?var-cluster=c&var-node=n3",
                },
            }
        ],
        at="20m",
        every="1m",
        only=(*ONLY, "health"),
    )


def test_one_exporter_that_tells_of_gpus_is_enough_on_a_mig_node(tmp_path: Path) -> None:
    samples = agent("n1") | series(
        "gpuscope_gpu_mig_mode_enabled", LONG, **TARGET, instance="n1:9836", node="n1", gpu="0", uuid="n1-0"
    )
    fires(tmp_path, samples, {"40m": []}, every="1m", only=ONLY, alerts=OURS)


def frozen(power: str, energy: str, *, up: str = LONG) -> dict[str, str]:
    at = TARGET | {"instance": "n1:9836", "node": "n1", "gpu": "0", "uuid": "n1-0"}
    return (
        series("gpuscope_gpu_power_watts", power, **at)
        | series("gpuscope_gpu_energy_joules_total", energy, **at)
        | series("gpuscope_gpu_up", up, **at)
    )


FROZEN = ("gpuscope", "maintenance", "collector", "monitoring")
STUCK = ['GpuReadingsFrozen{cluster="c",node="n1",gpu="0",uuid="n1-0",severity="warning"}']


def test_readings_that_do_not_move_are_old(tmp_path: Path) -> None:
    samples = frozen("300+1x10 310x80", "0+18000x10 180000x80")
    fires(tmp_path, samples, {"25m": [], "35m": STUCK}, every="1m", only=FROZEN, alerts="GpuReadingsFrozen")


def test_an_idle_gpu_is_not_frozen(tmp_path: Path) -> None:
    """Its power may stand still, its energy does not; a reset of the counter and a missing sensor are no sign."""
    for name, power, energy in (
        ("idle", "70x80", "0+4200x80"),
        ("reset", "300x80", "0+18000x25 0+18000x50"),
        ("none", "0x80", "0x80"),
        ("off", "300x20 stale", "9000x20 stale"),
    ):
        (tmp_path / name).mkdir()
        times: dict[str, list[str]] = {"35m": [], "44m": []}
        fires(tmp_path / name, frozen(power, energy), times, every="1m", only=FROZEN, alerts="GpuReadingsFrozen")


def test_a_lost_gpu_is_not_frozen(tmp_path: Path) -> None:
    samples = frozen("300x80", "9000x80", up="0x80")
    fires(tmp_path, samples, {"40m": []}, every="1m", only=FROZEN, alerts="GpuReadingsFrozen")
