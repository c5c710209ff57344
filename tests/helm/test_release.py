"""Helm installs, upgrades and removes the chart on an API server, from a clone and from a package."""

import base64
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.api import ApiServer
from tests.helm.api_server import api_server
from tests.helm.charts import (
    CASES,
    CHART,
    HELMS,
    NAMESPACE,
    NEWEST,
    RELEASE,
    documents,
    helm,
    objects,
    rendered,
    values_of,
)

LARGEST_RECORD = 500_000
"""Bytes of Helm's record of a release; Kubernetes takes 1,048,576."""
LARGEST_PACKAGE = 500_000
IMMUTABLE = Path(__file__).with_name("immutable.yaml")


@pytest.fixture(scope="module", params=HELMS)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The chart as each Helm packs it."""
    folder = tmp_path_factory.mktemp("package")
    done = helm(request.param, "package", CHART, "--destination", folder)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.tgz")
    return request.param, found


def test_a_package_renders_what_the_folder_renders(package: tuple[str, Path]) -> None:
    version, path = package
    for case in ("", "kube-prometheus-stack", "plain-prometheus"):
        values = ["--values", values_of(case)] if case else []
        done = helm(version, "template", RELEASE, path, "--namespace", NAMESPACE, *values)
        assert done.returncode == 0, done.stderr
        assert documents(done.stdout) == documents(rendered(case, version=version))


def test_a_package_is_small_and_holds_no_values_of_tests(package: tuple[str, Path]) -> None:
    _, path = package
    assert path.stat().st_size < LARGEST_PACKAGE
    with tarfile.open(path) as file:
        names = file.getnames()
        assert all(member.isfile() or member.isdir() for member in file.getmembers())
    assert not any("/ci/" in name for name in names)
    assert {
        "gpuscope/README.md",
        "gpuscope/values.schema.json",
        "gpuscope/charts/content/dashboards/cluster.json",
    } <= set(names)


def test_the_chart_has_no_links() -> None:
    """A clone on Windows has none either, but files with a path in them."""
    assert [path for path in CHART.rglob("*") if path.is_symlink()] == []


def _helm(version: str, config: Path, *arguments: str | Path) -> str:
    flags = ["--namespace", NAMESPACE, "--kubeconfig", config]
    done = helm(version, *arguments, *flags)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _records(cluster: ApiServer) -> list[int]:
    """Bytes of each record of a release."""
    kept = [one for (_, plural, _, _), one in cluster.objects.items() if plural == "secrets"]
    return [len(base64.b64decode(one["data"]["release"])) for one in kept]


def _kept(cluster: ApiServer) -> set[tuple[str, str]]:
    """What Helm sent, without its records; controllers made what has an owner."""
    return {
        (one["kind"], name)
        for (_, plural, _, name), one in cluster.objects.items()
        if plural != "secrets" and "ownerReferences" not in one["metadata"]
    }


@pytest.mark.parametrize("version", HELMS)
def test_install_upgrade_and_uninstall_leave_nothing_behind(version: str, tmp_path: Path) -> None:
    flags = ["--disable-openapi-validation"]
    with api_server(tmp_path) as (cluster, config):
        notes = _helm(version, config, "install", RELEASE, CHART, *flags)
        wanted = objects("", "monitor.enabled=true", "rules.enabled=true", "tests.enabled=false")
        assert _kept(cluster) == {(one["kind"], one["metadata"]["name"]) for one in wanted}
        sizes = _records(cluster)
        assert len(sizes) == 1
        assert sizes[0] < LARGEST_RECORD
        assert "monitor.labels and rules.labels are empty" in notes
        assert "PodMonitors for the Prometheus operator" in notes
        _helm(version, config, "upgrade", RELEASE, CHART, *flags, "--values", values_of("grafana-operator"),
              "--set", "dashboards.grafanaOperator.enabled=false,alertmanagerConfig.enabled=false")  # fmt: skip
        assert ("PodDisruptionBudget", "gpu-gpuscope-collector") in _kept(cluster)
        assert ("ConfigMap", "gpu-gpuscope-board-inference") not in _kept(cluster)
        assert max(_records(cluster)) < LARGEST_RECORD
        _helm(version, config, "uninstall", RELEASE)
        assert cluster.objects == {}


@pytest.mark.parametrize("version", HELMS)
def test_notes_say_what_is_not_there(version: str, tmp_path: Path) -> None:
    with api_server(tmp_path, operator=False) as (cluster, config):
        notes = _helm(version, config, "install", RELEASE, CHART, "--disable-openapi-validation")
        assert "no monitoring.coreos.com/v1 PodMonitor" in notes
        assert "--set rules.configMap.enabled=true" in notes
        assert "WARNING" not in notes
        assert not {kind for kind, _ in _kept(cluster)} & {"PodMonitor", "PrometheusRule"}
        for line in ("get daemonset gpu-gpuscope-agent", "/d/gpuscope-cluster", "helm test gpu -n monitoring --logs"):
            assert line in notes
        (agent,) = [one for (_, plural, _, _), one in cluster.objects.items() if plural == "daemonsets"]
        assert agent["spec"]["template"]["metadata"]["annotations"]["prometheus.io/scrape"] == "true"


def _immutable(found: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Fields that an API server refuses to change, by object."""
    fields: dict[str, Any] = {}
    for one in found:
        spec = one.get("spec", {})
        kept = {
            "DaemonSet": {"selector": spec.get("selector")},
            "Deployment": {"selector": spec.get("selector")},
            "Service": {"clusterIP": spec.get("clusterIP"), "selector": spec.get("selector")},
            "PersistentVolumeClaim": spec,
            "RoleBinding": {"roleRef": one.get("roleRef")},
            "ClusterRoleBinding": {"roleRef": one.get("roleRef")},
            "GrafanaDashboard": {"instanceSelector": spec.get("instanceSelector")},
        }.get(one["kind"])
        if kept:
            fields[f"{one['kind']} {one['metadata']['name']}"] = json.loads(json.dumps(kept))
    return fields


def test_an_upgrade_changes_no_field_that_cannot_change() -> None:
    """immutable.yaml holds what released charts had. A line of it that changes breaks the upgrade of every user."""
    recorded = yaml.safe_load(IMMUTABLE.read_text(encoding="utf-8"))
    found = {case: _immutable(objects("" if case == "default" else case)) for case in recorded}
    assert found == recorded
    assert set(recorded) == {"default", "eks", "grafana-operator", "restricted", "slurm"}


@pytest.mark.parametrize("case", ["", *CASES])
def test_no_value_reaches_a_selector(case: str) -> None:
    for one in objects(
        case, "commonLabels.a=b", "agent.podExtraLabels.c=d", "collector.podExtraLabels.c=d", version=NEWEST
    ):
        if one["kind"] in {"DaemonSet", "Deployment"}:
            labels = one["spec"]["template"]["metadata"]["labels"]
            assert one["spec"]["selector"]["matchLabels"].items() <= labels.items()
            assert labels.items() >= {"a": "b", "c": "d"}.items()
            assert set(one["spec"]["selector"]["matchLabels"]) == {
                "app.kubernetes.io/name",
                "app.kubernetes.io/instance",
                "app.kubernetes.io/component",
            }
