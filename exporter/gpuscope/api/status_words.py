"""What states mean and what can be done about them, for people."""

from collections.abc import Mapping

__all__ = [
    "DRIVER_ADVICE",
    "FILESYSTEM_ADVICE",
    "HARMLESS_ACTIONS",
    "KUBELET_ADVICE",
    "SOURCES",
    "STATE_ADVICE",
    "action_words",
    "age",
]

DRIVER_ADVICE: Mapping[str, tuple[str, str]] = {
    "library_not_found": (
        "The NVIDIA driver library (libnvidia-ml.so.1) was not found.",
        "Install the NVIDIA driver on this machine. In a container, start it with the NVIDIA runtime "
        "(Kubernetes: runtimeClassName: nvidia).",
    ),
    "driver_not_loaded": (
        "The driver library is installed, but the kernel module is not loaded.",
        "Load it (modprobe nvidia) and look for NVRM lines in the kernel log (dmesg) if that fails.",
    ),
    "version_mismatch": (
        "The driver library and the loaded kernel module are of different versions.",
        "The driver was probably upgraded under a running system: restart the machine, or unload and load the kernel "
        "module, and then restart this agent.",
    ),
    "no_permission": (
        "This agent may not talk to the driver.",
        "Let its user read and write /dev/nvidiactl and /dev/nvidia*; in a container, use the NVIDIA runtime.",
    ),
    "uninitialized": ("The driver is not open yet.", "Wait a moment; if this stays, look at the agent's log."),
    "released": (
        "The agent let go of the driver on request, so that a GPU reset or a change of MIG is not blocked.",
        "Nothing needs to be done; the agent takes the driver again by itself.",
    ),
    "error": ("The driver answers with an error.", "See nvidia-smi and the kernel log (NVRM lines)."),
}
"""By reason: what is wrong, and what one can do."""

STATE_ADVICE: Mapping[str, str] = {
    "lost": "Fallen off the bus. Drain the node and restart it; if it comes back, replace the GPU.",
    "timeout": "A driver call hangs. If it does not recover in minutes, drain the node and restart it.",
    "reset_required": "The driver wants a reset: drain the GPU, then nvidia-smi --gpu-reset.",
    "driver": "The driver is away, see above.",
    "error": "Readings fail; the agent's log says which call.",
}
"""By state of a GPU: what it means and what to do."""

FILESYSTEM_ADVICE: Mapping[str, str] = {
    "timeout": "A call has not returned in time: is the server, a target or the network gone?",
    "stale": "Its file handle is stale: unmount it (umount -l) and mount it again.",
    "disconnected": "This client was cut off. See the kernel log (dmesg), and mount it again.",
    "unreachable": "The kernel cannot reach the server: look at the network.",
    "io": "Input/output error: look at the disks, the server's or this machine's.",
    "missing": "It is expected here: mount it, and look at systemctl --failed.",
    "error": "The call fails; the agent's log says how.",
}
"""By reason of a mount that is down: what to do."""

SOURCES: Mapping[str, tuple[str, str]] = {
    "kubelet": ("kubelet does", "The agent's log has the details."),
    "job_files": ("job files do", "Look at the folder of --job-mapping-dir; the agent's log has the details."),
    "processes": ("processes do", "The agent's log has the details."),
}
"""By source of allocations: subject of a sentence, and what to do when it does not answer."""

KUBELET_ADVICE: Mapping[str, str] = {
    "missing": "There is no socket of kubelet: mount its folder into the agent's container, or, on a machine without "
    "kubelet, say --pod-resources.socket off.",
    "no_permission": "The agent may not open kubelet's socket: run it as user id 0; capabilities can all be dropped.",
    "not_a_socket": "Something else is where kubelet's socket should be.",
    "connection_refused": "Kubelet has ended; its pods are known again when it is back.",
    "resource_exhausted": "Kubelet is asked too often by all its clients together.",
    "unimplemented": "Kubelet is older than 1.20.",
}
"""By reason why kubelet does not answer: what to do."""

HARMLESS_ACTIONS = frozenset({"ignore", "restart_app", "restart_vm"})
"""Default actions of faults that the node itself does not suffer from."""

_ACTIONS: Mapping[str, str] = {
    "check_mechanicals": "Check cables, seating and power connectors",
    "contact_support": "Collect nvidia-bug-report.sh and ask NVIDIA",
    "drain": "Drain the node",
    "drain_and_reset": "Drain the node, then reset the GPU",
    "follow_154": "Do what the XID 154 beside it asks for",
    "ignore": "Nothing; for information",
    "reboot_node": "Drain and restart the node",
    "reset_fabric": "Reset the GPUs and NVSwitches together",
    "reset_gpu": "Reset the GPU",
    "restart_app": "Look at the application and restart it",
    "restart_vm": "Restart the virtual machine",
    "update_software": "Update driver or firmware",
}


def action_words(action: str) -> str:
    """A default action of the fault catalogue as a sentence; an unknown one, from a user's file, as it is written."""
    return _ACTIONS.get(action, action.replace("_", " "))


def age(seconds: float) -> str:
    """A duration in at most two units: ``42 s``, ``5 min``, ``3 h 12 min``, ``4 d 2 h``."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if hours < 1:
        return f"{minutes} min"
    if days < 1:
        return f"{hours} h {minutes % 60} min"
    return f"{days} d {hours % 24} h"
