"""The agent in the image, under the security context of the chart's DaemonSet."""

import re
from pathlib import Path

import pytest
from tests.image.conftest import Pods, pod_spec, wait_for
from tests.image.manifest import memory_bytes, probes

from gpuscope.simulate.kubelet import SimulatedKubelet

RESTRICTED = ("podResources.enabled=false", "agent.simulate=h100-mig")
WITH_PODS = ("podResources.enabled=true", "agent.simulate=h100-mig")


def value_of(series: str, text: str) -> list[float]:
    labels = "" if "{" in series else r"(?:{[^}]*})?"
    return [float(value) for value in re.findall(rf"^{re.escape(series)}{labels} (\S+)$", text, re.MULTILINE)]


@pytest.mark.parametrize(("settings", "user"), [(RESTRICTED, "65532"), (WITH_PODS, "0")], ids=["restricted", "pods"])
def test_agent_publishes_under_the_charts_security_context(pods: Pods, settings: tuple[str, ...], user: str) -> None:
    pod = pod_spec("agent", *settings)
    (container,) = pod["containers"]
    running = pods.start(pod)
    paths = probes(container)
    for port, path in paths.values():
        wait_for(running, port, path)
    port = paths["readinessProbe"][0]
    # Activity comes with the first whole window.
    text = wait_for(running, port, "/metrics", lambda said: len(value_of("gpuscope_mig_sm_active_ratio", said)) > 8)

    assert value_of("gpuscope_up", text) == [1]
    assert value_of("gpuscope_gpu_up", text) == [1] * 8
    assert len(value_of("gpuscope_gpu_power_watts", text)) == 8

    status = running.status()
    assert status["Uid"].split() == [user] * 4
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert running.root_is_read_only()

    limit = memory_bytes(container["resources"]["limits"]["memory"])
    assert running.limit_bytes() == limit
    assert running.most_memory_bytes() < limit

    running.stop(pod["terminationGracePeriodSeconds"])
    assert running.exit_code() == 0, running.logs()


@pytest.mark.parametrize(("user", "up"), [(0, 1), (65532, 0)], ids=["root", "nobody"])
def test_root_without_capabilities_is_what_kubelets_socket_needs(
    pods: Pods, tmp_path: Path, user: int, up: int
) -> None:
    # A machine whose pods are not simulated, and beside it a kubelet whose socket belongs to root as on a node.
    pod = pod_spec("agent", "podResources.enabled=true", "agent.simulate=l40s")
    pod["containers"][0]["args"].append("--pod-resources.socket=/var/lib/kubelet/pod-resources/kubelet.sock")
    pod["securityContext"] |= {"runAsUser": user, "runAsGroup": user}
    folder = tmp_path / "kubelet"
    with SimulatedKubelet(folder / "kubelet.sock"):
        folder.chmod(0o750 if user == 0 else 0o755)
        (folder / "kubelet.sock").chmod(0o755)
        running = pods.start(pod, {"pod-resources": folder})
        port = pod["containers"][0]["ports"][0]["containerPort"]
        text = wait_for(running, port, "/metrics", lambda said: 'attribution_source_up{source="kubelet"}' in said)
        assert value_of('gpuscope_attribution_source_up{source="kubelet"}', text) == [up]
        assert ('reason="no_permission"' in text) is (up == 0)
    assert running.status()["CapEff"] == "0" * 16


def test_agent_needs_no_driver_to_live(pods: Pods) -> None:
    pod = pod_spec("agent", "podResources.enabled=false", "agent.simulate=no-driver")
    (container,) = pod["containers"]
    running = pods.start(pod)
    paths = probes(container)
    wait_for(running, *paths["livenessProbe"])
    status, reason = running.get(*paths["readinessProbe"])
    assert (status, bool(reason.strip())) == (503, True)
    assert value_of("gpuscope_up", wait_for(running, paths["livenessProbe"][0], "/metrics")) == [0]


def test_agent_without_a_simulation_says_what_it_lacks(pods: Pods) -> None:
    pod = pod_spec("agent", "podResources.enabled=false")
    running = pods.start(pod)
    wait_for(running, *probes(pod["containers"][0])["livenessProbe"])
    assert "driver" in running.logs()
    assert value_of(
        "gpuscope_up", wait_for(running, pod["containers"][0]["ports"][0]["containerPort"], "/metrics")
    ) == [0]
