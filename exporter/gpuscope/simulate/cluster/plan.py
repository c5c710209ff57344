"""The fleet that a simulated cluster has by default: a scenario for each node.

Eight kinds of nodes take turns: two that train together, one with a PyTorchJob, one with MIG, two that serve models,
one whose holder does nothing, and one that breaks and is cordoned. The same files run the agents of these nodes.
"""

from collections.abc import Mapping
from typing import Any

from gpuscope.simulate.cluster.shape import Shape

__all__ = ["BLOCK", "CORDON", "scenarios_of"]

BLOCK = 8
"""Nodes after which the kinds repeat."""

CORDON = {"every": 2400, "fault": 2160, "cordoned": 2190, "repaired": 1200, "uncordoned": 1320, "begin": 1380}
"""Seconds of the turn of a node that breaks: it begins broken, is repaired, works, and breaks again."""

_DRIVER = {"version": "590.48.01", "cuda": 13010, "kernel_module": "open"}
_FILESYSTEMS = [
    {"type": "lustre", "name": "lustre01", "mountpoint": "/lustre01", "targets": 4},
    {"type": "nfs4", "name": "nas01:/export/shared", "mountpoint": "/shared"},
    {"type": "xfs", "name": "/dev/md0", "mountpoint": "/scratch"},
]
_TURNS = 30
_XID = 94
_USERS = {"team-llm": "mei", "team-vision": "otto", "team-research": "anna", "team-chat": "nora"}
_SAME = ("gpus", "mig", "begin", "end", "every", "activity")
_AGAIN = (1, 3, 6, 7)
"""Kinds of nodes with a job that comes again: the first and the second share theirs."""
_AGAIN_ID, _ONCE_ID, _MOST_PODS = 1_000_000, 100_000, 20
_ATTEMPTS = {"llama": 3, "moe": 4}
"""So often Slurm requeues what breaks; the last attempt is the end of the job."""
_Parts = dict[str, Any]


