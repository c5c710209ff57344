"""What each scenario's machine publishes, held against golden files and the rules of exposition.

``UPDATE_GOLDEN=1 pytest tests/exporter/test_golden.py`` writes them anew; read the difference before committing it.
"""

import math
import os
import re
import time
from pathlib import Path

import pytest

from gpuscope import simulate
from gpuscope.catalogue import DEFAULT_OFF, METRICS, SUBJECTS, attribution
from gpuscope.catalogue.metric import Tier
from gpuscope.catalogue.processes import VISIBILITY_FAILURE
from gpuscope.faults.kernel_log import KernelLog
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.xids import XidCatalogue
from gpuscope.nvml.events import NvmlEvent
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.supervisor import Supervisor

GOLDEN = Path(__file__).parent / "golden"
NODES = [one.name for one in simulate.scenarios() if one.kind == "node"]
FAULTS = [one.name for one in simulate.scenarios() if one.kind == "fault"]
# These stop the cycles of a machine without threads; test_supervisor.py runs them.
THREADED = {"call-wedged", "driver-reloaded", "no-driver", "gpu-lost"}
SHOWN = {
    "h100x8": (0, 6, 7),
    "h100-mig": (0, 3, 4, 7),
    "h100-pretrain": (0,),
    "gb200": (0,),
    "a100-mig": (0, 2),
    "l40s": (0, 3, 4, 5),
}
SENTINELS = re.compile(r" (2147483632|2147483634|9223372036854775\d{3}|1\.40737488355\d+e\+14|4294967295|NaN|[+-]Inf)$")


def _shown(scenario: str) -> tuple[int, ...]:
    """GPUs that stand for all: one of each plan, and those that something happens to."""
    text = next(one.text for one in simulate.scenarios() if one.name == scenario)
    base = re.search(r"^extends: (\S+)", text, re.MULTILINE)
    named = {int(number) for number in re.findall(r"gpu: (\d+)", text)}
    return tuple(sorted(named)) or SHOWN[base[1] if base else scenario][:2]


def _lines(text: str, gpus: tuple[int, ...]) -> str:
    keep = tuple(f'{{gpu="{gpu}",' for gpu in gpus)
    lines = [line for line in text.splitlines() if line.startswith("#") or any(part in line for part in keep)]
    used = {line.split("{")[0] for line in lines if not line.startswith("#")}
    return "\n".join(line for line in lines if not line.startswith("#") or line.split()[2] in used) + "\n"


@pytest.mark.parametrize("scenario", [*NODES, *(name for name in FAULTS if name not in THREADED)])
def test_output_is_golden_and_clean(machine, promtool, scenario: str) -> None:
    everything = scenario in NODES
    node = machine(scenario, collectors=frozenset(SUBJECTS if everything else set(SUBJECTS) - DEFAULT_OFF))
    gpus = SHOWN[scenario] if everything else _shown(scenario)
    node.cycle(gpus=list(gpus))
    for _ in range(9):
        node.cycle(5, gpus=list(gpus))
    text = _lines(node.text(), gpus)
    assert promtool(text) == ""
    series = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(series) == len(set(series))
    assert [line for line in text.splitlines() if SENTINELS.search(line)] == []
    path = GOLDEN / f"{scenario}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_scenario_has_a_golden_file_or_a_threaded_test() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} | THREADED == {*NODES, *FAULTS}


def test_every_metric_of_the_catalogue_is_emitted_somewhere(tmp_path: Path, promtool) -> None:
    seen: set[str] = set()
    for scenario in [
        "h100-mig+xid-burst+mig-reconfigured",
        "gb200",
        "l40s",
        "a100-mig+gpu-lost",
        "blank-sentinels",
        "no-driver",
    ]:
        text = _run(scenario, tmp_path / scenario.replace("+", "-"))
        assert promtool(text) == ""
        series = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
        assert len(series) == len(set(series))
        for line in text.splitlines():
            if not line.startswith("#"):
                assert math.isfinite(float(line.rsplit(" ", 1)[1])), line
                seen.add(re.split(r"[{ ]", line)[0])
    # These come from the agent that holds the sampler, see tests/exporter/agent.
    # The sources of file systems stand beside the GPUs: tests/exporter/filesystems holds their metrics together.
    prefixes = ("gpuscope_config_", "gpuscope_filesystem_", "gpuscope_lustre_")
    owned_elsewhere = {metric.name for metric in METRICS if metric.name.startswith(prefixes)}
    # Holders need kubelet and files of the machine: tests/exporter/agent/test_holders.py holds these together.
    owned_elsewhere |= {metric.name for metric in (*attribution.METRICS, VISIBILITY_FAILURE)}
    assert {metric.name for metric in METRICS} - seen - owned_elsewhere == set()


