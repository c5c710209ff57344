"""What kubelet would make of a pod template, as flags of ``podman run``."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["FORBIDDEN", "flags", "memory_bytes", "probes"]

Object = Mapping[str, Any]
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
FORBIDDEN = ("hostPID", "hostNetwork", "hostIPC")
FIELDS = {"spec.nodeName": "node-a", "metadata.namespace": "gpuscope", "metadata.name": "gpuscope-0"}


def memory_bytes(quantity: str) -> int:
    """Bytes of a quantity such as ``256Mi``.

    Raises:
        ValueError: it is none.
    """
    found = re.fullmatch(r"(\d+)([kMG]|[KMG]i)?", quantity)
    if not found:
        raise ValueError(f"{quantity}: no quantity of memory")
    return int(found[1]) * UNITS[found[2] or ""]


def flags(pod: Object, container: Object, folders: Mapping[str, Path]) -> list[str]:
    """Flags for a container of a pod.

    Args:
        pod: ``spec.template.spec`` of a workload.
        container: one of its containers.
        folders: for each volume of the pod that is no emptyDir, the folder that stands for it.

    Raises:
        ValueError: something stands in the manifest that cannot be run as it says.
    """
    asked = [name for name in FORBIDDEN if pod.get(name)]
    context = {**pod.get("securityContext", {}), **container.get("securityContext", {})}
    if asked or context.get("privileged"):
        raise ValueError(f"the pod asks for {', '.join(asked) or 'privileged'}")
    return [
        *_security(context),
        *(["--memory", str(memory_bytes(limit))] if (limit := _limit(container)) else []),
        *_variables(container.get("env", [])),
        *_mounts(pod.get("volumes", []), container.get("volumeMounts", []), folders),
    ]


def probes(container: Object) -> dict[str, tuple[int, str]]:
    """Port and path of each probe, by its name."""
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    found = {}
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        http = container[name]["httpGet"]
        found[name] = (ports.get(http["port"], http["port"]), http["path"])
    return found


def _limit(container: Object) -> str:
    return str(container.get("resources", {}).get("limits", {}).get("memory", ""))


def _security(context: Object) -> list[str]:
    wanted = []
    if "runAsUser" in context:
        wanted += ["--user", f"{context['runAsUser']}:{context.get('runAsGroup', 0)}"]
    elif context.get("runAsNonRoot"):
        raise ValueError("runAsNonRoot without runAsUser: it depends on the image")
    if context.get("readOnlyRootFilesystem"):
        wanted += ["--read-only", "--read-only-tmpfs=false"]
    if not context.get("allowPrivilegeEscalation", True):
        wanted += ["--security-opt", "no-new-privileges"]
    profile = context.get("seccompProfile", {}).get("type", "Unconfined")
    if profile == "Unconfined":
        wanted += ["--security-opt", "seccomp=unconfined"]
    elif profile != "RuntimeDefault":
        raise ValueError(f"seccompProfile {profile}: no such file here")
    capabilities = context.get("capabilities", {})
    wanted += [f"--cap-drop={name}" for name in capabilities.get("drop", [])]
    wanted += [f"--cap-add={name}" for name in capabilities.get("add", [])]
    return wanted


def _variables(variables: Sequence[Object]) -> list[str]:
    wanted = []
    for one in variables:
        value = one.get("value")
        if value is None:
            value = FIELDS[one["valueFrom"]["fieldRef"]["fieldPath"]]
        wanted += ["--env", f"{one['name']}={value}"]
    return wanted


def _mounts(volumes: Sequence[Object], mounts: Sequence[Object], folders: Mapping[str, Path]) -> list[str]:
    wanted = []
    kinds = {volume["name"]: volume for volume in volumes}
    for mount in mounts:
        volume, place = kinds[mount["name"]], mount["mountPath"]
        if "emptyDir" in volume:
            size = volume["emptyDir"].get("sizeLimit")
            wanted += ["--tmpfs", f"{place}:rw,mode=1777" + (f",size={memory_bytes(size)}" if size else "")]
        else:
            mode = "ro" if mount.get("readOnly") else "rw"
            wanted += ["--volume", f"{folders[mount['name']]}:{place}:{mode}"]
    return wanted
