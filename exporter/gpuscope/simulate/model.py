"""The GPU models that can be simulated, with the numbers of their data sheets."""

from dataclasses import dataclass

__all__ = ["MODELS", "GpuModel"]

GIB = 1 << 30
MIB = 1 << 20
_PROFILES_80 = ("1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")
_PROFILES_189 = ("1g.23gb", "1g.23gb+me", "1g.47gb", "2g.47gb", "3g.95gb", "4g.95gb", "7g.189gb")


@dataclass(frozen=True, slots=True)
class GpuModel:
    """Constant facts of a model. Memory in bytes, power in watts, clocks in MHz, temperatures in °C."""

    name: str
    arch: int
    capability: tuple[int, int]
    memory: int
    reserved: int
    sms: int
    power_limit: float
    power_idle: float
    power_min: float
    clock_max: int
    clock_idle: int
    memory_clock: int
    slowdown: int
    shutdown: int
    part: str
    pcie_generation: int = 5
    nvlinks: int = 0
    nvlink_version: int = 0
    gpm: bool = True
    ecc: bool = True
    remapping: bool = True
    memory_sensor: bool = True
    fans: int = 0
    fabric: bool = False
    c2c_links: int = 0
    pcie_counters: bool = True
    bar1: int = 128 * GIB
    profiles: tuple[str, ...] = ()
    pci_id: int = 0x233010DE

    @property
    def mig_slices(self) -> int:
        """Compute slices that MIG can give away; 0 without MIG."""
        return 7 if self.profiles else 0


MODELS: dict[str, GpuModel] = {
    "h100-sxm": GpuModel(
        name="NVIDIA H100 80GB HBM3", arch=9, capability=(9, 0), memory=81559 * MIB, reserved=625 * MIB, sms=132,
        power_limit=700, power_idle=68, power_min=200, clock_max=1980, clock_idle=345, memory_clock=2619, slowdown=87,
        shutdown=92, part="692-2G520-0200-000", nvlinks=18, nvlink_version=4, profiles=_PROFILES_80,
    ),
    "a100-sxm": GpuModel(
        name="NVIDIA A100-SXM4-80GB", arch=7, capability=(8, 0), memory=81920 * MIB, reserved=579 * MIB, sms=108,
        power_limit=400, power_idle=52, power_min=100, clock_max=1410, clock_idle=210, memory_clock=1593, slowdown=89,
        shutdown=92, part="692-2G506-0202-002", pcie_generation=4, nvlinks=12, nvlink_version=3, gpm=False,
        profiles=_PROFILES_80, pcie_counters=False, pci_id=0x20B210DE,
    ),
    "l40s": GpuModel(
        name="NVIDIA L40S", arch=8, capability=(8, 9), memory=46068 * MIB, reserved=560 * MIB, sms=142,
        power_limit=350, power_idle=34, power_min=100, clock_max=2520, clock_idle=210, memory_clock=9001, slowdown=90,
        shutdown=95, part="900-2G133-0080-000", pcie_generation=4, gpm=False, ecc=True, remapping=False,
        memory_sensor=False, bar1=64 * GIB, pci_id=0x26B910DE,
    ),
    "gb200": GpuModel(
        name="NVIDIA GB200", arch=10, capability=(10, 0), memory=189471 * MIB, reserved=1030 * MIB, sms=148,
        power_limit=1200, power_idle=145, power_min=200, clock_max=2062, clock_idle=345, memory_clock=3996,
        slowdown=87, shutdown=92, part="699-2G548-0201-800", nvlinks=18, nvlink_version=5, fabric=True,
        c2c_links=1, bar1=256 * GIB, profiles=_PROFILES_189, pci_id=0x294110DE,
    ),
    "geforce": GpuModel(
        name="NVIDIA GeForce RTX 4090", arch=8, capability=(8, 9), memory=24564 * MIB, reserved=346 * MIB, sms=128,
        power_limit=450, power_idle=24, power_min=150, clock_max=3105, clock_idle=210, memory_clock=10501,
        slowdown=90, shutdown=95, part="900-1G136-2530-000", pcie_generation=4, gpm=False, ecc=False,
        remapping=False, memory_sensor=False, fans=2, bar1=32 * GIB, pci_id=0x268410DE,
    ),
    "v100": GpuModel(
        name="Tesla V100-SXM2-32GB", arch=5, capability=(7, 0), memory=32768 * MIB, reserved=267 * MIB, sms=80,
        power_limit=300, power_idle=42, power_min=150, clock_max=1530, clock_idle=135, memory_clock=877, slowdown=87,
        shutdown=90, part="900-2G503-0010-000", pcie_generation=3, nvlinks=6, nvlink_version=2, gpm=False,
        remapping=False, pcie_counters=False, bar1=32 * GIB, pci_id=0x1DB510DE,
    ),
}  # fmt: skip