def _run(scenario: str, folder: Path) -> str:
    """All series that the real sampler publishes over a short life, faults included."""
    folder.mkdir()
    driver = simulate.SimulatedDriver(
        simulate.load(scenario), clock=simulate.RealClock(speed=20), kernel_log=folder / "kmsg"
    )
    driver.write_procfs(folder)
    ledger = FaultLedger(XidCatalogue.load())
    log = KernelLog(folder / "kmsg", ledger, procfs=folder)
    ledger.companions.append(log.samples)
    options = SamplingOptions(
        node="n",
        collectors=frozenset(SUBJECTS),
        intervals={Tier.FAST: 0.3, Tier.ACTIVITY: 0.3, Tier.PROCESSES: 0.5, Tier.SLOW: 0.5},
        procfs=folder,
        version="test",
    )

    def deliver(event: NvmlEvent) -> None:
        ledger.nvml_event(event)

    supervisor = Supervisor(options, ledger, deliver, driver.open)
    log.start()
    supervisor.start()
    try:
        wanted = _wanted(scenario)
        deadline = time.monotonic() + 60
        lines: dict[str, str] = {}
        while time.monotonic() < deadline:
            time.sleep(0.5)
            text = supervisor.snapshot().exposition.body().decode()
            lines.update({line.rsplit(" ", 1)[0]: line for line in text.splitlines() if not line.startswith("#")})
            missing = [part for part in wanted if not any(part in line for line in lines.values())]
            if not missing:
                return "\n".join(_families(text, lines)) + "\n"
        raise AssertionError(f"never seen: {missing}")
    finally:
        supervisor.stop()
        log.stop()
        driver.close()
        assert driver.callback_errors == []


def _wanted(scenario: str) -> list[str]:
    """Series that only come when the story has been told."""
    if scenario == "no-driver":
        return ["gpuscope_driver_unavailable_info"]
    wanted = ["gpuscope_ready 1"]
    if "l40s" in scenario:
        wanted += ["gpuscope_gpu_vgpu_instances", "gpuscope_gpu_vgpu_license", "gpuscope_gpu_retired_pages_pending"]
    if "xid-burst" in scenario:
        wanted += ["gpuscope_nvswitch_sxid", 'xid="48"', "gpuscope_mig_sm_cycles_total", 'type="poison"']
    if "gb200" in scenario:
        wanted += ["gpuscope_gpu_c2c_bytes_total", "gpuscope_gpu_nvlink_link_fec"]
    if "gpu-lost" in scenario:
        wanted += ['reason="lost"', "gpuscope_cycles_skipped_total"]
    return wanted


def _families(text: str, lines: dict[str, str]) -> list[str]:
    """The union of all scrapes, grouped by family, with the headers of the last one where it has them."""
    headers: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            headers.setdefault(line.split()[2], []).append(line)
    by_name: dict[str, list[str]] = {}
    for series, line in lines.items():
        by_name.setdefault(series.split("{")[0], []).append(line)
    catalogue = {metric.name: metric for metric in METRICS}
    for name in by_name:
        if name not in headers and name in catalogue:
            kind = "counter" if catalogue[name].kind == "counter" else "gauge"
            headers[name] = [f"# HELP {name} {catalogue[name].help}", f"# TYPE {name} {kind}"]
    return [line for name in by_name for line in [*headers.get(name, []), *by_name[name]]]
