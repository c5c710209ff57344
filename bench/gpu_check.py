"""On a machine with an NVIDIA GPU: the agent's readings against those of nvidia-smi, for a minute.

Every metric of the catalogue that names an nvidia-smi field is compared, several times, on every GPU. Moving values
are compared with the nearest of the agent's readings around the same moment.

    python bench/gpu_check.py [--seconds 60]
"""

import argparse
import csv
import io
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpuscope.catalogue import METRICS
from gpuscope.catalogue.metric import Kind, Level, Metric, Sample, Tier, Unit
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.xids import XidCatalogue
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.supervisor import Supervisor

SCALES = {Unit.BYTES: 1 << 20, Unit.HERTZ: 1e6, Unit.RATIO: 0.01}
"""From nvidia-smi's units (MiB, MHz, percent) to base units; watts and degrees are the same."""
LABELS = {
    "power.draw": (),
    "temperature.gpu": ("gpu",),
    "enforced.power.limit": ("enforced",),
    "clocks.current.sm": ("sm",),
    "clocks.max.sm": ("sm",),
    "ecc.errors.uncorrected.volatile.total": ("uncorrected", "total"),
    "ecc.errors.uncorrected.aggregate.total": ("uncorrected",),
    "remapped_rows.uncorrectable": ("uncorrected",),
    "remapped_rows.histogram.max": ("max",),
    "retired_pages.single_bit_ecc.count": ("single_bit",),
    "pcie.link.gen.current": ("current",),
    "pcie.link.width.current": ("current",),
    "fan.speed": ("0",),
}
"""Which series of a metric the nvidia-smi field shows."""
WORDS = {"Enabled": 1.0, "Disabled": 0.0, "Yes": 1.0, "No": 0.0}
TOLERANCE = {Unit.WATTS: 0.15, Unit.CELSIUS: 0.05, Unit.HERTZ: 0.15, Unit.RATIO: 0.25, Unit.BYTES: 0.02}
"""Accepted relative difference of moving values; everything else must be equal."""


@dataclass(frozen=True)
class Difference:
    """One comparison: ``agent`` and ``smi`` in base units, ``None`` where one of them has no value."""

    field: str
    metric: str
    gpu: str
    agent: float | None
    smi: float | None
    verdict: str


def comparable() -> dict[str, Metric]:
    """nvidia-smi field -> the metric that shows the same number."""
    kinds = {Kind.GAUGE, Kind.COUNTER}
    return {one.smi: one for one in METRICS if one.smi and one.level is Level.GPU and one.kind in kinds}


def parse_number(text: str, metric: Metric) -> float | None:
    """A cell of nvidia-smi in base units; ``None`` for [N/A] and its kin."""
    text = text.strip()
    if text in WORDS:
        return WORDS[text]
    try:
        return float(text.removeprefix("P")) * SCALES.get(metric.unit, 1.0)
    except ValueError:
        return None


def parse_smi(text: str, fields: list[str]) -> dict[str, dict[str, str]]:
    """uuid -> field -> cell, of ``--format=csv,noheader,nounits`` with the uuid first."""
    rows = csv.reader(io.StringIO(text), skipinitialspace=True)
    return {row[0]: dict(zip(fields, row[1:], strict=True)) for row in rows if row}


def compare(samples: Iterable[Sample], uuid: str, gpu: str, cells: dict[str, str]) -> list[Difference]:
    """Compares one GPU's readings with one row of nvidia-smi."""
    values = {
        (sample.metric.name, sample.labels[2:]): sample.value for sample in samples if sample.labels[1:2] == (uuid,)
    }
    found = []
    for field, metric in comparable().items():
        if field not in cells:
            continue
        agent = values.get((metric.name, LABELS.get(field, ())))
        smi = parse_number(cells[field], metric)
        found.append(Difference(field, metric.name, gpu, agent, smi, verdict(agent, smi, metric)))
    return found


