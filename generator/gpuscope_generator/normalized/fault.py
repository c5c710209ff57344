"""Faults of GPUs as alerts read them. Most of these series exist only while there is a fault, so that they cost nothing."""

from gpuscope.catalogue.metric import Unit
from gpuscope_generator.normalized.gpu import GPU
from gpuscope_generator.normalized.node import NODE
from gpuscope_generator.promql import gauge, info

__all__ = [
    "APP_FAULT_ALONE",
    "APP_FAULT_HOLDER",
    "BEGAN",
    "DRIVER_UP",
    "FABRIC",
    "FABRIC_MEMBERS",
    "FAULTS",
    "HOLDER",
    "LINKS_EXPECTED",
    "LINK_ERRORS",
    "LOST",
    "PCIE_DEGRADED",
    "SRAM_EXCEEDED",
    "STUCK",
    "SWITCH_FAULTS",
    "XIDS",
]

HOLDER = ("namespace", "workload_kind", "workload", "job_id", "team")
"""Whose work a fault of an application hit."""

XIDS = gauge(
    "gpu:xid_errors:increase10m",
    *GPU,
    "xid",
    meaning="XID errors of the last ten minutes by code, in whole events; only while there are any. A restart of the "
    "agent is none. A lower bound from dcgm-exporter.",
)
FAULTS = gauge(
    "gpu:faults:increase10m",
    *GPU,
    "fault_class",
    meaning="Faults of the last ten minutes by class, as the table of XIDs has it; only while there are any.",
)
BEGAN = gauge(
    "gpu:infrastructure_fault_began:bool",
    *GPU,
    meaning="1 for the ten minutes after a fault of the infrastructure that follows ten quiet ones: a burst counts once.",
)
APP_FAULT_HOLDER = info(
    "gpu:app_fault_holder:union",
    *GPU,
    *HOLDER,
    meaning="Who held the GPU alone when an application's fault happened on it, for two minutes.",
)
APP_FAULT_ALONE = info(
    "gpu:app_fault_alone:union",
    *GPU,
    *HOLDER,
    meaning="The same where no other GPU of that work had such a fault at the time.",
)
LOST = gauge("gpu:lost:bool", *GPU, meaning="1 while the driver knew this GPU and does not find it any more.")
STUCK = gauge("gpu:stuck:bool", *GPU, meaning="1 while a call of the driver about this GPU does not return.")
DRIVER_UP = gauge("node:driver_up:bool", *NODE, meaning="1 while the agent can talk to the driver; 0 while it cannot.")
SRAM_EXCEEDED = gauge(
    "gpu:sram_threshold_exceeded:bool",
    *GPU,
    meaning="1 once the GPU had more SRAM errors than its maker accepts.",
)

SWITCH_FAULTS = gauge(
    "node:nvswitch_faults:increase10m",
    *NODE,
    meaning="Fatal errors (SXID) of NVLink switches of the last ten minutes; only while there are any.",
)
LINKS_EXPECTED = gauge(
    "gpu:nvlink_links_expected:max7d",
    *GPU,
    meaning="NVLink links that a GPU should have: the most that it had up at any full hour of a week.",
)
LINK_ERRORS = gauge(
    "gpu:interconnect_errors:increase15m",
    *GPU,
    "interconnect",
    meaning="Errors of a quarter of an hour that a healthy link has not, over nvlink or pcie; only while there are any.",
)
FABRIC = gauge(
    "gpu:fabric_fault:bool",
    *GPU,
    "condition",
    meaning="1 while a GPU is not, or not rightly, a member of its NVLink fabric, by what is wrong; only while it is so.",
)
FABRIC_MEMBERS = gauge(
    "node:fabric_members:count", *NODE, meaning="GPUs that have registered with the NVLink fabric of their node."
)
PCIE_DEGRADED = gauge(
    "gpu:pcie_degraded:ratio",
    *GPU,
    "what",
    unit=Unit.RATIO,
    meaning="Width, or generation, of the PCIe link over the best that it can do, while it is below; the generation "
    "only while the GPU works, as it falls in idleness.",
)
