"""dcgm-exporter, with the names of DCGM before 4.6 or since, ``Hostname`` or ``hostname``.

::

    DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-…",…,Hostname="gpu-001",container="main",namespace="team-llm",pod="…"} 97
    DCGM_FI_PROF_SM_UTIL_RATIO{gpu="4",…,GPU_I_PROFILE="1g.10gb",GPU_I_ID="7",hostname="gpu-004",…} 0.35

Where GPUs are time-sliced, each pod has a copy of the whole device's values, told apart by ``vgpu``.
"""

from functools import partial

from gpuscope.simulate.cluster.exposition import Page, labels
from gpuscope.simulate.cluster.machine import Device, Machine
from gpuscope.simulate.cluster.sources.dcgm_fields import FIELDS
from gpuscope.simulate.cluster.sources.target import Source, Target, daemon_pod, service
from gpuscope.simulate.cluster.world import World
from gpuscope.simulate.identity import bus_id
from gpuscope.simulate.pods import PodPlan
from gpuscope.simulate.tenancy import Held, Run

__all__ = ["CLASSIC", "MODERN"]

_WINDOW_S = 300
_CLOCK_EVENTS = {0x1: "gpu_idle", 0x4: "power_cap", 0x20: "sw_thermal", 0x40: "hw_thermal", 0x80: "power_brake"}
_WATCHES = ("PCIE", "NVLINK", "PMU", "MCU", "MEM", "SM", "INFOROM", "THERMAL", "POWER", "DRIVER")
_FAIL = 20


def dcgm_page(world: World, machine: Machine, *, modern: bool) -> str:
    """The exposition of one node."""
    page = Page()
    ago = -world.since
    marked = [(device, base) for device in machine.devices() for base in _bases(machine, device, modern=modern)]
    for field in FIELDS:
        family = page.family(field.name(modern=modern), "counter" if field.counter else "gauge", field.text)
        for device, base in marked:
            value = field.value(device, ago)
            if value is not None:
                family.add(value, base)
    _events(page, machine, marked, modern=modern)
    return page.text()


def _bases(machine: Machine, device: Device, *, modern: bool) -> list[str]:
    gpu, instance = device.gpu, device.instance
    own = labels(
        gpu=gpu.index, UUID=gpu.uuid, pci_bus_id=f"0000{bus_id(gpu).upper()}", device=f"nvidia{gpu.index}",
        modelName=gpu.model.name,
        **({"GPU_I_PROFILE": instance.plan.profile, "GPU_I_ID": instance.gi} if instance else {}),
        **{"hostname" if modern else "Hostname": machine.name}, DCGM_FI_DRIVER_VERSION=machine.driver,
    )  # fmt: skip
    shared = gpu.plan.replicas > 1 and not instance
    holders = device.holders if shared else device.holders[:1]
    return [f"{own},{_holder(run, held, shared=shared)}" for run, held in holders] or [own]


def _holder(run: Run, held: Held, *, shared: bool) -> str:
    if not isinstance(run.plan, PodPlan):
        return labels(hpc_job=run.name)
    container = held.container.name if held.container else "main"
    return labels(
        container=container, namespace=run.plan.namespace, pod=run.name,
        vgpu=str(held.tenant.replica or 0) if shared else "",
    )  # fmt: skip


def _events(page: Page, machine: Machine, marked: list[tuple[Device, str]], *, modern: bool) -> None:
    # The gauge keeps the last code until the driver is loaded anew; the count is of the last five minutes.
    last = page.gauge(f"DCGM_FI_DEV_XID_ERROR{'' if modern else 'S'}", "Value of the last XID error encountered.")
    counts = page.gauge("DCGM_EXP_XID_ERRORS_COUNT", "Count of XID Errors within user-specified time window")
    clocks = page.gauge("DCGM_EXP_CLOCK_EVENTS_COUNT", "Count of clock events within the user-specified time window")
    health = page.gauge("DCGM_EXP_GPU_HEALTH_STATUS", "Health status of the GPU: 0 pass, 10 warn, 20 fail.")
    xids = machine.xids()
    t = machine.t
    for device, base in marked:
        own = [(code, at) for gpu, code, at in xids if gpu == device.gpu.index]
        last.add(own[-1][0] if own else 0, base)
        for code in dict.fromkeys(code for code, _ in own):
            recent = sum(one == code and at > t - _WINDOW_S for one, at in own)
            counts.add(recent, base, window_size_in_ms=_WINDOW_S * 1000, xid=code)
        for bit, name in _CLOCK_EVENTS.items():
            if device.gpu.reasons & bit:
                clocks.add(_WINDOW_S, base, clock_event=name, window_size_in_ms=_WINDOW_S * 1000)
        recent = any(at > t - _WINDOW_S for _, at in own)
        for watch in _WATCHES:
            bad = recent and watch == "MEM"
            health.add(
                _FAIL if bad else 0, base, health_watch=watch, health_error_code="DCGM_FR_XID_ERROR" if bad else ""
            )


def _targets(world: World, *, modern: bool) -> list[Target]:
    return [
        Target(
            machine.name,
            service("gpu-operator", "nvidia-dcgm-exporter", f"{machine.address}:9400", endpoint="gpu-metrics",
                    pod=daemon_pod("nvidia-dcgm-exporter", machine.name)),
            partial(dcgm_page, world, machine, modern=modern),
        )
        for machine in world.machines
    ]  # fmt: skip


CLASSIC = Source(
    "dcgm-classic", "nvidia-dcgm-exporter", "dcgm-exporter with the names of DCGM before 4.6",
    partial(_targets, modern=False),
)  # fmt: skip
MODERN = Source(
    "dcgm-modern", "nvidia-dcgm-exporter", "dcgm-exporter with the names of DCGM 4.6", partial(_targets, modern=True)
)
