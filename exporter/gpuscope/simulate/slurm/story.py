"""What happens on the simulated Slurm, again and again: who submits what, how it goes, and which node has trouble."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["CYCLE_S", "HOSTS", "JOBS", "TROUBLES", "Fate", "Host", "JobPlan", "Trouble"]

CYCLE_S = 240
"""After so many seconds the story begins anew, with other job ids."""


class Fate(StrEnum):
    """How a job goes."""

    SUCCEEDS = "succeeds"
    FAILS = "fails"  # exit code 1
    CRASHES = "crashes"  # signal 11
    OUT_OF_MEMORY = "out_of_memory"  # the kernel ends it
    TIMES_OUT = "times_out"
    CANCELLED = "cancelled"  # by its user
    REQUEUED = "requeued"  # by a person; goes on afterwards
    STARTS_AGAIN = "starts_again"  # by its own exit code (RequeueExit); goes on afterwards
    HELD = "held"  # by its user, for a while


@dataclass(frozen=True, slots=True)
class Host:
    """A node: its partition and GPUs, its CPUs and memory, and what of these a job gets with a GPU."""

    name: str
    partition: str
    gpu_type: str
    gpus: int
    cpus: int = 96
    memory_mib: int = 1_000_000
    cpus_per_gpu: int = 1
    mib_per_gpu: int = 32_000


@dataclass(frozen=True, slots=True)
class JobPlan:
    """A job.

    Attributes:
        at: second of the cycle at which it is submitted.
        seconds: how long an attempt goes on, unless a node takes it away.
        nodes: number of nodes.
        gpus: GPUs on each.
    """

    at: int
    name: str
    user: str
    account: str
    partition: str
    nodes: int
    gpus: int
    seconds: int
    fate: Fate = Fate.SUCCEEDS


@dataclass(frozen=True, slots=True)
class Trouble:
    """A node that is out of use for a while.

    Attributes:
        at: second of the cycle at which it begins.
        state: ``down`` takes its jobs away; ``drain`` and ``maint`` only let no new ones in.
    """

    at: int
    node: str
    state: str
    reason: str
    by: str
    seconds: int


HOSTS = (
    *(Host(f"train-{number}", "train", "h100", 8) for number in range(1, 7)),
    *(Host(f"dev-{number}", "dev", "l40s", 4) for number in range(1, 3)),
)

_TRAIN = (
    JobPlan(0, "llama-70b-pretrain", "mei", "foundation", "train", 4, 8, 150),
    JobPlan(4, "vit-l-finetune", "otto", "vision", "train", 1, 8, 60),
    JobPlan(12, "whisper-large", "ines", "speech", "train", 2, 8, 80),
    JobPlan(30, "moe-8x7b", "mei", "foundation", "train", 2, 8, 70, Fate.FAILS),
    JobPlan(45, "diffusion-xl", "ravi", "vision", "train", 1, 8, 100, Fate.TIMES_OUT),
    JobPlan(60, "reward-model", "lena", "alignment", "train", 1, 8, 35, Fate.CANCELLED),
    JobPlan(75, "protein-fold", "noor", "biology", "train", 2, 8, 45, Fate.OUT_OF_MEMORY),
    JobPlan(90, "rlhf-ppo", "lena", "alignment", "train", 1, 8, 60, Fate.REQUEUED),
    JobPlan(120, "tts-multilingual", "ines", "speech", "train", 1, 8, 50, Fate.STARTS_AGAIN),
    JobPlan(150, "detr-sweep", "ravi", "vision", "train", 1, 4, 40, Fate.CRASHES),
    JobPlan(151, "clip-retrain", "otto", "vision", "train", 1, 4, 45),
)
_DEV = (
    ("eval-mmlu", "mei", "foundation", Fate.SUCCEEDS), ("tokenize", "ines", "speech", Fate.SUCCEEDS),
    ("eval-gsm8k", "lena", "alignment", Fate.SUCCEEDS), ("debug-nccl", "ravi", "vision", Fate.FAILS),
    ("profile-attention", "otto", "vision", Fate.SUCCEEDS), ("export-onnx", "noor", "biology", Fate.HELD),
)  # fmt: skip
_DEV_EVERY_S = 10

JOBS: tuple[JobPlan, ...] = tuple(
    sorted(
        (
            *_TRAIN,
            *(
                JobPlan(
                    at,
                    *_DEV[number % len(_DEV)][:3],
                    "dev",
                    1,
                    1 + number % 2,
                    14 + number % 3 * 4,
                    _DEV[number % len(_DEV)][3],
                )
                for number, at in enumerate(range(3, CYCLE_S, _DEV_EVERY_S))
            ),
        ),
        key=lambda plan: plan.at,
    )
)
TROUBLES: tuple[Trouble, ...] = (
    Trouble(65, "train-2", "down", "Not responding", "slurm", 45),
    Trouble(140, "train-5", "drain", "XID 79 on GPU 3, ticket 812", "ops", 60),
    Trouble(180, "dev-2", "maint", "firmware update", "ops", 30),
)
