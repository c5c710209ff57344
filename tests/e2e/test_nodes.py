"""Why a DaemonSet desires no pod."""

import pytest
from tests.e2e.nodes import why_none, why_not

TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
GPU = {"metadata": {"name": "gpu-1", "labels": {"nvidia.com/gpu.present": "true"}}, "spec": {"taints": [TAINT]}}
PLAIN = {"metadata": {"name": "cpu-1", "labels": {}}, "spec": {}}


def affinity(*terms: dict) -> dict:
    required = {"nodeSelectorTerms": [{"matchExpressions": [term]} for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


PRESENT = affinity(
    {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]},
    {"key": "cloud.google.com/gke-accelerator", "operator": "Exists"},
)


def test_node_that_fits_has_no_reason() -> None:
    assert why_not(GPU, {**PRESENT, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}) == []


def test_taint_that_nobody_tolerates() -> None:
    assert why_not(GPU, PRESENT) == ["taint nvidia.com/gpu=present:NoSchedule is not tolerated"]


def test_labels_that_are_missing() -> None:
    assert why_not(PLAIN, PRESENT) == [
        "none of the labels cloud.google.com/gke-accelerator, nvidia.com/gpu.present",
    ]
    assert why_not(PLAIN, {"nodeSelector": {"pool": "gpu"}}) == ["no label pool=gpu"]


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "nvidia.com/gpu", "value": "present"}, True),
        ({"key": "nvidia.com/gpu", "value": "absent"}, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_tolerations(toleration: dict, tolerated: bool) -> None:
    assert (why_not(GPU, {"tolerations": [toleration]}) == []) is tolerated


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["true"], True),
        ("NotIn", ["true"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_operators(operator: str, values: list[str], fits: bool) -> None:
    pod = affinity({"key": "nvidia.com/gpu.present", "operator": operator, "values": values})
    node = {"metadata": GPU["metadata"]}
    assert (why_not(node, pod) == []) is fits


def test_numbers_and_names_of_nodes() -> None:
    node = {"metadata": {"name": "a", "labels": {"gpus": "8"}}}
    assert why_not(node, affinity({"key": "gpus", "operator": "Gt", "values": ["4"]})) == []
    assert why_not(node, affinity({"key": "gpus", "operator": "Lt", "values": ["4"]})) != []
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    assert why_not(node, {"affinity": {"nodeAffinity": required}}) == []


def test_what_the_controller_tolerates_by_itself_is_no_reason() -> None:
    taints = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    taints.append({"key": "x", "effect": "PreferNoSchedule"})
    assert why_not({"metadata": {"name": "a"}, "spec": {"taints": taints}}, {}) == []


def test_reasons_are_counted() -> None:
    said = why_none([GPU, PLAIN, PLAIN], PRESENT)
    assert said.startswith("2 nodes: none of the labels ")
    assert said.endswith("1 nodes: taint nvidia.com/gpu=present:NoSchedule is not tolerated")
    assert why_none([], PRESENT) == "the cluster has no nodes"
