"""Faults by class: each event is told once, and a restart, a gap or the end of a process is none."""

from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.faulty import (
    RECORDING,
    at,
    firing,
    healthy,
    held_by_job,
    in_maintenance,
    xid,
)

ONLY = (*RECORDING, "maintenance", "faults", "memory", "interconnect", "recovery-action", "hardware")
EVENTS = (
    (79, "GpuFellOffBus", "critical"),
    (167, "GpuFellOffBus", "critical"),
    (95, "GpuMemoryUncorrectable", "critical"),
    (48, "GpuMemoryUncorrectable", "critical"),
    (140, "GpuMemoryUncorrectable", "critical"),
    (94, "GpuMemoryContained", "warning"),
    (62, "GpuFirmwareFault", "critical"),
    (46, "GpuFirmwareFault", "critical"),
    (109, "GpuFirmwareFault", "critical"),
    (119, "GpuFirmwareFault", "critical"),
    (74, "GpuInterconnectFault", "warning"),
    (145, "GpuInterconnectFault", "warning"),
    (54, "GpuPowerFault", "warning"),
    (999, "GpuUnknownFault", "warning"),
    (142, "GpuUnknownFault", "warning"),
)
"""A step is a minute in this file: what a code must lead to, and nothing else."""
FROM_ZERO = (48, 62, 74, 79, 94, 95, 119, 140)


def once(code: int, before: int = 20) -> str:
    """A counter with one event after so many steps."""
    start = f"0x{before - 1}" if code in FROM_ZERO else f"_x{before}"
    return f"{start} 1x100"


def test_one_event_is_one_alert_that_goes_away(tmp_path: Path) -> None:
    """For ten minutes, and half an hour more so that a second event is no second alert."""
    samples = healthy(len(EVENTS) + 1, steps="x100")
    for gpu, (code, _, _) in enumerate(EVENTS):
        samples[xid(code, gpu)] = once(code)
    expected = [firing(name, severity, gpu) for gpu, (_, name, severity) in enumerate(EVENTS)]
    fires(tmp_path, samples, {"19m": [], "21m": expected, "58m": expected, "62m": []}, every="1m", only=ONLY)


def test_what_is_no_fault_wakes_nobody(tmp_path: Path) -> None:
    """One GPU for each of the ways in which an alert could be wrong."""
    steps = "x100"
    samples = healthy(9, steps=steps) | healthy(1, node="m1", steps=steps)
    samples |= held_by_job("7", {"n1": [0]}, "1x20") | in_maintenance("m1", "1x100")
    samples |= {
        # The end of a process, hundreds of times, and rows that were remapped in time.
        xid(45, 0): "_x20 100+300x50",
        xid(43, 0): "_x20 1+1x50",
        xid(63, 1): "0x20 1+1x50",
        # The agent starts anew, and forgets what it counted: with and without a gap.
        xid(79, 2): "3x20 0x80",
        xid(46, 2): "2x20 _x80",
        xid(95, 3): "3x20 _x5 0x80",
        # A scrape that failed for a while, also of a code that is not counted from 0 on.
        xid(79, 4): "5x20 stale _x12 5x80",
        xid(46, 4): "2x20 stale _x12 2x80",
        xid(13, 5): "2x20 stale _x3 2x80",
        # Power smoothing works again; a log line for information.
        xid(162, 6): "_x20 1x80",
        xid(106, 6): "_x20 1x80",
        # On a node under maintenance.
        xid(79, 0, "m1"): "0x20 1x80",
        # What the driver wants changed: the recovery action tells it.
        xid(154, 7): "_x20 1x80",
    }
    for gone in (xid(79, 4), xid(79, 5)):
        # All of the GPU is gone while the scrape fails.
        for code in (48, 62, 63, 64, 74, 94, 95, 119, 120, 140, 143):
            samples[gone.replace('xid="79"', f'xid="{code}"')] = "0x20 stale _x12 0x80"
    samples[xid(79, 5)] = "0x20 stale _x3 0x80"
    fires(
        tmp_path,
        samples,
        {f"{minute}m": [] for minute in (5, 21, 23, 26, 31, 34, 36, 40, 45, 50)},
        every="1m",
        only=(*ONLY, "collector"),
    )


