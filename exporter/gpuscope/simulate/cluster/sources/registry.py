"""Every source that can be simulated."""

from collections.abc import Mapping

from gpuscope.simulate.cluster.sources import (
    amd,
    cadvisor,
    classic_engines,
    dcgm,
    hyperpod,
    kube_state,
    kueue,
    llm_d,
    lustre,
    nccl,
    node_exporter,
    nvidia_engines,
    nvsentinel,
    operators,
    ray_train,
    sglang,
    slurm,
    slurm_exporters,
    vllm,
)
from gpuscope.simulate.cluster.sources.target import Source

__all__ = ["SOURCES"]

_ALL = (
    dcgm.CLASSIC, dcgm.MODERN, amd.AMD, kube_state.KUBE_STATE, kube_state.KUBE_STATE_PAIR, cadvisor.CADVISOR,
    node_exporter.NODE, node_exporter.NODE_EFA, vllm.VLLM, vllm.VLLM_OLD, sglang.SGLANG, classic_engines.TGI,
    classic_engines.TRITON, nvidia_engines.TRTLLM, nvidia_engines.DYNAMO, kueue.KUEUE, operators.TRAINING_OPERATOR,
    operators.JOBSET, operators.HYPERPOD, hyperpod.HYPERPOD_INFERENCE, hyperpod.NVIDIA_MIG, hyperpod.KEDA, llm_d.LLM_D,
    nvsentinel.NVSENTINEL, nccl.NCCL, ray_train.RAY_TRAIN, lustre.LUSTRE, lustre.FSX, slurm.SLURM,
    slurm_exporters.VPENSO, slurm_exporters.RIVOSINC,
)  # fmt: skip

SOURCES: Mapping[str, Source] = {source.name: source for source in _ALL}
"""Sources by name."""
