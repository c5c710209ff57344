"""NVSentinel 0.4 to 0.9: nodes that it takes out, and how long that takes."""

from __future__ import annotations

from gpuscope_generator.promql import gauge, histogram

__all__ = ["DURATIONS", "QUARANTINED"]

QUARANTINED = gauge("fault_quarantine_current_quarantined_nodes", "node", source="nvsentinel")
DURATIONS = {
    "quarantine": histogram("fault_quarantine_node_quarantine_duration_seconds", source="nvsentinel"),
    "eviction": histogram("node_drainer_pod_eviction_duration_seconds", source="nvsentinel"),
    "repair": histogram(
        "fault_quarantine_node_remediation_duration_seconds", "recommended_action", source="nvsentinel"
    ),
}
"""By phase: until it is cordoned, until its pods are gone, until it is used again."""
