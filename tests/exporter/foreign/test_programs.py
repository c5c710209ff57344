"""Other people's NVML programs run unmodified on the simulated driver, which keeps the simulator honest."""

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gpuscope import simulate
from gpuscope.simulate.launch import environment

BIN = Path(sys.executable).parent
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
pytestmark = pytest.mark.foreign


def _uuids(scenario: str) -> list[str]:
    driver = simulate.SimulatedDriver(simulate.load(scenario), clock=simulate.ManualClock())
    return [gpu.uuid for gpu in driver.node.gpus]


def _environment(scenario: str) -> dict[str, str]:
    # Measured, these programs take twice as long, and run nothing of ours that other tests do not measure.
    return {name: value for name, value in environment(scenario).items() if not name.startswith("COVERAGE_")}


def _names(scenario: str) -> list[set[str]]:
    driver = simulate.SimulatedDriver(simulate.load(scenario), clock=simulate.ManualClock())
    return [{gpu.uuid, *(device.uuid for device in gpu.mig)} for gpu in driver.node.gpus]


def _scrape(url: str, uuids: list[set[str]]) -> str:
    """Waits until every GPU is there, by its own UUID or by one of its MIG devices'."""
    end = time.monotonic() + 60
    while True:
        try:
            text = OPENER.open(url, timeout=10).read().decode()
        except OSError:
            text = ""
        if "gpu_power_usage_W{" in text and all(any(uuid in text for uuid in names) for names in uuids):
            return text
        assert time.monotonic() < end, "nvitop-exporter never published every GPU"
        time.sleep(0.5)


@pytest.mark.parametrize("scenario", ["h100x8", "h100-mig"])
def test_nvitop_exporter_publishes_the_simulated_gpus(scenario: str, free_port) -> None:
    port = free_port()
    process = subprocess.Popen(
        [BIN / "nvitop-exporter", "--bind-address", "127.0.0.1", "--port", str(port)],
        env=_environment(scenario),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        text = _scrape(f"http://127.0.0.1:{port}/metrics", _names(scenario))
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=20)
    assert "FunctionNotFound" not in errors
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    power = [sample.value for sample in samples if "power_usage" in sample.name and sample.value == sample.value]
    assert power
    assert all(30 < value < 800 for value in power)


@pytest.mark.parametrize("scenario", ["h100x8", "h100-mig", "a100-mig", "l40s", "gb200"])
def test_gpustat_lists_the_simulated_gpus(scenario: str) -> None:
    result = subprocess.run(
        [BIN / "gpustat", "--json"], env=_environment(scenario), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    gpus = json.loads(result.stdout)["gpus"]
    assert [gpu["uuid"] for gpu in gpus] == _uuids(scenario)
    assert all(0 <= gpu["memory.used"] <= gpu["memory.total"] for gpu in gpus)
    assert all(20 < gpu["temperature.gpu"] < 100 for gpu in gpus)


def test_nvitop_draws_its_table() -> None:
    result = subprocess.run(
        [BIN / "nvitop", "--once", "--ascii"], env=_environment("h100-mig"), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "H100 80GB HBM3" in result.stdout
    assert "1g.10gb" in result.stdout
