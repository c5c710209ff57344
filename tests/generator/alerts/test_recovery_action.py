"""What the driver itself asks for. A step is a minute."""

from pathlib import Path

from tests.generator.alerting import fires
from tests.generator.alerts.faulty import action, firing, healthy, held_by_job, in_maintenance, xid

ONLY = ("gpuscope", "level-fault", "collector", "maintenance", "recovery-action", "faults")


def asks(name: str, gpu: int, node: str = "n1", values: str = "0x19 1x80") -> dict[str, str]:
    """A GPU that begins to ask for something after 20 steps."""
    return {action(name, gpu, node): values, action("none", gpu, node): "1x19 0x80"}


def test_each_action_has_its_alert(tmp_path: Path) -> None:
    """After two minutes, as long as it is asked for; one minute is too short, and maintenance keeps still."""
    samples = healthy(9, steps="x100") | healthy(1, "m1", "x100") | in_maintenance("m1", "1x100")
    samples |= asks("gpu_reset", 0) | asks("drain_and_reset", 1) | asks("node_reboot", 2) | asks("drain_p2p", 3)
    samples |= asks("recover_imex", 4) | asks("gpu_reset", 5, values="0x19 1x1 0x80") | asks("node_reboot", 0, "m1")
    samples |= asks("bus_reset", 7) | asks("system_reboot", 8)
    # Three times for one minute each: never long enough.
    samples |= asks("node_reboot", 6, values="0x19 1 0 1 0 1 0x80")
    samples[action("gpu_reset", 0)] = "0x19 1x19 0x60"
    first = firing("GpuRecoveryActionReset", "warning", 0)
    others = [
        firing("GpuRecoveryActionReset", "warning", 1),
        firing("GpuRecoveryActionReboot", "critical", 2),
        firing("GpuRecoveryActionDrainP2P", "critical", 3),
        firing("GpuRecoveryActionRecoverImex", "critical", 4),
        firing("GpuRecoveryActionReset", "warning", 7),
        firing("GpuRecoveryActionReboot", "critical", 8),
    ]
    fires(
        tmp_path, samples, {"20m": [], "24m": [first, *others], "34m": [first, *others], "44m": others}, every="1m",
        only=ONLY,
    )  # fmt: skip


def test_a_reset_is_urgent_where_it_holds_up_other_nodes(tmp_path: Path) -> None:
    """A job on two nodes; not a job on one, and not a free GPU."""
    samples = healthy(3, steps="x40") | healthy(1, "n2", "x40")
    samples |= held_by_job("7", {"n1": [0], "n2": [0]}, "1x40") | held_by_job("8", {"n1": [1]}, "1x40")
    for gpu in range(3):
        samples |= asks("gpu_reset", gpu)
    mild = [firing("GpuRecoveryActionReset", "warning", gpu) for gpu in range(3)]
    fires(
        tmp_path,
        samples,
        {"25m": [*mild, firing("GpuRecoveryActionReset", "critical", 0)]},
        every="1m",
        only=ONLY,
    )


def test_dcgm_tells_the_same_under_both_names_and_an_unknown_action_is_none(tmp_path: Path) -> None:
    """The number 9 means nothing that is known, so nothing is done for it; neither is XID 999 an action."""

    def gpu(node: str, name: str, code: int) -> dict[str, str]:
        host = "hostname" if name.startswith("DCGM_FI_DEV_GPU_") else "Hostname"
        own = f'cluster="c",gpu="0",UUID="GPU-{node}",{host}="{node}",modelName="H100"'
        return {f"{name}{{{own}}}": f"0x9 {code}x40", f"DCGM_FI_DEV_GPU_TEMP{{{own}}}": "50x60"}

    samples = gpu("d1", "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", 2) | gpu("d2", "DCGM_FI_DEV_GPU_RECOVERY_ACTION", 2)
    samples |= gpu("d3", "DCGM_FI_DEV_GPU_RECOVERY_ACTION", 9) | gpu("d4", "DCGM_FI_DEV_GPU_RECOVERY_ACTION", 0)
    samples |= healthy(1, steps="x60") | {xid(999, 0): "_x15 1x40"}
    told = [
        f'GpuRecoveryActionReboot{{cluster="c", node="{node}", gpu="0", uuid="GPU-{node}", severity="critical"}}'
        for node in ("d1", "d2")
    ]
    fires(
        tmp_path,
        samples,
        {"9m": [], "22m": [*told, firing("GpuUnknownFault", "warning")]},
        every="1m",
        only=(*ONLY, "dcgm"),
    )