def verdict(agent: float | None, smi: float | None, metric: Metric) -> str:
    """``same``, ``both absent``, ``only agent``, ``only nvidia-smi`` or ``DIFFERENT``."""
    if agent is None or smi is None:
        return "both absent" if agent is smi else "only agent" if smi is None else "only nvidia-smi"
    moving = TOLERANCE.get(metric.unit, 0.0) if metric.tier is not Tier.SLOW else 0.001
    near = abs(agent - smi) <= max(
        moving * max(abs(agent), abs(smi)), {Unit.RATIO: 0.05, Unit.CELSIUS: 2.0}.get(metric.unit, 0)
    )
    return "same" if near else "DIFFERENT"


def query(program: str, fields: list[str]) -> tuple[str, list[str]]:
    """Asks nvidia-smi for the fields that it knows."""
    known = subprocess.run([program, "--help-query-gpu"], capture_output=True, text=True, check=False).stdout
    usable = [field for field in fields if f'"{field}"' in known] or fields
    command = [program, f"--query-gpu=uuid,{','.join(usable)}", "--format=csv,noheader,nounits"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout, usable


def report(worst: dict[tuple[str, str], Difference], rounds: int) -> int:
    """Prints the table; returns the number of true differences."""
    print(f"\n{'GPU':<4}{'nvidia-smi field':<52}{'agent':>18}{'nvidia-smi':>18}  verdict")
    for (gpu, field), one in sorted(worst.items()):
        cells = ("–" if value is None else f"{value:,.6g}" for value in (one.agent, one.smi))
        print(f"{gpu:<4}{field:<52}{next(cells):>18}{next(cells):>18}  {one.verdict}")
    different = sum(one.verdict in {"DIFFERENT", "only nvidia-smi"} for one in worst.values())
    print(f"\n{len(worst)} readings compared {rounds} times: {different} differ in every round")
    return different


def main(seconds: float) -> int:
    program = shutil.which("nvidia-smi")
    if program is None:
        print("gpu-check: error: nvidia-smi is not on PATH: this needs a machine with an NVIDIA GPU", file=sys.stderr)
        return 2
    from gpuscope.catalogue import SUBJECTS

    options = SamplingOptions(
        node="gpu-check",
        collectors=frozenset(SUBJECTS),
        intervals={Tier.FAST: 1.0, Tier.ACTIVITY: 2.0, Tier.PROCESSES: 5.0, Tier.SLOW: 5.0},
        procfs=Path("/proc"),
    )
    ledger = FaultLedger(XidCatalogue.load())
    supervisor = Supervisor(options, ledger, ledger.nvml_event)
    supervisor.start()
    started = time.monotonic()
    best: dict[tuple[str, str], Difference] = {}
    rounds = 0
    try:
        while not supervisor.snapshot().ready:
            if time.monotonic() - started > 30:
                print(
                    f"gpu-check: error: the agent found no GPU: {supervisor.snapshot().driver.message}", file=sys.stderr
                )
                return 2
            time.sleep(0.2)
        while time.monotonic() - started < seconds:
            text, fields = query(program, list(comparable()))
            snapshot = supervisor.snapshot()
            rounds += 1
            for uuid, cells in parse_smi(text, fields).items():
                for gpu in snapshot.gpus:
                    if gpu.identity.uuid == uuid:
                        for one in compare(gpu.samples, uuid, str(gpu.identity.index), cells):
                            key = (one.gpu, one.field)
                            if key not in best or best[key].verdict in {"DIFFERENT", "only nvidia-smi", "only agent"}:
                                best[key] = one
            print(f"· round {rounds}", flush=True)
            time.sleep(2)
        unsupported = [sample for sample in snapshot.node_samples if sample.metric.name == "gpuscope_nvml_unsupported"]
        print("not supported here: " + ", ".join(sample.labels[0] for sample in unsupported))
        errors = [sample for sample in snapshot.node_samples if sample.metric.name == "gpuscope_nvml_errors_total"]
        print("errors: " + (", ".join(f"{sample.labels} {sample.value:g}" for sample in errors) or "none"))
        return min(1, report(best, rounds))
    finally:
        supervisor.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    sys.exit(main(parser.parse_args().seconds))
