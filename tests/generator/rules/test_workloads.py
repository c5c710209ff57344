"""What pods, jobs, workloads and teams hold of GPUs, and what that does."""

from pathlib import Path

from tests.generator.promtool import expect

from gpuscope_generator.normalized import workload
from gpuscope_generator.promql import select

RULES = ("level-workload", "level-team")
GIB = 2**30


def owner(gpu: int, pod: str, *, more: str = "", node: str = "n1", name: str = "train", team: str = "nlp") -> str:
    return (
        f'gpu:owner:union{{{more}node="{node}",gpu="{gpu}",uuid="GPU-{node}-{gpu}",namespace="ml",pod="{pod}",'
        f'workload_kind="JobSet",workload="{name}",team="{team}"}}'
    )


def device(series: str, gpu: int, *, more: str = "", node: str = "n1") -> str:
    return f'{series}{{{more}node="{node}",gpu="{gpu}",uuid="GPU-{node}-{gpu}"}}'


WHO = '{namespace="ml",workload_kind="JobSet",workload="train",team="nlp"'


def test_a_job_of_two_pods_is_the_sum_of_its_gpus(tmp_path: Path) -> None:
    """Complaint 34 and defect 3: what a workload holds and does, not what one of its containers does."""
    samples: dict[str, str] = {}
    for number, (pod, busy) in enumerate((("a", 0.9), ("a", 0.7), ("b", 0.5), ("b", 0.001))):
        samples |= {
            owner(number, pod): "1x40",
            device("gpu:compute_active:ratio_union", number): f"{busy}x40",
            device("gpu:memory_used_bytes:union", number): f"{20 * GIB}x40",
            device("gpu:memory_total_bytes:union", number): f"{80 * GIB}x40",
            device("gpu:power_watts:union", number): "300x40",
            device("gpu:idle:bool", number): f"{int(busy < 0.01)}x40",
            f'gpu:info:union{{node="n1",gpu="{number}",uuid="GPU-n1-{number}",vendor="nvidia",model="H100"}}': "1x40",
        }
    team = 'team:gpus:count{namespace="ml",team="nlp",model="H100",state='
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_GPUS, pod="a"): {
                'pod:gpus:count{namespace="ml",workload_kind="JobSet",workload="train",team="nlp",pod="a",node="n1"}': 2
            },
            select(workload.WORKLOAD_GPUS): {
                f'workload:gpus:count{WHO},state="allocated"}}': 4,
                f'workload:gpus:count{WHO},state="idle"}}': 1,
            },
            select(workload.WORKLOAD_COMPUTE_ACTIVE): {f"workload:compute_active:sum{WHO}}}": 2.101},
            select(workload.WORKLOAD_GPU_MEMORY_USED): {f"workload:gpu_memory_used_bytes:sum{WHO}}}": 80 * GIB},
            select(workload.WORKLOAD_POWER): {f"workload:gpu_power_watts:sum{WHO}}}": 1200},
            select(workload.TEAM_GPUS): {f'{team}"allocated"}}': 4, f'{team}"idle"}}': 1},
            select(workload.TEAM_POWER): {'team:gpu_power_watts:sum{namespace="ml",team="nlp",model="H100"}': 1200},
        },
        only=RULES,
    )


def test_a_gpu_that_two_pods_share_is_split_evenly(tmp_path: Path) -> None:
    """Complaint 11: every pod of a time-sliced GPU shows the whole of it."""
    samples = {
        owner(0, "a"): "1x40",
        owner(0, "b"): "1x40",
        device("gpu:compute_active:ratio_union", 0): "0.5x40",
        device("gpu:memory_used_bytes:union", 0): f"{40 * GIB}x40",
        device("gpu:power_watts:union", 0): "400x40",
    }
    pod = 'namespace="ml",workload_kind="JobSet",workload="train",team="nlp",node="n1"'
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_GPUS): {
                f'pod:gpus:count{{{pod},pod="a"}}': 0.5,
                f'pod:gpus:count{{{pod},pod="b"}}': 0.5,
            },
            select(workload.POD_GPU_MEMORY_USED, pod="a"): {
                f'pod:gpu_memory_used_bytes:sum{{{pod},pod="a"}}': 20 * GIB
            },
            select(workload.WORKLOAD_POWER): {f"workload:gpu_power_watts:sum{WHO}}}": 400},
            select(workload.WORKLOAD_GPUS, state="allocated"): {f'workload:gpus:count{WHO},state="allocated"}}': 1},
        },
        only=RULES,
    )


