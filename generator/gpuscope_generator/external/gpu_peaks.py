"""Peaks of GPU models from NVIDIA's and AMD's data sheets: dense BF16 operations, and bytes of memory, a second.

What is not listed here has no peak, and no utilization is computed from it: a guess would be worse.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PEAKS", "Peak"]


@dataclass(frozen=True, slots=True)
class Peak:
    """What a GPU can do at best.

    Attributes:
        models: regular expression of the model's name, as drivers spell it; no name matches two of them.
        flops: dense operations a second in BF16, in FP16 where the GPU has no BF16; without sparsity.
        memory_bytes: bytes a second to its memory.
    """

    models: str
    flops: float
    memory_bytes: float


PEAKS = (
    Peak("(NVIDIA |Tesla )?V100-SXM.*", 125e12, 0.9e12),
    Peak("(NVIDIA )?A100-SXM4-40GB", 312e12, 1.555e12),
    Peak("(NVIDIA )?A100-SXM4-80GB", 312e12, 2.039e12),
    Peak("(NVIDIA )?A100 80GB PCIe|(NVIDIA )?A100-PCIE-80GB", 312e12, 1.935e12),
    Peak("(NVIDIA )?A10", 125e12, 0.6e12),
    Peak("(NVIDIA )?A10G", 70e12, 0.6e12),
    Peak("(NVIDIA )?L4", 121e12, 0.3e12),
    Peak("(NVIDIA )?L40S", 362e12, 0.864e12),
    Peak("(NVIDIA )?H100 80GB HBM3", 989.4e12, 3.35e12),
    Peak("(NVIDIA )?H100 PCIe", 756e12, 2.0e12),
    Peak("(NVIDIA )?H100 NVL", 835e12, 3.9e12),
    Peak("(NVIDIA )?GH200 480GB", 989.4e12, 4.0e12),
    Peak("(NVIDIA )?H200", 989.4e12, 4.8e12),
    Peak("(NVIDIA )?H200 NVL", 835e12, 4.8e12),
    Peak("(NVIDIA )?B200", 2250e12, 8.0e12),
    Peak("(NVIDIA )?GB200", 2500e12, 8.0e12),
    Peak("(AMD Instinct )?MI300X.*", 1307.4e12, 5.3e12),
    Peak("(AMD Instinct )?MI325X.*", 1307.4e12, 6.0e12),
)
"""Change a line, or add one, when a data sheet says so."""
