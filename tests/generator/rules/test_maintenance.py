"""Planned maintenance, from every scheduler that knows of it."""

from pathlib import Path

from tests.generator.promtool import expect
from tests.generator.rules.test_nodes import KSM, kube_node

from gpuscope_generator.normalized import node
from gpuscope_generator.promql import Matcher, select
from gpuscope_generator.settings import Settings

RULES = ("kubernetes", "collector", "maintenance")
PLANNED = select(node.MAINTENANCE).compare("==", 1)


def planned(*names: str) -> dict[str, float]:
    return {f'node:maintenance:bool{{node="{name}"}}': 1.0 for name in names}


def tainted(name: str, key: str, more: str = KSM) -> dict[str, str]:
    return {f'kube_node_spec_taint{{{more},node="{name}",key="{key}",value="",effect="NoSchedule"}}': "1x40"}


def test_taints_that_say_so(tmp_path: Path) -> None:
    keys = {
        "a": "gpuscope.io/maintenance",
        "b": "aws-node-termination-handler/scheduled-maintenance",
        "c": "medik8s.io/drain",
        "d": "cloud.google.com/impending-node-termination",
        "e": "karpenter.sh/disrupted",
        "f": "maintenance",
    }
    other = {"x": "nvidia.com/gpu", "y": "node.kubernetes.io/unschedulable", "z": "gpu-fault-needs-maintenance"}
    samples: dict[str, str] = {}
    for name, key in (keys | other).items():
        samples |= kube_node(name, cordoned=1) | tainted(name, key)
    expect(
        tmp_path,
        samples,
        {
            PLANNED: planned(*keys),
            select(node.MAINTENANCE, Matcher("node", "=~", "[x-z]")): {
                f'node:maintenance:bool{{node="{name}"}}': 0.0 for name in other
            },
        },
        only=RULES,
    )


def test_two_kube_state_metrics_and_several_taints_make_one_series(tmp_path: Path) -> None:
    second = 'instance="other:8080",job="ksm"'
    samples = kube_node("a") | kube_node("a", more=second) | tainted("a", "maintenance", second)
    samples |= tainted("a", "maintenance") | tainted("a", "medik8s.io/drain")
    expect(tmp_path, samples, {select(node.MAINTENANCE): planned("a")}, only=RULES)


def test_the_state_of_slurm_by_our_collector(tmp_path: Path) -> None:
    samples: dict[str, str] = {}
    for name, word in (("s1", "maintenance"), ("s2", "drained"), ("s3", "ready")):
        for each in ("ready", "draining", "drained", "down", "maintenance", "unknown"):
            own = f'instance="c:9837",scheduler="slurm",node="{name}",state="{each}"'
            samples[f"gpuscope_scheduler_node_state{{{own}}}"] = f"{int(each == word)}x40"
    expect(tmp_path, samples, {PLANNED: planned("s1")}, only=RULES)


def test_a_taint_counts_where_the_collector_calls_the_node_ready(tmp_path: Path) -> None:
    samples = kube_node("a") | tainted("a", "maintenance")
    samples['gpuscope_scheduler_node_state{instance="c:1",scheduler="kubernetes",node="a",state="ready"}'] = "1x40"
    samples['gpuscope_scheduler_node_state{instance="c:1",scheduler="kubernetes",node="a",state="maintenance"}'] = (
        "0x40"
    )
    expect(tmp_path, samples, {select(node.MAINTENANCE): planned("a")}, only=RULES)


def test_states_of_exporters_of_slurm(tmp_path: Path) -> None:
    samples = {}
    for name, flag in (("w1", "true"), ("w2", "false")):
        own = f'instance="soperator:8080",node_name="{name}",state_base="IDLE",state_is_drain="true"'
        samples[f'slurm_node_info{{{own},state_is_maintenance="{flag}"}}'] = "1x40"
    for name, status in (("v1", "maint"), ("v2", "maint*"), ("v3", "drained"), ("v4", "idle")):
        samples[f'slurm_node_cpu_total{{instance="v:8080",node="{name}",status="{status}"}}'] = "128x40"
    samples['slurm_node_cpu_total{instance="v:8080",node="head",exported_node="v5",status="maint"}'] = "128x40"
    expect(tmp_path, samples, {select(node.MAINTENANCE): planned("w1", "v1", "v2", "v5")}, only=RULES)


def test_keys_of_the_settings(tmp_path: Path) -> None:
    samples = kube_node("a") | tainted("a", "corp/repair") | kube_node("b") | tainted("b", "maintenance")
    settings = Settings(maintenance_taints=("corp/repair",))
    expect(tmp_path, samples, {PLANNED: planned("a")}, only=RULES, settings=settings)


def test_no_key_means_no_taint(tmp_path: Path) -> None:
    samples = kube_node("a") | tainted("a", "maintenance")
    expect(tmp_path, samples, {PLANNED: {}}, only=RULES, settings=Settings(maintenance_taints=()))
