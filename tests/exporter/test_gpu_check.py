"""The comparison with nvidia-smi, on what it prints on an H100, and the whole program beside the simulated driver."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gpuscope.simulate.launch import environment

BENCH = Path(__file__).parents[2] / "bench"
H100 = {
    "name": "NVIDIA H100 80GB HBM3",
    "pci.bus_id": "00000000:1B:00.0",
    "compute_cap": "9.0",
    "memory.total": "81559",
    "memory.used": "73001",
    "memory.reserved": "625",
    "utilization.gpu": "97",
    "power.draw": "625.62",
    "power.max_limit": "700.00",
    "temperature.gpu": "71",
    "clocks.current.sm": "1980",
    "clocks.max.memory": "2619",
    "pstate": "P0",
    "fan.speed": "[N/A]",
    "persistence_mode": "Enabled",
    "compute_mode": "Default",
    "mig.mode.current": "Disabled",
    "ecc.errors.corrected.volatile.total": "0",
    "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded": "No",
    "clocks_event_reasons.sw_power_cap": "Not Active",
    "clocks_event_reasons_counters.sw_power_cap": "0",
    "remapped_rows.pending": "No",
    "remapped_rows.histogram.max": "640 bank(s)",
    "pcie.link.gen.current": "5",
}
# Without site: it needs neither the simulated driver nor coverage, and is started a dozen times.
FAKE = """#!{python} -IS
import json, sys
cells, uuids = json.load(open({file!r}))
fields = sys.argv[1].removeprefix("--query-gpu=uuid,").split(",")
for field in fields:
    if field in ("clocks.current.graphics", "utilization.ofa"):
        print(f'Field "{{field}}" is not a valid field to query.')
        sys.exit(2)
for uuid in uuids:
    print(", ".join([uuid, *(cells.get(field, '[N/A]') for field in fields)]))
"""


@pytest.fixture
def smi(monkeypatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("nvidia_smi")


def _compare(smi: ModuleType, machine, cells: dict[str, str], scenario: str = "h100x8") -> dict[str, object]:
    one = machine(scenario)
    one.cycle(gpus=[0])
    one.cycle(10, gpus=[0])
    uuid = one.driver.node.gpus[0].uuid
    return {found.field: found for found in smi.compare(one.samples(), uuid, "0", cells)}


def test_every_field_stands_for_one_series(smi) -> None:
    twins = smi.twins()
    assert len({twin.field for twin in twins}) == len(twins) > 80
    by_field = {twin.field: twin for twin in twins}
    assert by_field["power.limit"].labels == ("requested",)
    assert by_field["ecc.errors.uncorrected.volatile.dram"].labels == ("uncorrected", "dram")
    assert by_field["vbios_version"].fact == "vbios"


def test_what_agrees_is_the_same(smi, machine) -> None:
    found = _compare(smi, machine, H100)
    assert found.keys() == H100.keys()
    verdicts = {field: one.verdict for field, one in found.items() if one.verdict != "same"}
    assert verdicts == {"fan.speed": "both absent"}


@pytest.mark.parametrize(
    ("field", "cell", "verdict"),
    [
        ("memory.total", "81000", "DIFFERENT"),
        ("temperature.gpu", "94", "DIFFERENT"),
        ("clocks_event_reasons_counters.sw_power_cap", "90000000", "DIFFERENT"),
        ("persistence_mode", "Disabled", "DIFFERENT"),
        ("name", "NVIDIA H200", "DIFFERENT"),
        ("fan.speed", "30", "ONLY NVIDIA-SMI"),
        ("temperature.gpu", "[N/A]", "only agent"),
        ("temperature.gpu", "[Unknown Error]", "only agent"),
        ("serial", "[Not Supported]", "only agent"),
        ("mig.mode.current", "Perhaps", "word not known"),
    ],
)
def test_what_differs_is_named(smi, machine, field: str, cell: str, verdict: str) -> None:
    assert _compare(smi, machine, {field: cell})[field].verdict == verdict


def test_units_become_base_units(smi, machine) -> None:
    found = _compare(smi, machine, {"memory.total": "81000", "clocks.max.sm": "1980", "utilization.gpu": "97"})
    assert found["memory.total"].smi == f"{81000 * 1024**2:,.6g}"
    assert found["memory.total"].difference == f"+{559 * 1024**2:.4g}"
    assert (found["clocks.max.sm"].smi, found["utilization.gpu"].smi) == ("1.98e+09", "0.97")


def test_rows_are_told_apart_by_uuid(smi) -> None:
    rows = smi.parse("GPU-1, NVIDIA H100, 3\nGPU-2, NVIDIA L40S, [N/A]\n", ["name", "pstate"])
    assert rows == {
        "GPU-1": {"name": "NVIDIA H100", "pstate": "3"},
        "GPU-2": {"name": "NVIDIA L40S", "pstate": "[N/A]"},
    }
    with pytest.raises(ValueError, match="shorter"):
        smi.parse("GPU-1, NVIDIA H100\n", ["name", "pstate"])


def test_one_agreement_is_enough_for_a_value_that_moves(smi, machine) -> None:
    good = _compare(smi, machine, {"temperature.gpu": "71"})["temperature.gpu"]
    bad = _compare(smi, machine, {"temperature.gpu": "40"})["temperature.gpu"]
    assert smi.better(None, bad) is bad
    assert smi.better(bad, good) is good
    assert smi.better(good, bad) is good


def _run(tmp_path: Path, cells: dict[str, str], uuids: list[str], seconds: str = "0") -> "subprocess.CompletedProcess":
    data = tmp_path / "cells.json"
    data.write_text(json.dumps([cells, uuids]), encoding="utf-8")
    program = tmp_path / "nvidia-smi"
    program.write_text(FAKE.format(python=sys.executable, file=str(data)), encoding="utf-8")
    program.chmod(0o755)
    # What it runs of the package is measured elsewhere; measured here too, it would take twice as long.
    given = {name: value for name, value in environment("h100x8").items() if not name.startswith("COVERAGE_")}
    given["PATH"] = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, str(BENCH / "gpu_check.py"), "--seconds", seconds]
    return subprocess.run(command, capture_output=True, text=True, env=given, check=False)


def test_the_program_compares_and_skips_fields_that_this_nvidia_smi_does_not_know(tmp_path: Path, machine) -> None:
    uuid = machine("h100x8").driver.node.gpus[0].uuid
    still = {field: H100[field] for field in ("name", "memory.total", "compute_mode", "remapped_rows.histogram.max")}
    result = _run(tmp_path, still, [uuid])
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("  same\n") == 4
    assert "does not know: clocks.current.graphics, utilization.ofa\n" in result.stdout
    different = _run(tmp_path, {**still, "memory.total": "12"}, [uuid])
    assert different.returncode == 1
    assert different.stdout.count("  DIFFERENT\n") == 1


def test_a_machine_without_nvidia_smi_gets_one_line(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCH / "gpu_check.py")]
    environ = {**os.environ, "PATH": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    assert result.returncode == 2
    assert result.stderr == ("gpu-check: error: nvidia-smi is not on PATH: this needs a machine with an NVIDIA GPU\n")


def test_no_gpu_in_common_is_said(tmp_path: Path) -> None:
    result = _run(tmp_path, {"name": "NVIDIA H100 80GB HBM3"}, ["GPU-another"])
    assert result.returncode == 2
    assert result.stderr == "gpu-check: error: the agent and nvidia-smi name no GPU in common\n"