def scenarios_of(shape: Shape) -> Mapping[str, _Parts]:
    """Each node's scenario, as it would stand in a file, by the name of the node."""
    return {f"gpu-{number + 1:03d}": _scenario(shape, number // BLOCK, number % BLOCK) for number in range(shape.nodes)}


def _scenario(shape: Shape, block: int, kind: int) -> _Parts:
    suffix = f"-{block + 1}" if block else ""
    builders = (_pretrain, _pretrain, _pytorch, _mig if shape.mig else _sweep, _chat, _serving, _idle, _breaking)
    builder = builders[kind] if shape.inference or kind not in {4, 5} else _sweep
    found: _Parts = {"title": f"Node of kind {kind} of a simulated cluster", "driver": _DRIVER}
    found |= {"filesystems": _FILESYSTEMS, **builder(shape, suffix, kind)}
    _hurry(found, shape.pace)
    if shape.slurm:
        found["jobs"] = _as_jobs(found.pop("pods"), block, kind, shape)
        found["gpus"] = [{key: value for key, value in gpu.items() if key != "replicas"} for gpu in found["gpus"]]
    return found


def _hurry(scenario: _Parts, pace: float) -> None:
    """Divides all times of a scenario."""
    if pace == 1:
        return
    for part in (*scenario["pods"], *scenario.get("events", ())):
        for key in ("at", "begin", "end", "every"):
            if key in part:
                part[key] = round(part[key] / pace)


def _as_jobs(pods: list[_Parts], block: int, kind: int, shape: Shape) -> list[_Parts]:
    """The same holders as jobs of Slurm: pods of one workload are one job; of those that share a GPU one is there."""
    found: dict[str, _Parts] = {}
    taken: set[object] = set()
    for number, pod in enumerate(pods):
        held = [*pod.get("gpus", ()), *pod.get("mig", ())]
        if not held or taken & set(held):
            continue
        taken |= set(held)
        name = str(pod.get("job_name", pod["name"]))
        if name in found:
            found[name]["gpus"] = [*found[name]["gpus"], *pod["gpus"]]
            continue
        again = "every" in pod
        # Numbers of jobs that come again differ in what is below ID_STEP, so that no two ever meet.
        identity = _AGAIN_ID + block * len(_AGAIN) + _AGAIN.index(max(1, kind)) if again else 0
        found[name] = {
            "id": identity or _ONCE_ID + (block * BLOCK + kind) * _MOST_PODS + number, "job_name": name,
            "user": _USERS.get(pod["namespace"], "kim"), "account": pod["namespace"].removeprefix("team-"),
            "partition": "gpu", **{key: pod[key] for key in _SAME if key in pod},
        }  # fmt: skip
        stem = name.partition("-pretrain")[0]
        if again and shape.faults and stem in _ATTEMPTS:
            found[name]["attempts"] = _ATTEMPTS[stem]
    return list(found.values())


def _whole(count: int = 8, job: str = "training", **more: Any) -> _Parts:
    return {"model": "h100-sxm", "count": count, "job": job, **more}


def _pod(team: str, name: str, activity: str, gpus: list[int] | None = None, **more: Any) -> _Parts:
    found: _Parts = {"namespace": f"team-{team}", "name": name, "activity": activity, **more}
    return found if gpus is None else found | {"gpus": gpus}


def _pretrain(shape: Shape, suffix: str, kind: int) -> _Parts:
    name = f"llama-pretrain{suffix}"
    pod = _pod("llm", f"{name}-worker-0-{kind}", "training", list(range(8)), job_name=name, end=1020, every=1200)
    events: list[_Parts] = []
    if shape.faults and kind == 1:
        for turn in range(_TURNS):
            at = 940 + turn * 3600
            events.append({"at": at, "do": "xid", "gpu": 5, "code": _XID, "message": "Contained: SM (0x1). RST: No"})
            events.append({"at": at, "do": "ecc", "gpu": 5, "uncorrected": 1})
    return {"gpus": [_whole(job_name=name)], "pods": [pod], "events": events}


def _pytorch(_shape: Shape, suffix: str, _kind: int) -> _Parts:
    name = f"vit-large{suffix}"
    pods = [
        _pod("vision", f"{name}-master-0", "training", [0, 1, 2, 3], job_name=name),
        _pod("vision", f"{name}-worker-0", "training", [4, 5, 6, 7], job_name=name),
    ]
    return {"gpus": [_whole(job_name=name)], "pods": pods}


def _mig(_shape: Shape, suffix: str, _kind: int) -> _Parts:
    small = {"profile": "1g.10gb", "job": "notebook"}
    gpus = [
        _whole(2, "finetune", job_name="mistral-sft"),
        _whole(1, "inference", replicas=4),
        _whole(1, "idle"),
        {"model": "h100-sxm", "mig": [small] * 7},
        {"model": "h100-sxm", "mig": [{"profile": "3g.40gb"}, {"profile": "4g.40gb"}]},
        {"model": "h100-sxm", "mig": [{"profile": "2g.20gb"}, {"profile": "1g.20gb"}, {"profile": "3g.40gb"}]},
        {"model": "h100-sxm", "mig": [{"profile": "2g.20gb"}]},
    ]
    pods = [
        _pod("llm", f"mistral-sft{suffix}-0", "finetune", [0, 1]),
        _pod("search", f"embeddings{suffix}-7b6f98d4c9-d4kqz", "inference", [2]),
        _pod("search", f"embeddings{suffix}-7b6f98d4c9-m2xwr", "inference", [2]),
        _pod("research", f"notebook-ben{suffix}", "notebook", mig=["4/0"]),
        _pod("research", f"notebook-chen{suffix}", "idle", mig=["4/1"]),
        _pod("search", f"rerank{suffix}-0", "inference", mig=["4/2"]),
        _pod("search", f"rerank{suffix}-1", "inference", mig=["4/3"]),
        _pod("llm", f"adapter-sft{suffix}-0", "finetune", mig=["5/0"]),
        _pod("search", f"answers{suffix}-0", "inference", mig=["5/1"]),
        _pod("vision", f"detector-train{suffix}-0", "training", mig=["6/2"]),
        _pod("vision", f"thumbnails{suffix}", "batch", mig=["6/1"], end=400, every=480),
    ]
    if not _shape.inference:
        pods = [pod for pod in pods if pod["activity"] != "inference"]
    return {"gpus": gpus, "pods": pods}


def _sweep(_shape: Shape, suffix: str, kind: int) -> _Parts:
    pods = [_pod("llm", f"sweep-{kind}{suffix}-{gpu}", "finetune", [2 * gpu, 2 * gpu + 1]) for gpu in range(3)]
    return {"gpus": [_whole(job="finetune")], "pods": pods}


def _chat(_shape: Shape, suffix: str, _kind: int) -> _Parts:
    pods = [
        _pod("chat", f"chat{suffix}-7d4b9c6f58-x2x4k", "inference", [0, 1, 2, 3]),
        _pod("chat", f"chat{suffix}-7d4b9c6f58-p9q7t", "inference", [4, 5, 6, 7]),
    ]
    return {"gpus": [_whole(job="inference", job_name="chat")], "pods": pods}


def _serving(_shape: Shape, suffix: str, _kind: int) -> _Parts:
    held = {
        f"reason-prefill{suffix}-0": [0, 1], f"reason-decode{suffix}-0": [2, 3], f"sglang{suffix}-0": [4, 5],
        f"tgi{suffix}-0": [6], f"triton{suffix}-0": [7], f"trtllm{suffix}-0": [7], f"dynamo{suffix}-0": [7],
        f"legacy{suffix}-0": [7],
    }  # fmt: skip
    pods = [_pod("chat", name, "inference", gpus) for name, gpus in held.items()]
    return {"gpus": [_whole(7, "inference"), _whole(1, "inference", replicas=4)], "pods": pods}


def _idle(_shape: Shape, suffix: str, _kind: int) -> _Parts:
    pods = [
        _pod("research", f"notebook-anna{suffix}", "idle", [0, 1, 2, 3]),
        _pod("research", f"notebook-dora{suffix}", "notebook", [4]),
        _pod("research", f"evaluate{suffix}", "batch", [5], end=480, every=600),
    ]
    return {"gpus": [_whole(job="idle")], "pods": pods}


def _breaking(shape: Shape, suffix: str, _kind: int) -> _Parts:
    name = f"moe-pretrain{suffix}"
    pod = _pod("llm", f"{name}-worker-0-0", "training", list(range(8)), job_name=name, every=CORDON["every"])
    events: list[_Parts] = []
    if not shape.faults:
        return {"gpus": [_whole(job_name=name)], "pods": [{**pod, "end": 840}]}
    pod |= {"begin": CORDON["begin"], "end": CORDON["cordoned"]}
    for turn in range(-1, _TURNS):
        shift = turn * CORDON["every"]
        at = max(5, CORDON["fault"] + shift)
        events.append({"at": at, "do": "xid", "gpu": 3, "code": 79, "message": "GPU has fallen off the bus."})
        events.append({"at": at, "do": "lost", "gpu": 3})
        events.append({"at": CORDON["repaired"] + shift + CORDON["every"], "do": "recovered", "gpu": 3})
    return {"gpus": [_whole(job_name=name)], "pods": [pod], "events": events}
