"""GPUs that are suspect because of what happened over hours and days, and what counts as one fault."""

from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.faulty import RECORDING, firing, healthy, held_by_job, reading, uuid_of, xid
from tests.generator.promtool import expect

from gpuscope.catalogue.xid_table import xid_rows
from gpuscope_generator.rules.fault_classes import UNKNOWN, fault_classes, of_class

ONLY = (*RECORDING, "faults")
BEGAN = 'gpu:infrastructure_fault_began:bool{{cluster="c",node="n1",gpu="{0}",uuid="GPU-n1-{0}"}}'


def test_every_code_is_of_the_class_that_the_agent_gives_it() -> None:
    by_class = {name: set(of_class(name).value.split("|")) for name in fault_classes() if name != UNKNOWN}
    for row in xid_rows():
        if row["class"] != UNKNOWN and row["code"] != "162":
            assert [name for name, codes in by_class.items() if row["code"] in codes] == [row["class"]]
    # Power smoothing that works again is no fault of power.
    assert not any("162" in codes for codes in by_class.values())
    known = set(of_class(UNKNOWN).value.split("|"))
    assert not known & {"999", "142"}
    assert "162" in known


def test_faults_of_a_week_count_by_the_incident(tmp_path: Path) -> None:
    """Three within a week are too many, two are not; it is told for a day after the first of them is a week old."""
    spread = "_x30 1 _x400 1 _x400 1 _x400"
    fires(
        tmp_path,
        {
            BEGAN.format(0): spread,
            BEGAN.format(1): "_x30 1 _x400 1 _x800",
            BEGAN.format(2): "_x10 1 _x600 1 _x600 1 _x100",
        },
        {
            "5h": [],
            "80h": [],
            "140h": [firing("GpuRepeatedFault", "warning", 0)],
            "195h": [firing("GpuRepeatedFault", "warning", 0)],
            "204h": [],
        },
        every="10m",
        only=("alerts/faults",),
    )


def test_a_fault_in_the_first_minutes_of_an_agent_counts_for_ten_minutes_without_a_gap(tmp_path: Path) -> None:
    """A node fails soon after it booted: the alert waits five minutes, in which the fault must not vanish."""
    fires(
        tmp_path,
        healthy() | {xid(64): "0x5 1x60"},
        {"7m": [], "9m": [firing("GpuRowRemapFailed", "critical")], "12m": [firing("GpuRowRemapFailed", "critical")]},
        only=(*RECORDING, "alerts/memory"),
        alerts="GpuRowRemapFailed",
    )


def test_a_fault_of_a_node_that_goes_away_at_once_is_told(tmp_path: Path) -> None:
    fires(
        tmp_path,
        healthy(steps="x2") | {xid(119): "0 1 1"},
        {"30s": [firing("GpuFirmwareFault", "critical")]},
        only=(*RECORDING, "alerts/faults"),
        alerts="GpuFirmwareFault",
    )


def test_a_fault_right_after_a_restart_is_told_at_once(tmp_path: Path) -> None:
    """The counter was 1 before, is 0 for a moment, and 1 again."""
    fires(
        tmp_path,
        healthy() | {xid(48): "1x40 0 1x60"},
        {"20m30s": [], "21m": [firing("GpuMemoryUncorrectable", "critical")]},
        only=(*RECORDING, "alerts/memory", "alerts/faults"),
        alerts="GpuMemoryUncorrectable",
    )


def test_a_burst_is_one_incident(tmp_path: Path) -> None:
    """Twenty lines of three codes over a quarter of an hour begin once; a second fault an hour later begins again."""
    samples = healthy(2, steps="x150")
    samples |= {xid(48): "0x19 1+1x15 17x25 18x90", xid(95): "0x20 1+1x14 16x120", xid(63): "0x20 1x120"}
    samples |= {xid(31, 1): "_x20 1+1x120", xid(45, 1): "_x20 1+1x120", xid(63, 1): "0x20 1+1x120"}
    began = f'gpu:infrastructure_fault_began:bool{{cluster="c",gpu="0",node="n1",uuid="{uuid_of()}"}}'
    expect(
        tmp_path,
        samples,
        {
            "gpu:infrastructure_fault_began:bool": None,
            "sum_over_time(gpu:infrastructure_fault_began:bool[2h:10m])": {began.split(":bool")[1]: 2},
            'sum by (fault_class) (max_over_time(gpu:faults:increase10m{gpu="0"}[2h]))': {
                '{fault_class="mem_uncorrectable"}': 10,
                '{fault_class="mem_uncontained"}': 10,
                '{fault_class="mem_remap"}': 1,
            },
        },
        at="120m",
        every="1m",
        only=RECORDING,
    )


