"""Programs that know nothing of the simulation run on it: in this process and in children."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpuscope import simulate

PROGRAM = """
import json, sys
import pynvml
pynvml.nvmlInit()
names = [pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(i)) for i in range(pynvml.nvmlDeviceGetCount())]
print(json.dumps({"names": names, "version": pynvml.nvmlSystemGetDriverVersion(),
                  "uuid": pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(0))}))
"""


@pytest.fixture
def loader():
    real = ctypes.CDLL
    yield
    simulate.uninstall()
    assert ctypes.CDLL is real


def _run(environment: dict[str, str], program: str = PROGRAM, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False, **options  # type: ignore[call-overload]
    )  # fmt: skip


def test_one_library_is_replaced_and_others_load_as_ever(loader) -> None:
    driver = simulate.SimulatedDriver(simulate.load("h100x8"))
    simulate.install(driver)
    assert ctypes.CDLL("libnvidia-ml.so.1") is driver
    assert ctypes.CDLL("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1") is driver
    assert ctypes.cdll.LoadLibrary("libnvidia-ml.so.1") is driver
    libc = ctypes.CDLL("libc.so.6")
    assert libc.abs(-3) == 3
    assert ctypes.CDLL(None).getpid() == os.getpid()
    assert isinstance(libc, ctypes.CDLL)
    with pytest.raises(OSError, match="libnowhere"):
        ctypes.CDLL("libnowhere.so.1")
    simulate.uninstall()
    assert ctypes.CDLL("libc.so.6").abs(-3) == 3


def test_a_machine_without_a_driver_has_no_library(loader) -> None:
    simulate.install(simulate.SimulatedDriver(simulate.load("no-driver"), clock=simulate.ManualClock()))
    with pytest.raises(OSError, match="cannot open shared object file"):
        ctypes.CDLL("libnvidia-ml.so.1")


def test_a_child_finds_the_machine_that_was_asked_for() -> None:
    result = _run(simulate.environment("gb200+thermal", seed="rack-9"))
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert answer["names"] == ["NVIDIA GB200"] * 4
    assert answer["uuid"] == simulate.SimulatedDriver(simulate.load("gb200"), seed="rack-9").node.gpus[0].uuid


def test_a_child_in_another_folder_finds_a_scenario_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text("gpus: [{model: v100}]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    environments = [simulate.environment("mine.yaml"), simulate.environment("h100x8+thermal")]
    for environment, count in zip(environments, (1, 8), strict=True):
        result = _run(environment, cwd="/")
        assert len(json.loads(result.stdout)["names"]) == count, result.stderr


def test_time_in_a_child_runs_as_fast_as_asked() -> None:
    program = """
import time, pynvml
pynvml.nvmlInit()
h = pynvml.nvmlDeviceGetHandleByIndex(0)
before = pynvml.nvmlDeviceGetTotalEnergyConsumption(h)
time.sleep(0.2)
print((pynvml.nvmlDeviceGetTotalEnergyConsumption(h) - before) / 1000)
"""
    joules = float(_run(simulate.environment("h100x8", speed=500), program).stdout)
    # 200 simulated milliseconds would be at most 140 J.
    assert joules > 68 * 90


def test_a_hidden_sitecustomize_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hidden ran')\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    result = _run(simulate.environment("h100x8"))
    assert result.stdout.startswith("hidden ran\n{")


def test_without_the_switch_the_hook_does_nothing() -> None:
    environment = simulate.environment("h100x8")
    del environment["GPUSCOPE_SIMULATE_HOOK"]
    result = _run(environment, "import sys; print('gpuscope' in sys.modules)")
    assert (result.stdout, result.stderr) == ("False\n", "")


def test_the_hook_imports_no_binding_itself() -> None:
    result = _run(simulate.environment("h100x8"), "import sys; print('pynvml' in sys.modules)")
    assert (result.stdout, result.stderr) == ("False\n", "")


def test_a_bad_scenario_ends_the_program_with_one_line() -> None:
    environment = {**simulate.environment("h100x8"), "GPUSCOPE_SIMULATE": "h100x9"}
    result = _run(environment)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("gpuscope simulate: scenario 'h100x9': neither a shipped scenario nor a file")
    assert result.stderr.count("\n") == 1


def test_a_program_of_an_environment_without_gpuscope_finds_it(tmp_path: Path) -> None:
    site = Path(pytest.__file__).parents[1]
    for name in ("yaml", "_yaml", "pynvml.py"):
        if (site / name).exists():
            (tmp_path / name).symlink_to(site / name)
    environment = simulate.environment("h100x8")
    environment["PYTHONPATH"] += os.pathsep + str(tmp_path)
    # -S leaves sitecustomize out: it is run here, without this environment's packages.
    hook = Path(simulate.__file__).parent / "hook/sitecustomize.py"
    hide = "import runpy, sys; sys.path = [entry for entry in sys.path if 'site-packages' not in entry]"
    start = f"{hide}; runpy.run_path({str(hook)!r})\n"
    command = [sys.executable, "-S", "-c", start + PROGRAM]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert len(json.loads(result.stdout)["names"]) == 8, result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_call_is_not_lost(number: signal.Signals) -> None:
    program = """
import signal, sys, pynvml
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
signal.signal(signal.SIGINT, signal.default_int_handler)
pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(0)
try:
    print("ready", flush=True)
    while True:
        try:
            pynvml.nvmlDeviceGetPowerUsage(handle)
        except pynvml.NVMLError:
            pass  # the call that the signal hit may fail
except KeyboardInterrupt:
    print("interrupted")
finally:
    print("ended")
"""
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", program], env=simulate.environment("h100x8"), stdout=subprocess.PIPE, text=True
        ) as child:
            try:
                assert child.stdout is not None
                assert child.stdout.readline() == "ready\n"
                child.send_signal(number)
                rest, _ = child.communicate(timeout=60)
            finally:
                child.kill()
        assert rest == ("interrupted\nended\n" if number == signal.SIGINT else "ended\n")
        assert child.returncode == 0
