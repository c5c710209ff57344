"""``make e2e`` with the real Helm and kubectl, on an API server of a test in place of a cluster."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.api import ApiServer
from tests.e2e.cluster import ROOT
from tests.exporter.workloads.kubernetes.conftest import KUBECONFIG

TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
# Fewer objects, where they are not asked about.
FEW = ("--set", "rules.enabled=false", "--set", "dashboards.enabled=false", "--timeout", "60")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def server() -> Iterator[ApiServer]:
    made = ApiServer()
    made.node("cpu-1", {})
    yield made
    made.close()


@pytest.fixture
def run(server: ApiServer, tmp_path: Path) -> Run:
    """Runs the command; as a cluster it finds the server."""
    (tmp_path / "kubeconfig").write_text(KUBECONFIG % server.url, encoding="utf-8")
    kubectl = next((ROOT / ".cache/kubectl").glob("*/kubectl"))

    def call(*arguments: str, helm: str = "4.3.1", kubeconfig: str | None = None) -> subprocess.CompletedProcess[str]:
        path = f"{ROOT}/.cache/helm/{helm}:{kubectl.parent}:{os.environ['PATH']}"
        named = str(tmp_path / "kubeconfig") if kubeconfig is None else kubeconfig
        return subprocess.run(
            [sys.executable, "-m", "tests.e2e.run", *arguments],
            cwd=ROOT,
            env=os.environ | {"PATH": path, "KUBECONFIG": named, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )

    return call


def left(server: ApiServer) -> list[str]:
    return [f"{key[1]}/{key[3]}" for key in server.objects if key[1] != "nodes"]


@pytest.mark.parametrize("helm", ["4.3.1", "3.17.3"])
def test_all_steps_and_nothing_is_left_behind(server: ApiServer, run: Run, helm: str) -> None:
    server.node("gpu-1", {"nvidia.com/gpu.present": "true"}, [TAINT])
    server.node("gpu-2", {"cloud.google.com/gke-accelerator": "nvidia-h100"}, [TAINT])
    done = run(*FEW, "--agents", "2", helm=helm)
    assert done.returncode == 0, done.stderr
    steps = [line.split()[0] for line in done.stdout.splitlines()]
    assert steps == ["cluster", "install", "look", "upgrade", "look", "rollback", "look", "test", "uninstall", "all"]
    assert "2 of 2 agents are ready and publish" in done.stdout
    assert "2 PodMonitors" in done.stdout
    assert "hears its scheduler" in done.stdout
    assert left(server) == []


def test_no_agent_is_right_where_no_node_has_gpus_and_the_reason_is_said(server: ApiServer, run: Run) -> None:
    done = run(*FEW)
    assert done.returncode == 0, done.stderr
    assert "no agent is desired: 1 nodes: none of the labels accelerator, " in done.stdout


def test_agents_that_are_missing_are_an_error_and_all_is_taken_away(server: ApiServer, run: Run) -> None:
    server.node("gpu-1", {"nvidia.com/gpu.present": "true"}, [TAINT | {"key": "mine"}])
    done = run(*FEW, "--agents", "1")
    assert done.returncode == 1
    assert "FAILED  1 agents are expected, 0 are desired: " in done.stderr
    assert "taint mine=present:NoSchedule is not tolerated" in done.stderr
    assert left(server) == []


def test_agents_that_say_nothing_are_an_error(server: ApiServer, run: Run) -> None:
    server.node("gpu-1", {"nvidia.com/gpu.present": "true"})
    server.metrics["agent"] = "up 1\n"
    done = run(*FEW)
    assert done.returncode == 1
    assert "FAILED  agents that publish nothing: gpuscope-e2e-" in done.stderr


def test_what_is_left_behind_is_named(server: ApiServer, run: Run) -> None:
    server.kept.add("clusterroles")
    done = run(*FEW, "--timeout", "3", "--no-scrape", "--no-test")
    assert done.returncode == 1
    assert "FAILED  left behind: /ClusterRole/gpuscope-e2e-" in done.stderr


def test_cluster_without_the_operator(run: Run, server: ApiServer) -> None:
    server.kinds = [kind for kind in server.kinds if kind[0] != "monitoring.coreos.com"]
    done = run(*FEW, "--no-test", "--no-scrape", "--keep")
    assert done.returncode == 0, done.stderr
    assert "no PodMonitor: the cluster does not have the kind" in done.stdout
    assert any(one.startswith("namespaces/gpuscope-e2e-") for one in left(server))


@pytest.mark.parametrize(
    ("arguments", "kubeconfig", "reason"),
    [
        ((), "", "e2e: KUBECONFIG is not set"),
        ((), "/nowhere/config", "e2e: KUBECONFIG: /nowhere/config is no file"),
        (("--namespace", "mine"), None, "e2e: --namespace: mine is there already"),
    ],
)
def test_where_nothing_can_be_tried_one_line_says_why(
    server: ApiServer, run: Run, arguments: tuple[str, ...], kubeconfig: str | None, reason: str
) -> None:
    server.put(("", "namespaces", "", "mine"), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}})
    done = run(*arguments, kubeconfig=kubeconfig)
    assert done.returncode == 2
    assert done.stderr.startswith(reason)
    assert done.stderr.count("\n") == 1


def test_cluster_that_does_not_answer(server: ApiServer, run: Run) -> None:
    server.close()
    done = run()
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("e2e: the cluster cannot be asked: ")
