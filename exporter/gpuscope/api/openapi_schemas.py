"""The data types of the OpenAPI document (JSON Schema 2020-12)."""

from collections.abc import Mapping
from typing import Any

from gpuscope.api.readings import STATES
from gpuscope.catalogue import attribution
from gpuscope.catalogue.metric import Kind, Unit

__all__ = ["SCHEMAS", "listed"]

Schema = dict[str, Any]


def _object(description: str, **properties: Schema) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def listed(name: str) -> Schema:
    """A list of a named type."""
    return {"type": "array", "items": _ref(name)}


def _text(description: str, *, null: bool = False, **more: Any) -> Schema:
    return {"type": ["string", "null"] if null else "string", "description": description, **more}


def _time(description: str, *, null: bool = False) -> Schema:
    return _text(f"{description} (RFC 3339, UTC)", null=null, format="date-time")


def _count(description: str, *, null: bool = False) -> Schema:
    return {"type": ["integer", "null"] if null else "integer", "minimum": 0, "description": description}


def _number(description: str, **more: Any) -> Schema:
    return {"type": ["number", "null"], "description": f"{description}; null when unknown", **more}


def _flag(description: str, *, null: bool = False) -> Schema:
    return {"type": ["boolean", "null"] if null else "boolean", "description": description}


_RATIO = {"minimum": 0, "maximum": 1}
_BYTES = {"minimum": 0}
_STATE = {
    "type": "string",
    "enum": list(STATES),
    "description": "ok; lost: fallen off the bus; timeout: a driver call hangs; reset_required: the driver wants a "
    "reset; driver: the driver is away; error: another failure. While not ok there are no readings but fault counters.",
}

