"""The other names and the holders' labels as settings of a running agent, and a real Prometheus that scrapes them."""

import csv
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuscope.demo.programs import find
from gpuscope.demo.prometheus import Prometheus, configuration
from gpuscope.errors import SourceError

ROOT = Path(__file__).parents[3]
with (ROOT / "tests/exporter/compat/default_counters.csv").open(encoding="utf-8") as file:
    NAMES = {row["field"] for row in csv.DictReader(file) if row["type"] != "label"}


@pytest.fixture
def prometheus(tmp_path: Path, free_port: Callable[[], int]) -> Iterator[Callable[[str], Prometheus]]:
    """Starts a Prometheus that scrapes ``host:port``."""
    started: list[subprocess.Popen[bytes]] = []

    def start(agent: str) -> Prometheus:
        address = f"127.0.0.1:{free_port()}"
        (tmp_path / "prometheus.yml").write_text(configuration({"node-a": agent}, None, 1.0), encoding="utf-8")
        program = find("prometheus", ROOT / ".cache")
        with (tmp_path / "prometheus.log").open("wb") as log:
            started.append(
                subprocess.Popen(
                    [
                        str(program),
                        f"--config.file={tmp_path / 'prometheus.yml'}",
                        f"--storage.tsdb.path={tmp_path / 'data'}",
                        f"--web.listen-address={address}",
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )
        return Prometheus(address)

    yield start
    for process in started:
        process.kill()
        process.wait(timeout=30)


def _asked(server: Prometheus, expression: str) -> list[object]:
    try:
        return list(server.query(expression))
    except SourceError:
        return []


def test_prometheus_takes_the_series_under_their_names(agent, prometheus, wait_for) -> None:
    one = agent("--compat", "dcgm", "--interval.activity", "500ms", simulate="h100x8")
    server = prometheus(one.url.removeprefix("http://"))
    query = 'count by (__name__) ({__name__=~"DCGM_FI_.*"})'
    wait_for(lambda: {point.name for point in _asked(server, query)} == NAMES, "all 25 names in Prometheus")
    assert [point.value for point in server.query("up")] == [1.0]
    (energy,) = server.query('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0"}')
    assert energy.value > 0
    assert energy.labels["modelName"] == "NVIDIA H100 80GB HBM3"


def test_a_reload_switches_the_names(agent, tmp_path: Path, wait_for) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("compat: dcgm-only\n", encoding="utf-8")
    one = agent("--config", str(settings))

    def present(prefix: str) -> bool:
        return any(series.startswith(prefix) for series in one.metrics())

    wait_for(lambda: present("DCGM_FI_DEV_GPU_TEMP{"), "dcgm-exporter's names")
    assert not present("gpuscope_gpu_power_watts{")
    assert one.get("/api/v1/gpus").json()["gpus"][0]["power_watts"] is not None, "the JSON API has all readings"
    settings.write_text("compat: off\npod-labels: exclusive\n", encoding="utf-8")
    one.send(signal.SIGHUP)
    wait_for(lambda: present("gpuscope_gpu_power_watts{") and not present("DCGM_"), "our names only")


def test_switched_off_attribution_takes_the_holders_from_everywhere(agent, tmp_path: Path, wait_for) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("compat: dcgm\npod-labels: exclusive\n", encoding="utf-8")
    one = agent("--config", str(settings), simulate="h100x8")

    def held(prefix: str) -> bool:
        return any(series.startswith(prefix) and ',pod="' in series for series in one.metrics())

    wait_for(lambda: held("DCGM_FI_DEV_GPU_TEMP{") and held("gpuscope_gpu_power_watts{"), "holders")
    settings.write_text("compat: dcgm\npod-labels: exclusive\ncollector: {attribution: false}\n", encoding="utf-8")
    one.send(signal.SIGHUP)
    wait_for(lambda: not held("DCGM_FI_DEV_GPU_TEMP{") and not held("gpuscope_gpu_power_watts{"), "no holders")
    assert not held("")


@pytest.mark.parametrize(("flag", "value"), [("--compat", "DCGM"), ("--compat", ""), ("--pod-labels", "all")])
def test_other_values_are_refused(command, flag: str, value: str, tmp_path: Path) -> None:
    process = command(flag, value, "--check-config")
    try:
        assert process.wait(timeout=60) == 2
    finally:
        process.kill()
    complaint = (tmp_path / "stderr").read_text(encoding="utf-8")
    assert flag in complaint
    assert f"{value!r} is not one of off, " in complaint
