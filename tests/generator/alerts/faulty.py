"""GPUs with faults as the agent and other exporters tell of them, for tests of alerts. A step is 30 seconds."""

from collections.abc import Mapping, Sequence

RECORDING = ("gpuscope", "level-fault", "level-node", "interconnect")
"""Rule files from the agent's series to what these alerts read; each file more costs seconds."""
CRITICAL_CODES = (48, 62, 63, 64, 74, 79, 94, 95, 119, 120, 140, 143)
"""Some of the codes that the agent counts from 0 on."""
NODE_EXPORTER = 'cluster="c",instance="n1:9100",job="node-exporter"'


def at(gpu: int = 0, node: str = "n1", uuid: str = "") -> str:
    """Labels of a GPU of the agent."""
    known = uuid or uuid_of(gpu, node)
    return f'cluster="c",instance="{node}:9836",job="gpuscope",node="{node}",gpu="{gpu}",uuid="{known}"'


def uuid_of(gpu: int = 0, node: str = "n1") -> str:
    """Its UUID."""
    return f"GPU-{node}-{gpu}"


def firing(name: str, severity: str, gpu: int = 0, node: str = "n1", **labels: str) -> str:
    """An alert about a GPU as `fires` wants it."""
    more = "".join(f', {label}="{value}"' for label, value in labels.items())
    return (
        f'{name}{{cluster="c", node="{node}", gpu="{gpu}", uuid="{uuid_of(gpu, node)}", severity="{severity}"{more}}}'
    )


def about_node(name: str, severity: str, node: str = "n1") -> str:
    """An alert about a node."""
    return f'{name}{{cluster="c", node="{node}", severity="{severity}"}}'


def healthy(count: int = 1, node: str = "n1", steps: str = "x400", first: int = 0) -> dict[str, str]:
    """GPUs that are well, and the agent that tells of them."""
    host = f'cluster="c",instance="{node}:9836",job="gpuscope",node="{node}"'
    found = {f"gpuscope_up{{{host}}}": f"1{steps}", f"gpuscope_gpus_expected{{{host}}}": f"{first + count}{steps}"}
    for gpu in range(first, first + count):
        where = at(gpu, node)
        found |= {
            f'gpuscope_gpu_info{{{where},model="NVIDIA H100",serial="S{gpu}"}}': f"1{steps}",
            f"gpuscope_gpu_up{{{where}}}": f"1{steps}",
            f"gpuscope_gpu_worker_stuck{{{where}}}": f"0{steps}",
            f"gpuscope_gpu_mig_mode_enabled{{{where}}}": f"0{steps}",
            f"gpuscope_gpu_graphics_active_ratio{{{where}}}": f"0.5{steps}",
            f"gpuscope_gpu_remapped_rows_pending{{{where}}}": f"0{steps}",
            f"gpuscope_gpu_remapping_failed{{{where}}}": f"0{steps}",
            f"gpuscope_gpu_ecc_sram_threshold_exceeded{{{where}}}": f"0{steps}",
            f'gpuscope_gpu_recovery_action{{{where},action="none"}}': f"1{steps}",
        }
        found |= {xid(code, gpu, node): f"0{steps}" for code in CRITICAL_CODES}
    return found


def xid(code: int, gpu: int = 0, node: str = "n1", gi: str = "") -> str:
    """The counter of a code."""
    return f'gpuscope_gpu_xid_errors_total{{{at(gpu, node)},xid="{code}",gi="{gi}",ci=""}}'


def action(name: str, gpu: int = 0, node: str = "n1") -> str:
    """A recovery action."""
    return f'gpuscope_gpu_recovery_action{{{at(gpu, node)},action="{name}"}}'


def reading(name: str, gpu: int = 0, node: str = "n1", **labels: str) -> str:
    """Some series of the agent about a GPU."""
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return f"gpuscope_{name}{{{at(gpu, node)}{more}}}"


def held_by_job(job_id: str, gpus: Mapping[str, Sequence[int]], values: str = "1x400") -> dict[str, str]:
    """GPUs by node that a Slurm job holds."""
    return {
        f'gpuscope_job_allocation_info{{{at(gpu, node)},mig_uuid="",job_id="{job_id}",user="ada"}}': values
        for node, found in gpus.items()
        for gpu in found
    }


def booted(ago_minutes: int = 600, node: str = "n1", steps: int = 400) -> dict[str, str]:
    """A node that booted so long before the beginning of the test, which is at time 0."""
    own = NODE_EXPORTER.replace("n1:9100", f"{node}:9100")
    return {
        f'node_uname_info{{{own},nodename="{node}",release="6.8"}}': f"1x{steps}",
        f"node_boot_time_seconds{{{own}}}": f"{-60 * ago_minutes}x{steps}",
    }


def in_maintenance(node: str = "n1", values: str = "1x400") -> dict[str, str]:
    """The collector says so."""
    own = f'cluster="c",instance="k:9837",job="collector",scheduler="slurm",node="{node}"'
    return {f'gpuscope_scheduler_node_state{{{own},state="maintenance"}}': values}