def test_errors_of_programs_that_follow_one_gpu_make_it_suspect(tmp_path: Path) -> None:
    """Three jobs one after the other fail on GPU 0 alone; on GPU 1 it is two; jobs that fail on both GPUs are wrong."""
    samples = healthy(5, steps="x100")
    for job, start in (("1", 10), ("2", 25), ("3", 40)):
        held = f"_x{start - 6} 1x8 stale"
        samples |= held_by_job(job, {"n1": [0]}, held)
        samples |= held_by_job(f"{job}2", {"n1": [2, 3]}, held)
    for job, start in (("11", 10), ("12", 40)):
        samples |= held_by_job(job, {"n1": [1]}, f"_x{start - 6} 1x8 stale")
    samples |= held_by_job("13", {"n1": [4]}, "1x100") | held_by_job("14", {"n1": [4]}, "1x100")
    samples |= {
        xid(31, 0): "_x10 1x14 2x14 3x60",
        xid(13, 1): "_x10 1x29 2x60",
        xid(31, 2): "_x10 1x14 2x14 3x60",
        xid(31, 3): "_x10 1x14 2x14 3x60",
        # Shared by two jobs: nobody knows whose error it was.
        xid(31, 4): "_x10 1x14 2x14 3x60",
    }
    told = [firing("GpuAppFaultFollowsGpu", "warning")]
    fires(
        tmp_path,
        samples,
        {"20m": [], "36m": [], "44m": told, "60m": told},
        every="1m",
        only=ONLY,
        alerts="GpuAppFaultFollowsGpu",
    )


def test_the_owner_of_the_work_is_told_once_for_all_its_gpus(tmp_path: Path) -> None:
    """It carries the team that the collector knows, and goes away ten minutes after the error."""
    samples = healthy(3, steps="x60") | held_by_job("7", {"n1": [0, 1]}, "1x60")
    samples |= {
        xid(31, 0): "_x20 1x40",
        xid(31, 1): "_x20 1x40",
        # Nobody holds it.
        xid(31, 2): "_x20 1x40",
        'gpuscope_training_job_info{cluster="c",instance="k:9837",job="collector",scheduler="slurm",namespace="",'
        'workload="llama",job_id="7",team="nlp",queue="gpu",workload_kind="slurm_job"}': "1x60",
    }
    told = ['GpuAppFault{cluster="c", workload="7", team="nlp", severity="info"}']
    fires(tmp_path, samples, {"19m": [], "22m": told, "30m": told, "36m": []}, every="1m", only=ONLY)


def test_in_mig_mode_an_error_is_nobodys(tmp_path: Path) -> None:
    samples = healthy(1, steps="x40") | {reading("gpu_mig_mode_enabled"): "1x40", xid(31, 0, gi="1"): "_x20 1x40"}
    for job, instance in (("7", "MIG-a"), ("8", "MIG-b")):
        for series, values in held_by_job(job, {"n1": [0]}, "1x40").items():
            samples[series.replace('mig_uuid=""', f'mig_uuid="{instance}"')] = values
    fires(tmp_path, samples, {"22m": [], "25m": []}, every="1m", only=ONLY)


def test_dcgm_counts_in_a_window_and_has_the_same_alerts(tmp_path: Path) -> None:
    """The count of the last minutes is used, and of the last code only that it changed."""

    def gpu(node: str) -> str:
        return f'cluster="c",gpu="0",UUID="{uuid_of(0, node)}",Hostname="{node}",modelName="H100"'

    samples = {f"DCGM_FI_DEV_GPU_TEMP{{{gpu(node)}}}": "50x60" for node in ("d1", "d2", "d3", "d4", "d5")}
    window = 'window_size_in_ms="300000"'
    samples |= {
        f'DCGM_EXP_XID_ERRORS_COUNT{{{gpu("d1")},xid="95",{window}}}': "_x20 1x4 0x40",
        f'DCGM_EXP_XID_ERRORS_COUNT{{{gpu("d2")},xid="45",{window}}}': "_x20 672x4 0x40",
        f"DCGM_FI_DEV_XID_ERRORS{{{gpu('d3')}}}": "0x20 79x40",
        f"DCGM_FI_DEV_XID_ERROR{{{gpu('d4')}}}": "0x10 79x10 45x40",
        # The last code, for ever.
        f"DCGM_FI_DEV_XID_ERRORS{{{gpu('d5')}}}": "79x60",
    }
    own = [firing("GpuMemoryUncorrectable", "critical", 0, "d1"), firing("GpuFellOffBus", "critical", 0, "d3")]
    early = firing("GpuFellOffBus", "critical", 0, "d4")
    fires(
        tmp_path,
        samples,
        {"9m": [], "14m": [early], "24m": [early, *own], "36m": [early, *own]},
        every="1m",
        only=("dcgm", "level-fault", "memory", "hardware", "faults"),
    )
