"""Examples in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from gpuscope.api.readings import STATES

__all__ = ["ENVELOPE", "FAULT", "GPU", "HEALTH", "MIG_INSTANCE"]

Example = Mapping[str, Any]

_UUID = "GPU-5d1c0a2e-1111-2222-3333-444444444444"
_GIB = 1 << 30

ENVELOPE: Example = {
    "node": "gpu-node-17",
    "generated_at": "2026-11-30T03:12:45.250Z",
    "driver": {
        "ok": True,
        "reason": None,
        "message": None,
        "since": "2026-11-29T22:00:01.000Z",
        "driver_version": "580.95.05",
        "cuda_version": "13.0",
        "nvml_version": "13.580.95.05",
        "kernel_module": "open",
        "simulated": None,
    },
}

MIG_INSTANCE: Example = {
    "uuid": "MIG-4f6a1b0c-0000-5555-6666-777777777777",
    "index": 0,
    "gi": 2,
    "ci": 0,
    "profile": "3g.40gb",
    "gpu_index": 5,
    "gpu_uuid": _UUID,
    "gpu_state": "ok",
    "memory": {
        "total_bytes": 40 * _GIB,
        "used_bytes": 31 * _GIB,
        "free_bytes": 9 * _GIB,
        "reserved_bytes": None,
    },
    "graphics_active_ratio": 0.91,
    "sm_active_ratio": 0.84,
    "allocation": {
        "state": "busy",
        "known": "allocated",
        "pods": [
            {
                "namespace": "vision",
                "pod": "detector-7c9f",
                "container": "server",
                "pod_uid": "0a1b2c3d-1111-2222-3333-444444444444",
                "resource": "nvidia.com/mig-3g.40gb",
                "replica": None,
            }
        ],
        "jobs": [],
    },
    "readings": [
        {
            "name": "gpuscope_mig_sm_active_ratio",
            "kind": "gauge",
            "unit": "ratio",
            "labels": {},
            "value": 0.84,
        }
    ],
}

GPU: Example = {
    "index": 5,
    "uuid": _UUID,
    "model": "NVIDIA H100 80GB HBM3",
    "arch": "hopper",
    "pci_bus_id": "00000000:9B:00.0",
    "minor": "5",
    "serial": "1650000000000",
    "vbios": "96.00.74.00.1A",
    "compute_capability": "9.0",
    "numa_node": "1",
    "board_part": None,
    "module_id": "3",
    "state": "ok",
    "since": "2026-11-29T22:00:01.000Z",
    "last_sampled": "2026-11-30T03:12:44.871Z",
    "recovery_action": "none",
    "mig_enabled": True,
    "memory": {
        "total_bytes": 80 * _GIB,
        "used_bytes": 31 * _GIB,
        "free_bytes": 48 * _GIB,
        "reserved_bytes": 1 * _GIB,
    },
    "utilization_ratio": None,
    "sm_active_ratio": 0.36,
    "power_watts": 412.5,
    "temperature_celsius": 61,
    "allocation": {"state": None, "known": "allocated", "pods": [], "jobs": []},
    "mig_instances": [MIG_INSTANCE],
    "readings": [
        {
            "name": "gpuscope_gpu_temperature_celsius",
            "kind": "gauge",
            "unit": "celsius",
            "labels": {"sensor": "memory"},
            "value": 74,
        }
    ],
}

FAULT: Example = {
    "kind": "xid",
    "code": 79,
    "first": "2026-11-30T03:11:02.118Z",
    "last": "2026-11-30T03:11:04.902Z",
    "count": 2,
    "source": "nvml",
    "gpu_uuid": _UUID,
    "gpu_index": 5,
    "pci_bus_id": "00000000:9B:00.0",
    "gi": None,
    "ci": None,
    "meaning": "GPU has fallen off the bus",
    "class": "off_bus",
    "action": "drain_and_reset",
    "message": None,
}

HEALTH: Example = {
    "version": "0.1.0",
    "status": "issue",
    "reasons": ["GPU 5 is lost"],
    "alive": True,
    "ready": True,
    "gpus": {"expected": 8, "found": 8, "by_state": {state: {"ok": 7, "lost": 1}.get(state, 0) for state in STATES}},
}
