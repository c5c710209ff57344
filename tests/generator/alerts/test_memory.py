"""Memory rows that wait, rows that cannot be replaced, and worn-out SRAM. Events stand in test_faults.py."""

from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.faulty import firing, healthy, in_maintenance, reading

ONLY = ("gpuscope", "level-fault", "collector", "maintenance", "memory", "faults")


def test_states_of_memory_have_their_alerts(tmp_path: Path) -> None:
    """Rows that wait for ten minutes, the others for five; what goes away sooner is told by nobody."""
    samples = healthy(7, steps="x100") | healthy(1, "m1", "x100") | in_maintenance("m1", "1x100")
    samples |= {
        reading("gpu_remapped_rows_pending", 0): "0x19 1x80",
        reading("gpu_remapped_rows_pending", 1): "0x19 1x9 0x70",
        reading("gpu_remapping_failed", 2): "0x19 1x80",
        reading("gpu_memory_unrepairable", 3): "0x19 1x80",
        reading("gpu_ecc_sram_threshold_exceeded", 4): "0x19 1x80",
        reading("gpu_ecc_sram_threshold_exceeded", 5): "0x19 1x4 0x80",
        # It vanishes midway: the driver does not answer any more.
        reading("gpu_remapped_rows_pending", 6): "0x19 1x5 stale",
        reading("gpu_remapping_failed", 0, "m1"): "1x100",
        reading("gpu_remapped_rows_pending", 0, "m1"): "1x100",
    }
    soon = [
        firing("GpuRowRemapFailed", "critical", 2),
        firing("GpuRowRemapFailed", "critical", 3),
        firing("GpuSramThresholdExceeded", "critical", 4),
    ]
    pending = firing("GpuRowRemapPending", "warning", 0)
    fires(
        tmp_path,
        samples,
        {"24m": [], "28m": soon, "29m": soon, "33m": [*soon, pending], "40m": [*soon, pending]},
        every="1m",
        only=ONLY,
    )


def test_dcgm_tells_the_same_with_old_and_new_names_and_in_mig_mode(tmp_path: Path) -> None:
    """In MIG mode every instance has a copy of what is known of the whole GPU: it is one alert."""
    samples: dict[str, str] = {}
    for node, failed, pending, sram in (
        ("d1", "DEV_ROW_REMAP_FAILURE", "DEV_ROW_REMAP_PENDING", "DEV_THRESHOLD_SRM"),
        ("d2", "DEV_ROW_REMAP_FAILED", "DEV_ROW_REMAP_PENDING", "DEV_SRAM_EXCEEDED"),
    ):
        for instance in ("1", "2"):
            own = (
                f'cluster="c",gpu="0",UUID="GPU-{node}",Hostname="{node}",GPU_I_ID="{instance}",GPU_I_PROFILE="1g.10gb"'
            )
            samples |= {f"DCGM_FI_{name}{{{own}}}": "1x30" for name in (failed, pending, sram, "DEV_GPU_TEMP")}
    told = [
        f'{name}{{cluster="c", node="{node}", gpu="0", uuid="GPU-{node}", severity="{severity}"}}'
        for node in ("d1", "d2")
        for name, severity in (
            ("GpuRowRemapFailed", "critical"),
            ("GpuSramThresholdExceeded", "critical"),
            ("GpuRowRemapPending", "warning"),
        )
    ]
    fires(tmp_path, samples, {"3m": [], "14m": told}, every="1m", only=("dcgm", "memory"))
