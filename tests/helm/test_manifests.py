"""What is rendered is right for every Kubernetes from 1.25 on and for the operators, whichever Helm renders it."""

import functools
import json
from pathlib import Path

import pytest
import yaml
from tests.helm.charts import (
    CASES,
    CHART,
    HELMS,
    LEAN,
    NAMESPACE,
    NEWEST,
    Object,
    attempt,
    documents,
    helm,
    objects,
    of_kind,
    pods,
    rendered,
)
from tests.helm.strict import VERSIONS, faults

ALL = ("", *CASES)
NOT_OURS = {"gpu-note", "gpu-other"}
"""Objects that values bring along themselves."""


@functools.cache
def _unique() -> tuple[Object, ...]:
    """Each object of any case once."""
    return tuple({id(one): one for case in ALL for one in objects(case)}.values())


@pytest.mark.parametrize("version", HELMS)
@pytest.mark.parametrize("case", ALL)
def test_lint_is_content(version: str, case: str) -> None:
    values = ["--values", CHART / f"ci/{case}-values.yaml"] if case else []
    done = helm(version, "lint", "--strict", "--with-subcharts", CHART, *values)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout


@pytest.mark.parametrize("case", ALL)
def test_both_generations_of_helm_render_the_same(case: str) -> None:
    assert documents(rendered(case, version=HELMS[0])) == documents(rendered(case, version=NEWEST))


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_right_for_each_kubernetes(version: str) -> None:
    wrong = {f"{one['kind']} {one['metadata']['name']}": found for one in _unique() if (found := faults(one, version))}
    assert wrong == {}


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("DaemonSet", ("spec", "template", "spec", "hostPid"), True),
        ("PodMonitor", ("spec", "podMetricsEndpoints", 0, "scrapTimeout"), "10s"),
        ("PrometheusRule", ("spec", "groups", 0, "rules", 0, "keepFiringFor"), "5m"),
        ("AlertmanagerConfig", ("spec", "route", "reciever"), "x"),
        ("GrafanaDashboard", ("spec", "configMapReference"), {}),
        ("Service", ("spec", "ports", 0, "port"), "9836x"),
    ],
)
def test_a_field_that_does_not_exist_or_fit_is_found(kind: str, path: tuple[str | int, ...], value: object) -> None:
    found = json.loads(json.dumps(of_kind(kind, objects("grafana-operator"))[0]))
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert faults(found, VERSIONS[-1])


@pytest.mark.parametrize("version", HELMS)
def test_it_works_inside_another_chart(version: str, tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    dependency = {"name": "gpuscope", "version": "*", "repository": f"file://{CHART}", "condition": "gpuscope.enabled"}
    chart = {"apiVersion": "v2", "name": "parent", "version": "1.0.0", "dependencies": [dependency]}
    (parent / "Chart.yaml").write_text(yaml.safe_dump(chart), encoding="utf-8")
    values = {
        "global": {"imageRegistry": "mirror.example", "imagePullSecrets": ["one", {"name": "two"}], "other": {"x": 1}},
        "gpuscope": {"enabled": True, "rules": {"enabled": True}},
    }
    (parent / "values.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    assert helm(version, "dependency", "update", parent).returncode == 0
    found = objects(version=version, chart=parent)
    agent = pods(found)["agent"]
    assert agent["containers"][0]["image"].startswith("mirror.example/gpuscope/gpuscope:")
    assert agent["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]
    alone = objects("", "rules.enabled=true")
    assert {(one["kind"], one["metadata"]["name"]) for one in found} == {
        (one["kind"], one["metadata"]["name"]) for one in alone
    }


@pytest.mark.parametrize("case", ALL)
def test_every_object_says_whose_it_is(case: str) -> None:
    for one in objects(case):
        if one["metadata"]["name"] in NOT_OURS:
            continue
        labels = one["metadata"]["labels"]
        assert labels["app.kubernetes.io/name"] == "gpuscope"
        assert labels["app.kubernetes.io/instance"] == "gpu"
        assert labels["app.kubernetes.io/component"]
        assert all(isinstance(value, str) for value in labels.values())
        if not one["kind"].startswith("Cluster"):
            assert one["metadata"]["namespace"] in {NAMESPACE, "team-a", "team-b"}


@pytest.mark.parametrize("case", ALL)
def test_names_are_unique_and_short_enough(case: str) -> None:
    names = [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in objects(case)]
    assert len(set(names)) == len(names)
    long = objects(case, f"fullnameOverride={'x' * 60}", *LEAN)
    assert (
        max(len(one["metadata"]["name"]) for one in long if one["kind"] in {"Service", "DaemonSet", "Deployment"}) <= 63
    )


@pytest.mark.parametrize("case", ALL)
def test_every_port_names_its_protocol(case: str) -> None:
    def ports(value: object) -> list[Object]:
        if isinstance(value, dict):
            own = [one for one in value.get("ports", []) if isinstance(one, dict)]
            return own + [port for one in value.values() for port in ports(one)]
        return [port for one in value for port in ports(one)] if isinstance(value, list) else []

    found = [port for one in objects(case) if one["kind"] != "ConfigMap" for port in ports(one)]
    assert all(port.get("protocol") for port in found)


def test_one_namespace_for_all_where_it_is_overridden() -> None:
    found = objects("restricted", "namespaceOverride=gpu-system", "rules.enabled=true", "monitor.enabled=true")
    assert {one["metadata"].get("namespace") for one in found} == {"gpu-system", "team-a", "team-b"}


def test_an_old_kubernetes_is_refused() -> None:
    done = attempt(more=("--kube-version", "1.24.9"))
    assert done.returncode != 0
    assert "1.25.0-0" in done.stderr


def test_versions_with_a_suffix_are_taken() -> None:
    assert rendered(more=("--kube-version", "v1.31.4-eks-2d5f260")) == rendered(more=("--kube-version", "1.31.4"))
