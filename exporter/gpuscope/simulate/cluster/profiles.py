"""What is installed in a simulated cluster, and what it is like, by profile; profiles can be joined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gpuscope.simulate.cluster.shape import Shape

__all__ = ["PROFILES", "Plan", "Profile", "planned"]

_BASE = (
    "dcgm-classic", "kube-state", "cadvisor", "node", "vllm", "vllm-old", "sglang", "tgi", "triton", "trtllm", "dynamo",
    "kueue", "training-operator", "jobset", "hyperpod", "hyperpod-inference", "nvidia-mig", "nvsentinel", "nccl",
    "ray-train", "lustre", "fsx", "keda", "llm-d",
)  # fmt: skip
_GPUS = ("dcgm-classic", "dcgm-modern")
_INFERENCE = (
    "vllm", "vllm-old", "sglang", "tgi", "triton", "trtllm", "dynamo", "hyperpod-inference", "keda", "llm-d",
)  # fmt: skip
_KUBERNETES = (
    "kube-state", "kube-state-pair", "cadvisor", "kueue", "training-operator", "jobset", "hyperpod", "nvidia-mig",
    "nvsentinel", "ray-train", *_INFERENCE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Profile:
    """A way in which clusters differ.

    Attributes:
        text: one line about it.
        add: sources that come.
        drop: sources that go.
        shape: fields of ``Shape`` that it sets.
        twice: whether there are two such clusters.
    """

    text: str
    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    shape: Mapping[str, Any] = field(default_factory=dict)
    twice: bool = False


PROFILES = {
    "native": Profile(
        "GPUs are told of by agents of gpuscope: no dcgm-exporter, and no HyperPod",
        drop=(*_GPUS, "hyperpod", "nvidia-mig"),
    ),
    "dcgm-classic": Profile("dcgm-exporter with the names of before DCGM 4.6 (default)", ("dcgm-classic",), _GPUS[1:]),
    "dcgm-modern": Profile("dcgm-exporter with the names of DCGM 4.6", ("dcgm-modern",), ("dcgm-classic",)),
    "amd": Profile("two nodes with AMD GPUs beside the others", ("amd",)),
    "mig": Profile("one node in eight has MIG (default)", shape={"mig": True}),
    "no-mig": Profile("no GPU has MIG", drop=("nvidia-mig",), shape={"mig": False}),
    "slurm": Profile(
        "Slurm only: no Kubernetes; Slurm's own metrics and two exporters",
        ("slurm", "slurm-vpenso", "slurm-rivosinc"), _KUBERNETES, {"slurm": True, "inference": False},
    ),
    "no-inference": Profile("nothing serves models", drop=_INFERENCE, shape={"inference": False}),
    "kube-state-pair": Profile("two kube-state-metrics say everything twice", ("kube-state-pair",), ("kube-state",)),
    "two-clusters": Profile("two clusters with the same names of nodes and pods", twice=True),
    "efa": Profile("EFA instead of InfiniBand", ("node-efa",), ("node",)),
    "healthy": Profile("nothing breaks, fills up or bursts", shape={"faults": False}),
    "faults": Profile(
        "jobs break and restart, a node is cordoned, a file system fills (default)", shape={"faults": True}
    ),
}  # fmt: skip
"""All profiles by name."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to simulate.

    Attributes:
        shapes: of each cluster.
        sources: names of the sources of each.
    """

    shapes: tuple[Shape, ...]
    sources: tuple[str, ...]


def planned(shape: Shape, profiles: Sequence[str]) -> Plan:
    """Joins profiles; of two that contradict each other the later one wins.

    Args:
        shape: what the cluster is like without profiles.
        profiles: names out of ``PROFILES``.
    """
    sources = list(_BASE)
    twice = False
    for name in profiles:
        profile = PROFILES[name]
        sources = [source for source in sources if source not in profile.drop]
        sources += [source for source in profile.add if source not in sources]
        shape = replace(shape, **profile.shape)
        twice = twice or profile.twice
    shapes: tuple[Shape, ...] = (shape,)
    if twice:
        shapes = (shape, replace(shape, cluster=f"{shape.cluster}-2", seed=f"{shape.seed}second"))
    return Plan(shapes, tuple(sources))
