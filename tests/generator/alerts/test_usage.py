"""Alerts about GPUs that are held for nothing."""

from pathlib import Path

from tests.generator.alerting import fires, says
from tests.generator.rules.fleet import Device, dcgm, native

GIB = 2**30
EVERY = "5m"
"""Of samples and evaluations: the alerts look back over hours."""
RULES = ("level-workload", "usage")
LONG = "x70"


def owner(gpu: int, name: str, values: str = f"1{LONG}", *, kind: str = "JobSet", queue: str = "q") -> dict[str, str]:
    where = f'cluster="c",node="n1",gpu="{gpu}",uuid="GPU-{gpu}"'
    work = f'namespace="ml",pod="{name}-0",workload_kind="{kind}",workload="{name}",team="nlp",queue="{queue}"'
    return {f"gpu:owner:union{{{where},{work}}}": values}


def active(gpu: int, values: str) -> dict[str, str]:
    return {f'gpu:compute_active:ratio_union{{cluster="c",node="n1",gpu="{gpu}",uuid="GPU-{gpu}"}}': values}


def memory(gpu: int, used: float) -> dict[str, str]:
    where = f'cluster="c",node="n1",gpu="{gpu}",uuid="GPU-{gpu}"'
    return {
        f"gpu:memory_used_bytes:union{{{where}}}": f"{int(used * 80 * GIB)}{LONG}",
        f"gpu:memory_total_bytes:union{{{where}}}": f"{80 * GIB}{LONG}",
    }


def instance(gpu: int, gi: int, name: str, busy: float | None) -> dict[str, str]:
    where = f'cluster="c",node="n1",gpu="{gpu}",uuid="GPU-{gpu}",gi="{gi}",profile="1g.10gb"'
    work = f'namespace="ml",pod="{name}-0",workload_kind="JobSet",workload="{name}",team="nlp",queue="q"'
    found = {
        f'mig:info:union{{{where},mig_uuid="MIG-{gpu}-{gi}",model="H100"}}': f"1{LONG}",
        f"mig:slices:count{{{where}}}": f"1{LONG}",
        f"mig:owner:union{{{where},{work}}}": f"1{LONG}",
    }
    return found if busy is None else found | {f"mig:compute_active:ratio_union{{{where}}}": f"{busy}{LONG}"}


def firing(name: str, workload: str, severity: str = "info", kind: str = "JobSet") -> str:
    return (
        f'{name}{{cluster="c", namespace="ml", workload_kind="{kind}", workload="{workload}", team="nlp", '
        f'severity="{severity}"}}'
    )


def idle(workload: str, severity: str = "info") -> str:
    return firing("GpuAllocatedIdle", workload, severity)


def test_gpus_that_do_nothing_for_an_hour_and_a_half_and_for_four(tmp_path: Path) -> None:
    samples = (
        owner(0, "sleepy") | active(0, f"0.04{LONG}")
        | owner(1, "sleepy") | active(1, f"0{LONG}")
        # Of a GPU that is shared nobody works.
        | owner(2, "one") | owner(2, "two") | active(2, f"0{LONG}")
        | instance(3, 1, "slice", 0.0)
    )  # fmt: skip
    four = ["sleepy", "one", "two", "slice"]
    expected = {
        "85m": [],
        "90m": [idle(name) for name in four],
        "235m": [idle(name) for name in four],
        "240m": [idle(name, severity) for name in four for severity in ("info", "warning")],
    }
    fires(tmp_path, samples, expected, every=EVERY, only=RULES)


def test_what_works_is_unknown_or_may_rest_is_silent(tmp_path: Path) -> None:
    samples = (
        owner(0, "busy") | active(0, f"0.5{LONG}")
        | owner(1, "just-so") | active(1, f"0.05{LONG}")
        | owner(2, "bursts") | active(2, " ".join(["0", "0", "0", "0.2"] * 18))
        | owner(3, "unknown")
        | owner(4, "gaps") | active(4, " ".join(["0", "0", "_", "_", "_", "_"] * 12))
        | owner(5, "lab", kind="Notebook") | active(5, f"0{LONG}")
        | owner(6, "shell", queue="interactive-gpu") | active(6, f"0{LONG}")
        | owner(7, "chat", kind="Deployment") | active(7, f"0{LONG}")
        | {'model:info:union{cluster="c",namespace="ml",model="m",engine="vllm",workload="chat"}': f"1{LONG}"}
        | owner(8, "") | active(8, f"0{LONG}")
        # A GPU that nobody holds is free; and MIG instances of which nobody tells the activity are unknown.
        | active(9, f"0{LONG}")
        | instance(10, 1, "slice", None) | instance(10, 2, "works", 0.9)
        | owner(10, "slice")
    )  # fmt: skip
    times = {f"{minute}m": [] for minute in range(0, 350, 15)}
    fires(tmp_path, samples, times, every=EVERY, only=RULES)


