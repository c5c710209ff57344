"""Attribution, put together from the settings."""

from collections.abc import Callable, Sequence
from pathlib import Path

from gpuscope.agent.machine import Machine
from gpuscope.attribution.attributor import AttributionOptions, Attributor
from gpuscope.attribution.look import Look
from gpuscope.collectors.processes import processes_visible
from gpuscope.config import Settings

__all__ = ["KUBELET_SOCKET", "attributor"]

KUBELET_SOCKET = Path("/var/lib/kubelet/pod-resources/kubelet.sock")
"""Where kubelet has its pod-resources socket."""


def attributor(
    settings: Settings, machine: Machine, looks: Callable[[], Sequence[Look]], changed: Callable[[], None]
) -> Attributor:
    """The source of the collector ``attribution``.

    Args:
        settings: settings.
        machine: what is looked at.
        looks: gives the GPUs.
        changed: called when the allocation changed.
    """
    wanted = settings["pod-resources.socket"]
    socket = {"auto": KUBELET_SOCKET, "off": None}.get(wanted, Path(wanted))
    job_files = Path(settings["job-mapping-dir"]) if settings["job-mapping-dir"] else None
    pod_logs = Path(settings["path.pod-logs"])
    if machine.driver is not None:
        # A simulated machine has its own kubelet, or none; the real one's pods would not fit its GPUs.
        socket = machine.pod_resources_socket if wanted == "auto" else socket
        job_files = job_files or machine.job_mapping_dir
        pod_logs = machine.pod_logs or pod_logs
    options = AttributionOptions(
        kubelet_socket=socket,
        kubelet_wanted=wanted != "auto",
        job_files=job_files,
        procfs=machine.procfs,
        pod_logs=pod_logs,
        container_logs=pod_logs.parent / "containers",
        visible=processes_visible(machine.procfs) is True,
        interval_s=settings["interval.attribution"],
    )
    return Attributor(options, looks, changed)
