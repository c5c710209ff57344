"""Which workload a pod belongs to, and what a training job goes through."""

import re
from dataclasses import dataclass
from zlib import crc32

from gpuscope.simulate.cluster.curves import Cycle
from gpuscope.simulate.jobs import JobPlan
from gpuscope.simulate.pods import PodPlan
from gpuscope.simulate.scenario import Scenario

__all__ = [
    "BATCH", "ENGINES", "TRAINING", "Attempts", "Workload", "activity_of", "attempts_of", "engine_of", "steady",
    "workload_of",
]  # fmt: skip

TRAINING = ("JobSet", "PyTorchJob", "Job")
"""Kinds that are queued by Kueue and come to an end."""

ENGINES = {
    "chat": ("vllm", "meta-llama/Llama-3.3-70B-Instruct", ""),
    "reason-prefill": ("vllm", "Qwen/Qwen3-235B-A22B", "prefill"),
    "reason-decode": ("vllm", "Qwen/Qwen3-235B-A22B", "decode"),
    "legacy": ("vllm-old", "mistralai/Mistral-7B-Instruct-v0.3", ""),
    "sglang": ("sglang", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", ""),
    "tgi": ("tgi", "bigcode/starcoder2-15b", ""),
    "triton": ("triton", "resnet50", ""),
    "trtllm": ("trtllm", "nvidia/Llama-3.1-8B-Instruct-FP8", ""),
    "dynamo": ("dynamo", "openai/gpt-oss-20b", ""),
}
"""(engine, model, role) of those who serve, by the begin of the workload's name; others are vLLM with a small model."""

_JOBSET = re.compile(r"(.+)-(worker|launcher|driver)-(\d+)-(\d+)")
_PYTORCH = re.compile(r"(.+)-(master|worker)-(\d+)")
_DEPLOYMENT = re.compile(r"(.+)-([0-9a-f]{8,10}|[a-z0-9]{5})-([bcdfghjklmnpqrstvwxz2456789]{5})")
_NUMBERED = re.compile(r"(.+)-(\d+)")
BATCH = frozenset({"training", "finetune", "batch"})
"""What is done by what comes to an end."""
_OUTCOMES = {"llama-pretrain": ("gpu_xid", "nccl_timeout", ""), "moe-pretrain": ("node_failure",)}
_JOB_OUTCOMES = {**_OUTCOMES, "evaluate": ("", "", "error")}
"""A job of Slurm that fails stays so; Kubernetes starts a pod again."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What users call their thing.

    Attributes:
        kind: of its Kubernetes object.
        owner_kind: kind of what owns the pod directly.
        owner: its name.
        replica: name of the group of pods, such as ``worker``.
        index: of the pod in the group.
    """

    namespace: str
    kind: str
    name: str
    owner_kind: str
    owner: str
    replica: str = ""
    index: int = 0

    @property
    def queue(self) -> str:
        """LocalQueue, and the ClusterQueue of the same name."""
        return self.namespace if self.kind in TRAINING else ""


def workload_of(plan: PodPlan, activity: str) -> Workload:
    """The workload of a pod, by its name and by what it does.

    Args:
        plan: the pod.
        activity: what it does, of itself or by its device.
    """
    space, name = plan.namespace, plan.name
    if match := _JOBSET.fullmatch(name):
        job = f"{match[1]}-{match[2]}-{match[3]}"
        return Workload(space, "JobSet", match[1], "Job", job, match[2], int(match[4]))
    if (match := _PYTORCH.fullmatch(name)) and activity in BATCH:
        return Workload(space, "PyTorchJob", match[1], "PyTorchJob", match[1], match[2], int(match[3]))
    if match := _DEPLOYMENT.fullmatch(name):
        return Workload(space, "Deployment", match[1], "ReplicaSet", f"{match[1]}-{match[2]}")
    if match := _NUMBERED.fullmatch(name):
        kind = "Job" if activity in BATCH else "StatefulSet"
        return Workload(space, kind, match[1], kind, match[1], "", int(match[2]))
    if activity == "batch":
        return Workload(space, "Job", name, "Job", name)
    return Workload(space, "Pod", name, "", "")


def engine_of(workload: str) -> tuple[str, str, str]:
    """(engine, model, role) of a workload that serves a model."""
    for begin, found in ENGINES.items():
        if workload == begin or workload.startswith(f"{begin}-"):
            return found
    return "vllm", f"local/{workload}", ""


@dataclass(frozen=True, slots=True)
class Attempts:
    """The attempts of a training job that comes again and again.

    Attributes:
        cycle: of its attempts.
        runs_s: seconds that an attempt holds its pods.
        outcomes: why an attempt ended, in turns; empty: it was done.
    """

    cycle: Cycle
    runs_s: float
    outcomes: tuple[str, ...] = ("",)

    LOADING_S = 40.0
    NOTICED_S = 30.0

    def outcome(self, number: int) -> str:
        """Why that attempt ends; empty: it is done."""
        return self.outcomes[number % len(self.outcomes)]

    def state(self, t: float) -> str:
        """``queued``, ``loading``, ``training``, ``detecting``, or ``recovering``."""
        number, place = self.cycle.number(t), self.cycle.place(t)
        if place >= self.runs_s:
            return "recovering" if self.outcome(number) else "queued"
        if place < self.LOADING_S:
            return "loading"
        ending = place >= self.runs_s - self.NOTICED_S
        return "detecting" if ending and self.outcome(number) else "training"

    def ended(self, since: float, until: float, reason: str | None = None) -> int:
        """How many attempts ended between two moments, for a reason."""
        first = self.cycle.number(since - self.runs_s) + 1
        last = self.cycle.number(until - self.runs_s)
        if reason is None:
            return max(0, last - first + 1)
        # Every turn of outcomes is alike: count whole ones, then the rest.
        size = len(self.outcomes)
        whole, rest = divmod(max(0, last - first + 1), size)
        return whole * self.outcomes.count(reason) + sum(
            self.outcome(number) == reason for number in range(last - rest + 1, last + 1)
        )

    def reasons(self) -> tuple[str, ...]:
        """The reasons for which its attempts fail."""
        return tuple(dict.fromkeys(reason for reason in self.outcomes if reason))

    def seconds(self, since: float, until: float, state: str) -> float:
        """Seconds between two moments in which it loaded and trained (``training``), or waited (anything else)."""
        if state == "training":
            return self.cycle.seconds(since, until, self.LOADING_S, self.runs_s - self.NOTICED_S)
        return self.cycle.seconds(since, until, self.runs_s, self.cycle.every)


def attempts_of(plan: PodPlan | JobPlan, workload: Workload, *, faults: bool) -> Attempts | None:
    """The attempts of a pod's job, or of a job of Slurm; ``None`` for one that never ends."""
    span = plan.span
    if span.every is None or span.end is None:
        return None
    known = _JOB_OUTCOMES if isinstance(plan, JobPlan) else _OUTCOMES
    stem = next((name for name in known if workload.name.startswith(name)), "")
    outcomes = known[stem] if stem and faults else ("",)
    return Attempts(Cycle(span.every, span.begin), span.end - span.begin, outcomes)


def activity_of(plan: PodPlan | JobPlan, scenario: Scenario) -> str:
    """What a pod or a job does: of itself, or as its first device says."""
    if plan.activity:
        return plan.activity
    slots = plan.slots if isinstance(plan, JobPlan) else [slot for one in plan.containers for slot in one.slots]
    for slot in slots:
        gpu = scenario.gpus[slot.gpu]
        if slot.place < 0:
            return gpu.job
        if gpu.mig and slot.place < len(gpu.mig):
            return gpu.mig[slot.place].job
    return "idle"


def steady(text: str) -> float:
    """A number from 0 to 1 that belongs to a name."""
    return crc32(text.encode()) / 2**32
