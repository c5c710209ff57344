"""Why a node gets no pod of a DaemonSet: what its scheduler looks at, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["why_none", "why_not"]

Object = Mapping[str, Any]
# The controller of DaemonSets tolerates these by itself.
TOLERATED = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
)


def why_none(nodes: Iterable[Object], pod: Object) -> str:
    """Why no node gets a pod, with how many nodes each reason holds for."""
    reasons = Counter(reason for node in nodes for reason in why_not(node, pod)[:1])
    if not reasons:
        return "the cluster has no nodes"
    return "; ".join(f"{count} nodes: {reason}" for reason, count in reasons.most_common())


def why_not(node: Object, pod: Object) -> list[str]:
    """Reasons for which a node gets no pod of a template; none when it should have one."""
    labels = node["metadata"].get("labels", {})
    wanted = pod.get("nodeSelector", {})
    reasons = [f"no label {key}={value}" for key, value in wanted.items() if labels.get(key) != value]
    terms = (
        pod.get("affinity", {})
        .get("nodeAffinity", {})
        .get("requiredDuringSchedulingIgnoredDuringExecution", {})
        .get("nodeSelectorTerms", [])
    )
    if terms and not any(_fits(term, labels, node["metadata"]["name"]) for term in terms):
        reasons.append(f"none of the labels {', '.join(_keys(terms))}")
    for taint in node.get("spec", {}).get("taints", []):
        if taint["effect"] == "PreferNoSchedule" or taint["key"] in TOLERATED:
            continue
        if not any(_tolerates(one, taint) for one in pod.get("tolerations", [])):
            reasons.append(f"taint {taint['key']}={taint.get('value', '')}:{taint['effect']} is not tolerated")
    return reasons


def _keys(terms: Sequence[Object]) -> list[str]:
    return sorted({one["key"] for term in terms for one in term.get("matchExpressions", [])})


def _fits(term: Object, labels: Mapping[str, str], name: str) -> bool:
    expressions = [(labels.get(one["key"]), one) for one in term.get("matchExpressions", [])]
    expressions += [(name, one) for one in term.get("matchFields", [])]
    return bool(expressions) and all(_holds(value, one) for value, one in expressions)


def _holds(value: str | None, expression: Object) -> bool:
    values = expression.get("values", [])
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and int(value) > int(values[0])
        case "Lt":
            return value is not None and int(value) < int(values[0])
    return False


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    return bool(toleration.get("key") == taint["key"] and toleration.get("value", "") == taint.get("value", ""))