SCHEMAS: Mapping[str, Schema] = {
    "Driver": _object(
        "Whether the NVIDIA driver can be talked to, and its versions",
        ok=_flag("true while the driver answers"),
        reason=_text("why not: library_not_found, driver_not_loaded, version_mismatch, no_permission …", null=True),
        message=_text("the same for people", null=True),
        since=_time("last change of ok", null=True),
        driver_version=_text("nvidia-smi --query-gpu=driver_version", null=True, examples=["580.95.05"]),
        cuda_version=_text("newest CUDA version that the driver serves", null=True, examples=["13.0"]),
        nvml_version=_text("version of libnvidia-ml", null=True),
        kernel_module=_text("open or proprietary kernel module", null=True),
        simulated=_text("scenario, when the driver is simulated", null=True),
    ),
    "Memory": _object(
        "Frame buffer in bytes. On MIG it belongs to the GPU instance and stands at its first compute instance",
        total_bytes=_number("size", **_BYTES),
        used_bytes=_number("held by processes", **_BYTES),
        free_bytes=_number("can be allocated", **_BYTES),
        reserved_bytes=_number("kept by the driver", **_BYTES),
    ),
    "Reading": _object(
        "One series as /metrics has it",
        name=_text("metric name; docs/metrics.md explains each", examples=["gpuscope_gpu_power_watts"]),
        kind={"type": "string", "enum": [kind.value for kind in Kind], "description": "how the value behaves"},
        unit={"enum": [unit.value or None for unit in Unit], "description": "base unit"},
        labels={
            "type": "object",
            "description": "labels beyond the identity of the GPU or MIG instance",
            "additionalProperties": {"type": "string"},
        },
        value={"type": "number", "description": "in the base unit"},
    ),
    "PodHold": _object(
        "A device, or one share of it, that a container holds",
        namespace=_text("Kubernetes namespace"),
        pod=_text("name of the pod"),
        container=_text("name of the container; null when only the pod is known", null=True),
        pod_uid=_text("uid of the pod, when known", null=True),
        resource=_text(
            "as the pod asked for it; null for a container that uses the device without having asked",
            null=True,
            examples=["nvidia.com/gpu", "nvidia.com/mig-1g.10gb"],
        ),
        replica=_text("number of the share, where the device is shared by time-slicing or MPS", null=True),
    ),
    "JobHold": _object(
        "A Slurm job that holds the device",
        job_id=_text("Slurm's job id", examples=["4711"]),
        user=_text("who runs it, when known", null=True),
    ),
    "Allocation": _object(
        "Who holds the device and whether it works",
        state={
            "enum": [*attribution.STATES, None],
            "description": "busy: it works; idle_allocated: held and idle; unallocated: free; unhealthy: it cannot be "
            "read, or is idle and the driver asks for a recovery action; unknown: nobody can tell; null for a GPU in "
            "MIG mode, whose MIG instances have one each",
        },
        known={
            "enum": ["allocated", "unallocated", "unknown"],
            "description": "unknown while no source of allocations answers: not the same as unallocated",
        },
        pods=listed("PodHold"),
        jobs=listed("JobHold"),
    ),
    "MigInstance": _object(
        "A MIG device: one compute instance inside one GPU instance",
        uuid=_text("what CUDA_VISIBLE_DEVICES takes", examples=["MIG-4f6a1b0c-0000-5555-6666-777777777777"]),
        index=_count("MIG index on its GPU; indexes may have gaps"),
        gi=_count("GPU instance id"),
        ci=_count("compute instance id"),
        profile=_text("slice, for example 3g.40gb or 1c.3g.40gb; unknown when the driver does not say"),
        gpu_index=_count("index of its GPU"),
        gpu_uuid=_text("UUID of its GPU"),
        gpu_state=_STATE,
        memory=_ref("Memory"),
        graphics_active_ratio=_number("time in which the graphics or compute engine was busy", **_RATIO),
        sm_active_ratio=_number("share of SM cycles with work; unknown on A100 and A30", **_RATIO),
        allocation=_ref("Allocation"),
        readings=listed("Reading"),
    ),
    "Gpu": _object(
        "A physical GPU",
        index=_count("NVML index, as in nvidia-smi; neither the device minor nor CUDA's order"),
        uuid=_text("identity", examples=["GPU-5d1c0a2e-1111-2222-3333-444444444444"]),
        model=_text("product name", null=True, examples=["NVIDIA H100 80GB HBM3"]),
        arch=_text("architecture", null=True, examples=["hopper"]),
        pci_bus_id=_text("PCI address", null=True, examples=["00000000:18:00.0"]),
        minor=_text("N of /dev/nvidiaN", null=True),
        serial=_text("serial number of the board", null=True),
        vbios=_text("VBIOS version", null=True),
        compute_capability=_text("CUDA compute capability", null=True, examples=["9.0"]),
        numa_node=_text("NUMA node of its memory or bus", null=True),
        board_part=_text("board part number", null=True),
        module_id=_text("place on the baseboard", null=True),
        state=_STATE,
        since=_time("last change between ok and not ok"),
        last_sampled=_time("last complete fast cycle", null=True),
        recovery_action=_text("what the driver asks for: none, gpu_reset, node_reboot …", null=True),
        mig_enabled=_flag("MIG mode; null where MIG does not exist", null=True),
        memory=_ref("Memory"),
        utilization_ratio=_number("time with any kernel running; always unknown while MIG is on", **_RATIO),
        sm_active_ratio=_number("share of SM cycles with work (Hopper and newer)", **_RATIO),
        power_watts=_number("power draw", minimum=0),
        temperature_celsius=_number("core temperature"),
        allocation=_ref("Allocation"),
        mig_instances=listed("MigInstance"),
        readings=listed("Reading"),
    ),
    "Fault": _object(
        "A fault that the driver or the kernel log reported; repeats of one burst are merged",
        kind={"type": "string", "enum": ["xid", "sxid"], "description": "of a GPU, or of an NVSwitch"},
        code=_count("NVIDIA's number"),
        first=_time("first report"),
        last=_time("last report of the burst"),
        count=_count("reports merged"),
        source={"type": "string", "enum": ["nvml", "kernel_log"], "description": "who reported it"},
        gpu_uuid=_text("GPU, when known", null=True),
        gpu_index=_count("its index, while it is present", null=True),
        pci_bus_id=_text("PCI address, when known", null=True),
        gi=_count("GPU instance, when the fault belongs to one", null=True),
        ci=_count("compute instance, when the fault belongs to one", null=True),
        meaning=_text("what the code means", null=True),
        action=_text(
            "what to do by default: drain_and_reset, restart_app, ignore …; docs/faults.md lists them", null=True
        ),
        message=_text("the kernel's own words", null=True),
        **{"class": _text("class of the XID catalogue; unknown for codes it does not list")},
    ),
    "Counts": _object(
        "GPUs of the node",
        expected=_count("how many there should be; null while unknown", null=True),
        found=_count("how many the driver shows"),
        by_state=_object("how many are in each state", **{state: _count(state) for state in STATES}),
    ),
    "Error": {
        "type": "object",
        "description": "What was wrong with the request, or that the agent failed",
        "required": ["error"],
        "additionalProperties": False,
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "additionalProperties": False,
                "properties": {
                    "code": _text("word for programs", examples=["unknown_parameter"]),
                    "message": _text("sentence for people"),
                    "parameter": _text("the query parameter"),
                    "value": _text("the value that was given"),
                    "allowed": {"type": "array", "items": {"type": "string"}, "description": "what would be right"},
                    "uuid": _text("the id that was asked for"),
                },
            }
        },
    },
}