def test_mig_instances_count_by_their_slices_and_their_gpu_not_again(tmp_path: Path) -> None:
    samples = {owner(0, "a"): "1x40", owner(0, "b"): "1x40", device("gpu:power_watts:union", 0): "700x40"}
    for gi, pod, profile, slices, busy in (("1", "a", "3g.40gb", 3, 0.5), ("2", "b", "1g.10gb", 1, 1.0)):
        own = f'node="n1",gpu="0",uuid="GPU-n1-0",gi="{gi}",profile="{profile}"'
        samples |= {
            f'mig:owner:union{{{own},namespace="ml",pod="{pod}",workload_kind="JobSet",workload="train",team="nlp"}}': (
                "1x40"
            ),
            f'mig:info:union{{{own},mig_uuid="MIG-{gi}",model="H100"}}': "1x40",
            f"mig:slices:count{{{own}}}": f"{slices}x40",
            f"mig:compute_active:ratio_union{{{own}}}": f"{busy}x40",
            f"mig:memory_used_bytes:union{{{own}}}": f"{10 * GIB}x40",
        }
    pod = 'namespace="ml",workload_kind="JobSet",workload="train",team="nlp",node="n1"'
    expect(
        tmp_path,
        samples,
        {
            select(workload.POD_GPUS) * 7: {
                f'{{{pod},pod="a"}}': 3,
                f'{{{pod},pod="b"}}': 1,
            },
            select(workload.POD_COMPUTE_ACTIVE) * 14: {
                f'{{{pod},pod="a"}}': 3,
                f'{{{pod},pod="b"}}': 2,
            },
            select(workload.POD_GPU_MEMORY_USED, pod="a"): {
                f'pod:gpu_memory_used_bytes:sum{{{pod},pod="a"}}': 10 * GIB
            },
            select(workload.POD_POWER, pod="b"): {f'pod:gpu_power_watts:sum{{{pod},pod="b"}}': 100},
        },
        only=RULES,
    )


def test_equal_names_in_two_clusters_are_two_workloads(tmp_path: Path) -> None:
    """Complaint 23: sums over clusters mix namespaces of one name."""
    samples = {
        owner(0, "a", more='cluster="x",'): "1x40",
        owner(0, "a", more='cluster="y",'): "1x40",
        owner(1, "a", more='cluster="y",'): "1x40",
    }
    who = 'namespace="ml",workload_kind="JobSet",workload="train",team="nlp",state="allocated"'
    expect(
        tmp_path,
        samples,
        {
            select(workload.WORKLOAD_GPUS): {
                f'workload:gpus:count{{cluster="x",{who}}}': 1,
                f'workload:gpus:count{{cluster="y",{who}}}': 2,
            }
        },
        only=RULES,
    )


def test_a_slurm_job_is_a_workload_without_pods(tmp_path: Path) -> None:
    samples = {
        'gpu:owner:union{node="n1",gpu="0",uuid="GPU-a",workload_kind="slurm_job",workload="77",job_id="77",'
        'team="phys",queue="h100"}': "1x40"
    }
    expect(
        tmp_path,
        samples,
        {
            select(workload.WORKLOAD_GPUS): {
                'workload:gpus:count{workload_kind="slurm_job",workload="77",team="phys",queue="h100",'
                'state="allocated"}': 1
            },
            select(workload.WORKLOAD_PODS): None,
        },
        only=RULES,
    )


def test_each_workload_has_the_class_of_its_quadrant(tmp_path: Path) -> None:
    quadrants = {
        "saturated": (0.8, 0.9),
        "resident_idle": (0.8, 0.05),
        "memory_bound": (0.8, 0.3),
        "compute_bound_small": (0.2, 0.9),
        "underused": (0.2, 0.05),
        "allocated_idle": (0.8, 0.001),
        "allocated_unused": (0.001, 0),
    }
    samples: dict[str, str] = {}
    for number, (name, (memory, busy)) in enumerate(quadrants.items()):
        samples |= {
            owner(number, "p", name=name): "1x200",
            device("gpu:compute_active:ratio_union", number): f"{busy}x200",
            device("gpu:memory_used_bytes:union", number): f"{memory * 1000}x200",
            device("gpu:memory_total_bytes:union", number): "1000x200",
        }
    found = 'workload:utilization_class:union{namespace="ml",workload_kind="JobSet",team="nlp",'
    expect(
        tmp_path,
        samples,
        {
            select(workload.WORKLOAD_CLASS): {f'{found}workload="{name}",class="{name}"}}': 1 for name in quadrants},
            select(workload.WORKLOAD_BUSY, workload="memory_bound"): {
                'workload:compute_active:ratio_avg1h{namespace="ml",workload_kind="JobSet",team="nlp",'
                'workload="memory_bound"}': 0.3
            },
        },
        at="80m",
        only=RULES,
    )


def test_a_workload_that_just_began_is_not_called_idle(tmp_path: Path) -> None:
    samples = {
        owner(0, "p"): "1x40",
        device("gpu:compute_active:ratio_union", 0): "0x40",
        device("gpu:memory_used_bytes:union", 0): "0x40",
        device("gpu:memory_total_bytes:union", 0): "1000x40",
    }
    found = f'workload:utilization_class:union{WHO},class="underused"}}'
    expect(tmp_path, samples, {select(workload.WORKLOAD_CLASS): {found: 1}}, only=RULES)