def test_the_first_cause_is_told_and_not_the_end_that_follows(tmp_path: Path) -> None:
    """13 then 45 is the program, 62 then 45 is firmware; of two codes at one time both are told."""
    samples = healthy(3, steps="x60") | held_by_job("7", {"n1": [0]}, "1x60")
    samples |= {
        xid(13, 0): "_x20 1x60",
        xid(45, 0): "_x21 1x60",
        xid(62, 1): "0x19 1x60",
        xid(45, 1): "_x20 4x60",
        xid(94, 2): "0x19 1x60",
        xid(74, 2): "0x19 1x60",
    }
    fires(
        tmp_path,
        samples,
        {
            "23m": [
                'GpuAppFault{cluster="c", workload="7", severity="info"}',
                firing("GpuFirmwareFault", "critical", 1),
                firing("GpuMemoryContained", "warning", 2),
                firing("GpuInterconnectFault", "warning", 2),
            ]
        },
        every="1m",
        only=ONLY,
    )


def test_a_fault_after_a_restart_of_the_agent_counts(tmp_path: Path) -> None:
    """Also one so soon after the agent's first scrape that there is nothing to compare it with ten minutes ago."""
    young = {series: values.replace("0x", "_x18 0x", 1) for series, values in healthy(1, "n2", "x60").items()}
    samples = healthy(2, steps="x60") | young
    samples |= {
        xid(79, 0): "3x10 0x8 1x60",
        xid(46, 1): "2x10 _x10 1x60",
        xid(109, 0, "n2"): "_x22 1x60",
    }
    fires(
        tmp_path,
        samples,
        {
            "18m": [],
            "24m": [
                firing("GpuFellOffBus", "critical"),
                firing("GpuFirmwareFault", "critical", 1),
                firing("GpuFirmwareFault", "critical", 0, "n2"),
            ],
        },
        every="1m",
        only=ONLY,
    )


def test_events_that_come_and_go_for_an_hour_are_one_alert(tmp_path: Path) -> None:
    """And so is a GPU that vanishes after its fault: it stays told, and then goes away."""
    samples = healthy(2, steps="x100")
    samples[xid(94, 0)] = "0x19 1x11 2x11 3x11 4x11 5x60"
    samples[xid(95, 1)] = "0x19 1x2 stale"
    told = [firing("GpuMemoryContained", "warning", 0)]
    lost = [firing("GpuMemoryUncorrectable", "critical", 1)]
    fires(
        tmp_path,
        samples,
        {"24m": told + lost, "33m": told + lost, "45m": told + lost, "63m": told, "75m": told},
        every="1m",
        only=ONLY,
    )


def test_errors_of_instances_are_errors_of_their_gpu(tmp_path: Path) -> None:
    """In MIG mode the driver answers no flag of failed rows: the event is all there is."""
    samples = healthy(1, steps="x60")
    for name in ("remapped_rows_pending", "remapping_failed"):
        del samples[f"gpuscope_gpu_{name}{{{at()}}}"]
    samples[f"gpuscope_gpu_mig_mode_enabled{{{at()}}}"] = "1x60"
    samples[xid(94, 0, gi="1")] = "_x20 1x60"
    samples[xid(64, 0)] = "0x19 1x60"
    fires(
        tmp_path,
        samples,
        {
            "22m": [firing("GpuMemoryContained", "warning")],
            "28m": [firing("GpuMemoryContained", "warning"), firing("GpuRowRemapFailed", "critical")],
        },
        every="1m",
        only=ONLY,
    )


def test_faults_on_many_nodes_are_one_incident(tmp_path: Path) -> None:
    """One job crashes on six nodes: besides what each GPU says there is one alert of the cluster, and four are none."""
    samples: dict[str, str] = {}
    for index in range(6):
        samples |= healthy(1, f"n{index}", "x60")
        samples[xid(145, 0, f"n{index}")] = "_x20 1x60" if index < 4 else "_x25 1x60"
    fires(
        tmp_path,
        samples,
        {"22m": [], "24m": [], "28m": ['GpuFaultsOnManyNodes{cluster="c", severity="critical"}']},
        every="1m",
        only=ONLY,
        alerts="GpuFaultsOnManyNodes",
    )
