"""The agent in the image, under the security context of the chart's DaemonSet."""

import re

import pytest
from tests.image.conftest import Pods, pod_spec, wait_for
from tests.image.manifest import memory_bytes, probes

RESTRICTED = ("podResources.enabled=false", "agent.simulate=h100-mig")
WITH_PODS = ("podResources.enabled=true", "agent.simulate=h100-mig")


def value_of(series: str, text: str) -> list[float]:
    return [float(value) for value in re.findall(rf"^{series}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)]


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
    assert bool(value_of("gpuscope_pod_allocation_info", text)) is (settings == WITH_PODS)

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
