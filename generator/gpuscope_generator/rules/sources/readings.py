"""Which metric of our catalogue stands for which normalized series: the agent and dcgm-exporter share the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuscope.catalogue import activity, clocks, ecc, memory, nvlink, pcie, power, recovery, remapping, temperature
from gpuscope.catalogue.metric import Metric
from gpuscope_generator.normalized import fault, gpu, mig
from gpuscope_generator.promql import Counter, Gauge

__all__ = ["INSTANCE_READINGS", "PARTITIONED_READINGS", "READINGS", "RECOVERY", "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A value that is taken over as it is.

    Attributes:
        target: the normalized series.
        metric: of our catalogue; its DCGM names come with it.
        equal: labels that pick one series of the metric.
        extra: labels that the target has beside those of the device.
    """

    target: Gauge | Counter
    metric: Metric
    equal: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()


READINGS = (
    Reading(gpu.POWER, power.POWER),
    Reading(gpu.POWER_LIMIT, power.LIMIT, {"limit": "enforced"}),
    Reading(gpu.ENERGY, power.ENERGY),
    Reading(gpu.TEMPERATURE, temperature.TEMPERATURE, {"sensor": "gpu"}),
    Reading(gpu.MEMORY_TEMPERATURE, temperature.TEMPERATURE, {"sensor": "memory"}),
    Reading(gpu.CLOCK, clocks.CLOCK, {"clock": "sm"}),
    Reading(gpu.ECC_ERRORS, ecc.ERRORS, {"location": "total"}, ("severity",)),
    Reading(gpu.REMAPPED_ROWS, remapping.ROWS, {}, ("cause",)),
    Reading(gpu.REMAPPING_PENDING, remapping.ROWS_PENDING),
    Reading(gpu.REMAPPING_FAILED, remapping.FAILED),
    Reading(fault.SRAM_EXCEEDED, ecc.SRAM_THRESHOLD),
    Reading(gpu.PCIE_REPLAYS, pcie.REPLAYS),
    Reading(gpu.NVLINK_ERRORS, nvlink.ERRORS, {}, ("type",)),
)
"""Facts about the whole GPU, also while it is in MIG mode."""

RECOVERY = Reading(gpu.RECOVERY_ACTION, recovery.RECOVERY_ACTION, {}, ("action",))

PARTITIONED_READINGS = (
    Reading(gpu.SM_ACTIVE, activity.SM_RATIO),
    Reading(gpu.OCCUPANCY, activity.OCCUPANCY_RATIO),
    Reading(gpu.TENSOR_ACTIVE, activity.TENSOR_RATIO),
    Reading(gpu.DRAM_ACTIVE, activity.DRAM_RATIO),
    Reading(gpu.MEMORY_USED, memory.USED),
)
"""Facts about the whole GPU that are told by instance in MIG mode."""

INSTANCE_READINGS = (
    Reading(mig.COMPUTE_ACTIVE, activity.MIG_GRAPHICS_RATIO),
    Reading(mig.SM_ACTIVE, activity.MIG_SM_RATIO),
    Reading(mig.OCCUPANCY, activity.MIG_OCCUPANCY_RATIO),
    Reading(mig.TENSOR_ACTIVE, activity.MIG_TENSOR_RATIO),
    Reading(mig.DRAM_ACTIVE, activity.MIG_DRAM_RATIO),
)
"""Activity of MIG instances."""
