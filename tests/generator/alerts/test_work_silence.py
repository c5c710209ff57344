"""When alerts about work, the network and storage keep still: nothing to watch, nothing wrong, nobody who watches."""

from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.story import Story, tensor
from tests.generator.rules.fleet import Device, native
from tests.generator.rules.instances import SPLIT, native_split

ALERTS = ("usage", "queues", "network", "storage", "jobs", "goodput", "serving")
RULES = (
    "gpuscope", "devices", "node-exporter", "ports", "filesystem", "training", "level-node", "level-fleet",
    "level-workload", "level-filesystem", "level-cluster", "level-demand", "level-objective", *ALERTS,
)  # fmt: skip
EVERY = "5m"
SILENT: dict[str, list[str]] = {f"{minute}m": [] for minute in range(0, 200, 20)}


def host(values: str) -> dict[str, str]:
    """A node with a port in use and one that nobody uses, and a shared file system."""
    at = 'job="node-exporter",instance="n1:9100"'
    mount = 'instance="n1:9836",node="n1",filesystem="lustre01",mountpoint="/data"'
    return {
        f'node_uname_info{{{at},nodename="n1"}}': values.format(1),
        f"node_boot_time_seconds{{{at}}}": values.format(-9000),
        f'node_infiniband_state_id{{{at},device="mlx5_0",port="1"}}': values.format(4),
        f'node_infiniband_state_id{{{at},device="mlx5_1",port="1"}}': values.format(1),
        f'node_infiniband_link_downed_total{{{at},device="mlx5_0",port="1"}}': values.format(12),
        f'gpuscope_filesystem_info{{{mount},type="lustre",source="s",options="rw"}}': values.format(1),
        f"gpuscope_filesystem_up{{{mount}}}": values.format(1),
        f"gpuscope_filesystem_size_bytes{{{mount}}}": values.format(100),
        f"gpuscope_filesystem_available_bytes{{{mount}}}": values.format(50),
    }


def owner(pod: str) -> dict[str, str]:
    work = f'namespace="ml",workload_kind="JobSet",workload="{pod}",team="nlp",queue="q"'
    return {f'pod:info:union{{node="n1",pod="{pod}",{work}}}': "1x40"}


def test_an_empty_prometheus_and_a_cluster_without_gpus(tmp_path: Path) -> None:
    fires(tmp_path / "empty", {}, SILENT, every=EVERY, only=ALERTS)
    fires(tmp_path / "hosts", host("{}x40"), SILENT, every=EVERY, only=RULES)


def test_a_healthy_cluster_with_mig_and_a_job_that_trains(tmp_path: Path) -> None:
    """A busy GPU, a free one, one in MIG mode of which a part is free; and a job, told every minute."""
    busy, free = Device(pod="big-0", compute=0.9), Device(gpu=1, uuid="GPU-b", compute=0.0)
    split = native_split(Device(gpu=2, uuid="GPU-c"), *SPLIT)
    samples = host("{}x40") | native(busy, free) | split | owner("big-0") | owner("mid-0")
    fires(tmp_path / "gpus", samples, SILENT, every=EVERY, only=RULES)
    job = Story().phase("queued", 5).phase("initializing", 5)
    for _ in range(3):
        job.phase("training", 20, step=1).phase("checkpointing", 2, saves=True)
    times: dict[str, list[str]] = {f"{minute}m": [] for minute in range(0, 76, 5)}
    fires(tmp_path / "job", job.samples() | tensor(0.4, 80), times, every="1m", only=("training", "jobs"))


def test_exporters_that_go_away_take_their_alerts_with_them(tmp_path: Path) -> None:
    """Nobody knows any more: what is wrong with the watchers is told by others."""
    gone = {series: values.replace("x40", "x20 stale") for series, values in native(Device(pod="big-0")).items()}
    samples = host("{}x20 stale") | gone | owner("big-0")
    fires(tmp_path, samples, SILENT, every=EVERY, only=RULES)