def test_a_job_that_begins_is_not_idle_for_the_time_before_it(tmp_path: Path) -> None:
    samples = owner(0, "young", f"_x12 1{LONG}") | active(0, f"0{LONG}")
    fires(tmp_path, samples, {"145m": [], "155m": [idle("young")]}, every=EVERY, only=RULES)


def test_work_and_gone_series_end_it(tmp_path: Path) -> None:
    samples = (
        owner(0, "wakes") | active(0, "0x20 0.9x50")
        | owner(1, "vanishes") | active(1, "0x20 stale")
        | owner(2, "ends", "1x20 stale") | active(2, f"0{LONG}")
    )  # fmt: skip
    three = [idle("wakes"), idle("vanishes"), idle("ends")]
    fires(tmp_path, samples, {"100m": three, "115m": []}, every=EVERY, only=RULES)


def test_memory_that_is_held_by_gpus_that_hardly_work(tmp_path: Path) -> None:
    samples = (
        owner(0, "resident") | active(0, f"0.07{LONG}") | memory(0, 0.9)
        | owner(1, "small") | active(1, f"0.07{LONG}") | memory(1, 0.5)
        | owner(2, "works") | active(2, f"0.2{LONG}") | memory(2, 0.9)
    )  # fmt: skip
    expected = {"115m": [], "120m": [firing("GpuMemoryHeldIdle", "resident")]}
    fires(tmp_path, samples, expected, every=EVERY, only=RULES)


def test_from_the_agent_and_from_dcgm_exporter_alike(tmp_path: Path) -> None:
    """The whole chain: devices, pods, workloads."""
    quiet = Device(pod="train-0", compute=0.0)
    pods = 'pod:info:union{node="n1",namespace="ml",pod="%s",workload_kind="JobSet",workload="%s",team="nlp",queue=""}'
    samples = native(quiet) | {pods % ("train-0", "train"): "1x40"}
    other = Device(pod="other-0", compute=0.0, uuid="GPU-b", gpu=1, node="n2")
    samples |= dcgm(other) | {(pods % ("other-0", "other")).replace("n1", "n2"): "1x40"}
    work = 'namespace="ml", workload_kind="JobSet", team="nlp", severity="info"'
    expected = [f'GpuAllocatedIdle{{{work}, workload="{name}"}}' for name in ("train", "other")]
    rules = ("gpuscope", "dcgm", "devices", *RULES)
    fires(tmp_path, samples, {"85m": [], "95m": expected}, every=EVERY, only=rules)


def test_what_it_says(tmp_path: Path) -> None:
    samples = owner(0, "sleepy") | active(0, f"0{LONG}") | owner(1, "sleepy") | active(1, f"0{LONG}")
    says(
        tmp_path,
        samples,
        "GpuAllocatedIdle",
        [
            {
                "labels": {
                    "cluster": "c",
                    "namespace": "ml",
                    "workload_kind": "JobSet",
                    "workload": "sleepy",
                    "team": "nlp",
                    "severity": "info",
                    "scope": "job",
                    "component": "usage",
                    "audience": "owner",
                },
                "annotations": {
                    "summary": "A workload has held GPUs for an hour and a half that did nothing.",
                    "description": "ml/sleepy holds 2 GPUs whose compute activity over the last hour was below 5 % on "
                    "average and never reached 10 %. Somebody else could use them. Shared GPUs and MIG instances count "
                    "by their share.",
                    "location": "namespace ml, workload sleepy",
                    "owner": "ml/sleepy, team nlp",
                    "measured": "2 GPUs",
                    "recommended_action": "Look whether the job still works; stop it if it does not, or ask for fewer "
                    "GPUs.",
                    "runbook_url": "https://github.com/gpuscope/gpuscope/blob/main/docs/runbooks/GpuAllocatedIdle.md",
                    "dashboard_url": "/d/gpuscope-task/task?var-cluster=c&var-namespace=ml&var-workload=sleepy",
                },
            }
        ],
        at="95m",
        every=EVERY,
        only=RULES,
    )
