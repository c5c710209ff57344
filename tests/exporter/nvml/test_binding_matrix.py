"""The door works with every release of nvidia-ml-py since 12.535, and gives the same values with each."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CACHE = ROOT / ".cache/bindings"
OLDEST, NEWEST = "12.535.161", "13.615.71"
VERSIONS = (
    OLDEST,
    "12.550.89",
    "12.560.30",
    "12.570.172",
    "12.575.51",
    "13.580.65",
    "13.580.82",
    "13.590.48",
    "13.610.43",
    NEWEST,
)
SCENARIOS = ("h100-mig", "gb200", "driver-580-65", "driver-580-82", "a100-mig")
# Calls that old bindings do not have; their metrics are absent there, and nothing else.
YOUNG = {
    "gpuscope_gpu_temperature_headroom_celsius",
    "gpuscope_gpu_fan_speed_rpm",
    "gpuscope_gpu_repair_pending",
    "gpuscope_gpu_memory_unrepairable",
    "gpuscope_gpu_fabric_info",
    "gpuscope_gpu_fabric_state",
    "gpuscope_gpu_fabric_status",
    "gpuscope_gpu_fabric_health",
    "gpuscope_gpu_fabric_misconfiguration",
    "gpuscope_gpu_fabric_overall_health",
}
PROGRAM = """
import json, sys, pynvml
from gpuscope import simulate
from gpuscope.collectors import COLLECTORS
from gpuscope.nvml.gpu import open_gpu
from gpuscope.nvml.ledger import Ledger
from gpuscope.nvml.library import Session
from gpuscope.sampling.sampler import TIERS, GpuSampler

def series(scenario):
    clock = simulate.ManualClock()
    driver = simulate.SimulatedDriver(simulate.load(scenario), clock=clock)
    session, ledger = Session(driver.open), Ledger()
    session.start()
    found = {}
    for index in range(session.count()):
        sampler = GpuSampler(open_gpu(session, index, ledger, clock.monotonic), COLLECTORS)
        sampler.refresh_mig()
        sampler.cycle(TIERS)
        clock.advance(10)
        sampler.cycle(TIERS)
        for metric, labels, value in sampler.samples():
            # An old binding does not know every fact; the labels of the info series are then empty.
            shown = labels[:2] if metric.name == "gpuscope_gpu_info" else labels
            found[" ".join((metric.name, *shown))] = value
        assert all(run.success for run in sampler.runs.values()), (scenario, sampler.runs)
        sampler.gpu.close_windows()
    session.stop()
    driver.close()
    assert driver.callback_errors == [], (scenario, driver.callback_errors)
    assert not ledger.errors, (scenario, ledger.errors)
    return found

print(json.dumps({"file": pynvml.__file__, "series": {name: series(name) for name in sys.argv[1:]}}))
"""


def _binding(version: str) -> Path:
    folder = CACHE / version
    if not (folder / "pynvml.py").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
        subprocess.run([*command, f"nvidia-ml-py=={version}"], check=True)
    return folder


Series = Callable[[str], dict[str, dict[str, float]]]


@pytest.fixture(scope="session")
def series(tmp_path_factory: pytest.TempPathFactory) -> Series:
    """Series and values of each scenario by binding. One process per binding says them all, once for all workers."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    @cache
    def answers(version: str) -> dict[str, dict[str, float]]:
        file = shared / f"binding-{version}.json"
        with file.open("a+", encoding="utf-8") as said:
            fcntl.flock(said, fcntl.LOCK_EX)
            said.seek(0)
            text = said.read()
            if not text:
                text = _said_by(version)
                said.write(text)
                said.flush()
        return json.loads(text)  # type: ignore[no-any-return]

    return answers


def _said_by(version: str) -> str:
    folder = _binding(version)
    path = os.pathsep.join([str(folder), str(ROOT / "exporter")])
    # Other tests measure what is covered here; ten more measurements of the same lines would double the time.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *SCENARIOS],
        env={**kept, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["file"].startswith(str(folder)), "another binding was used"
    return json.dumps(answer["series"])


@pytest.mark.matrix
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_binding_gives_the_same_values_as_the_newest(series: Series, version: str, scenario: str) -> None:
    newest, this = series(NEWEST)[scenario], series(version)[scenario]
    missing = {line.split()[0] for line in newest.keys() - this.keys()}
    assert missing <= YOUNG
    assert this.keys() <= newest.keys()
    assert {line: this[line] for line in this} == {line: newest[line] for line in this}


@pytest.mark.matrix
def test_the_moved_fields_do_not_follow_the_binding(series: Series) -> None:
    """A binding of one numbering on a driver of the other reads throttle time and nothing else."""
    for version in ("12.575.51", "13.580.65", "13.580.82", NEWEST):
        for scenario in ("driver-580-65", "driver-580-82"):
            found = {
                line: value
                for line, value in series(version)[scenario].items()
                if line.startswith("gpuscope_gpu_clock_event_seconds_total") and line.endswith(" hw_thermal")
            }
            assert len(found) == 8
            assert 37e-9 not in found.values(), "a power-smoothing setting was read as throttle time"
