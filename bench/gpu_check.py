"""On a machine with an NVIDIA GPU: the agent's readings against those of nvidia-smi, for a minute.

Every metric of the catalogue that names a field of nvidia-smi is compared, again and again, on every GPU. Values move
between two looks, so that a field passes when it agreed once within the tolerance. Ends with 0 when all agree, 1 when
something differs, 2 when there is no GPU.

    python bench/gpu_check.py [--seconds 60]
"""

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nvidia_smi

from gpuscope.catalogue import SUBJECTS
from gpuscope.catalogue.metric import Tier
from gpuscope.faults.ledger import FaultLedger
from gpuscope.faults.xids import XidCatalogue
from gpuscope.sampling.options import SamplingOptions
from gpuscope.sampling.supervisor import Supervisor

READY_S = 30.0
INTERVALS = {Tier.FAST: 1.0, Tier.ACTIVITY: 2.0, Tier.PROCESSES: 5.0, Tier.SLOW: 5.0}


def query(program: str, fields: list[str]) -> tuple[str, list[str]]:
    """Asks nvidia-smi for the fields that it knows; older ones know fewer.

    Raises:
        RuntimeError: it answers none.
    """
    while fields:
        command = [program, f"--query-gpu=uuid,{','.join(fields)}", "--format=csv,noheader,nounits"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode == 0:
            return result.stdout, fields
        field = nvidia_smi.refused(result.stdout + result.stderr)
        if field not in fields:
            raise RuntimeError((result.stdout + result.stderr).strip() or f"exit code {result.returncode}")
        fields = [one for one in fields if one != field]
    raise RuntimeError("nvidia-smi knows none of the fields")


def check(program: str, supervisor: Supervisor, seconds: float) -> int:
    """Compares for a while and prints; returns the exit code."""
    end = time.monotonic() + READY_S
    while not supervisor.snapshot().ready:
        if time.monotonic() > end:
            return fail(f"the agent found no GPU: {supervisor.snapshot().driver.message}")
        time.sleep(0.2)
    print(f"comparing for {seconds:.0f} s", flush=True)
    fields = [twin.field for twin in nvidia_smi.twins()]
    asked = set(fields)
    kept: dict[tuple[str, str], nvidia_smi.Difference] = {}
    rounds = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end or not rounds:
        text, fields = query(program, fields)
        rounds += 1
        snapshot = supervisor.snapshot()
        rows = nvidia_smi.parse(text, fields)
        for gpu in snapshot.gpus:
            for one in nvidia_smi.compare(
                gpu.samples, gpu.identity.uuid, str(gpu.identity.index), rows.get(gpu.identity.uuid, {})
            ):
                kept[one.gpu, one.field] = nvidia_smi.better(kept.get((one.gpu, one.field)), one)
        time.sleep(max(0.0, min(2.0, end - time.monotonic())))
    print(nvidia_smi.table(kept.values()))
    print(f"compared {rounds} times; this nvidia-smi does not know: {', '.join(sorted(asked - set(fields))) or 'none'}")
    for name in ("gpuscope_nvml_unsupported", "gpuscope_nvml_errors_total", "gpuscope_implausible_values_total"):
        seen = [f"{'/'.join(one.labels)} {one.value:g}" for one in snapshot.node_samples if one.metric.name == name]
        print(f"{name}: {', '.join(seen) or 'none'}")
    if not kept:
        return fail("the agent and nvidia-smi name no GPU in common")
    return int(any(one.verdict in {nvidia_smi.DIFFERENT, nvidia_smi.ONLY_SMI} for one in kept.values()))


def fail(message: str) -> int:
    print(f"gpu-check: error: {message}", file=sys.stderr)
    return 2


def main(seconds: float) -> int:
    program = shutil.which("nvidia-smi")
    if program is None:
        return fail("nvidia-smi is not on PATH: this needs a machine with an NVIDIA GPU")
    options = SamplingOptions(
        node="gpu-check", collectors=frozenset(SUBJECTS), intervals=INTERVALS, procfs=Path("/proc")
    )
    ledger = FaultLedger(XidCatalogue.load())
    supervisor = Supervisor(options, ledger, ledger.nvml_event)
    supervisor.start()
    try:
        return check(program, supervisor, seconds)
    except RuntimeError as error:
        return fail(f"nvidia-smi: {error}")
    finally:
        supervisor.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    sys.exit(main(parser.parse_args().seconds))
