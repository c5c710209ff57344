"""NVML programs by others show the values that the simulated driver holds, and end as they should."""

import json
import math
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from gpuscope import simulate

pytestmark = pytest.mark.foreign
BIN = Path(sys.executable).parent
PATIENCE_S = 60.0
SEED = "foreign"


def _driver(scenario: str) -> simulate.SimulatedDriver:
    """The machine that the program sees, to compare with: the same seed makes the same one."""
    return simulate.SimulatedDriver(simulate.load(scenario), seed=SEED)


def _environment(scenario: str) -> dict[str, str]:
    # Programs colour their output and measure the terminal; neither belongs into what is read here.
    plain = {"NO_COLOR": "1", "COLUMNS": "120", "LINES": "60", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}
    # Measured, they take twice as long, and run nothing of ours that other tests do not measure.
    given = simulate.environment(scenario, seed=SEED).items()
    return {**{name: value for name, value in given if not name.startswith("COVERAGE_")}, **plain}


def _run(scenario: str, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / program), *arguments]
    return subprocess.run(
        command, env=_environment(scenario), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


@contextmanager
def _exporter(scenario: str, port: int, log: Path) -> Iterator[str]:
    """A running nvitop-exporter; it is interrupted as from a keyboard, and must end by itself."""
    command = [str(BIN / "nvitop-exporter"), "--bind-address", "127.0.0.1", "--port", str(port), "--hostname", "node-1"]
    environment = _environment(scenario)
    with log.open("w") as output, subprocess.Popen(command, env=environment, stdout=output, stderr=output) as process:
        try:
            yield f"http://127.0.0.1:{port}/metrics"
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)
        finally:
            if process.poll() is None:
                process.kill()
    text = log.read_text()
    assert process.returncode == 0, text
    assert "Traceback" not in text


def _scrape(url: str) -> dict[tuple[str, str], float]:
    """(metric, device index) -> value, once all GPUs are there."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            with requests.Session() as session:
                session.trust_env = False
                text = session.get(url, timeout=5).text
        except requests.ConnectionError:
            time.sleep(0.2)
            continue
        found = {
            (sample.name, sample.labels["index"]): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if "index" in sample.labels
        }
        if {("gpu_power_usage_W", str(index)) for index in range(8)} <= set(found):
            return found
        time.sleep(0.2)
    raise AssertionError("the exporter never published all GPUs")


def test_nvitop_exporter_shows_whole_gpus(free_port: Callable[[], int], tmp_path: Path) -> None:
    with _exporter("h100x8", free_port(), tmp_path / "log") as url:
        found = _scrape(url)
    for index in map(str, range(8)):
        assert 60 < found["gpu_power_usage_W", index] <= 700
        assert found["gpu_power_limit_W", index] == 700
        assert found["gpu_memory_total_MiB", index] == pytest.approx(81559, abs=1)
        assert 30 < found["gpu_temperature_C", index] < 84
        assert 0 <= found["gpu_utilization_Percentage", index] <= 100
    assert found["gpu_memory_used_MiB", "0"] > 70_000


def test_nvitop_exporter_shows_mig_devices_and_no_utilization_of_them(
    free_port: Callable[[], int], tmp_path: Path
) -> None:
    with _exporter("h100-mig", free_port(), tmp_path / "log") as url:
        found = _scrape(url)
    assert [index for name, index in found if name == "gpu_memory_total_MiB" and index.startswith("4:")] == [
        f"4:{number}" for number in range(7)
    ]
    assert found["gpu_memory_total_MiB", "5:1"] == pytest.approx(40 * 1024 * 0.985, abs=1)
    assert math.isnan(found["gpu_utilization_Percentage", "4"])
    assert math.isnan(found["gpu_utilization_Percentage", "4:0"])
    assert found["gpu_utilization_Percentage", "0"] <= 100
    text = (tmp_path / "log").read_text()
    for instance in _driver("h100-mig").node.gpus[5].mig:
        assert instance.uuid in text


@pytest.mark.parametrize("scenario", ["h100x8", "h100-mig", "gb200", "l40s"])
def test_gpustat_shows_what_each_gpu_holds(scenario: str) -> None:
    result = _run(scenario, "gpustat", "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    driver = _driver(scenario)
    assert answer["driver_version"] == driver.scenario.driver["version"]
    for shown, gpu in zip(answer["gpus"], driver.node.gpus, strict=True):
        assert (shown["name"], shown["uuid"]) == (gpu.model.name, gpu.uuid)
        assert shown["memory.total"] == gpu.model.memory >> 20
        assert shown["enforced.power.limit"] == gpu.model.power_limit
        assert gpu.model.power_idle - 1 <= shown["power.draw"] <= gpu.model.power_limit
        assert (shown["utilization.gpu"] is None) == gpu.mig_mode
        assert 30 < shown["temperature.gpu"] < gpu.model.slowdown - 3


def test_nvitop_draws_driver_gpus_and_instances() -> None:
    result = _run("h100-mig", "nvitop", "--once", "--ascii")
    assert result.returncode == 0, result.stderr
    assert re.search(r"Driver Version: 595\.45\.04 +CUDA Driver Version: 13\.2", result.stdout)
    assert result.stdout.count("H100 80GB HBM3") == 8
    for name in ("1g.10gb @ GI/CI: 7/0", "1g.10gb @ GI/CI:13/0", "4g.40gb @ GI/CI: 2/0", "1c.3g.40gb @ GI/CI: 1/0"):
        assert name in result.stdout
    assert result.stdout.count("/ 700W") == 8


@pytest.mark.parametrize(("program", "flags"), [("gpustat", ()), ("nvitop", ("--once",))])
def test_a_machine_without_a_driver_is_told(program: str, flags: tuple[str, ...]) -> None:
    result = _run("no-driver", program, *flags)
    assert result.returncode != 0
    assert re.search(r"NVML|NVIDIA", result.stdout + result.stderr)
