"""A pod template as flags of ``podman run``; the image itself is checked by ``make test-image``."""

from pathlib import Path

import pytest
from tests.image.manifest import flags, memory_bytes, probes

CONTAINER = {"name": "agent", "args": ["agent"]}


def test_restricted_pod() -> None:
    pod = {"securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}}
    context = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    limits = {"limits": {"memory": "256Mi"}}
    made = flags(pod, CONTAINER | {"securityContext": context, "resources": limits}, {})
    assert made == [
        *("--user", "65532:0", "--read-only", "--read-only-tmpfs=false", "--security-opt", "no-new-privileges"),
        *("--cap-drop=ALL", "--memory", "268435456"),
    ]


def test_nothing_is_stricter_than_the_manifest() -> None:
    assert flags({}, CONTAINER, {}) == ["--security-opt", "seccomp=unconfined"]


def test_context_of_the_container_wins() -> None:
    pod = {"securityContext": {"runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}}}
    assert flags(pod, CONTAINER | {"securityContext": {"runAsUser": 0}}, {}) == ["--user", "0:0"]


def test_volumes_and_variables(tmp_path: Path) -> None:
    pod = {
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "volumes": [
            {"name": "tmp", "emptyDir": {"sizeLimit": "64Mi"}},
            {"name": "pods", "hostPath": {"path": "/var/lib/kubelet/pod-resources"}},
        ],
    }
    mounts = [{"name": "tmp", "mountPath": "/tmp"}, {"name": "pods", "mountPath": "/pods", "readOnly": True}]
    env = [{"name": "A", "value": "1"}, {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]
    assert flags(pod, CONTAINER | {"volumeMounts": mounts, "env": env}, {"pods": tmp_path}) == [
        *("--env", "A=1", "--env", "N=node-a", "--tmpfs", "/tmp:rw,mode=1777,size=67108864"),
        *("--volume", f"{tmp_path}:/pods:ro"),
    ]


@pytest.mark.parametrize(
    ("pod", "context", "reason"),
    [
        ({"hostPID": True}, {}, "hostPID"),
        ({}, {"privileged": True}, "privileged"),
        ({}, {"runAsNonRoot": True}, "runAsNonRoot without runAsUser"),
        ({"securityContext": {"seccompProfile": {"type": "Localhost"}}}, {}, "seccompProfile Localhost"),
    ],
)
def test_what_cannot_be_run_as_it_says_is_refused(pod: dict, context: dict, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        flags(pod, CONTAINER | {"securityContext": context}, {})


def test_quantities() -> None:
    assert [memory_bytes(text) for text in ("100", "1k", "64Mi", "2G")] == [100, 1000, 2**26, 2 * 10**9]
    with pytest.raises(ValueError, match=r"1\.5Gi"):
        memory_bytes("1.5Gi")


def test_probes_find_their_port_by_name() -> None:
    probe = {"httpGet": {"path": "/-/ready", "port": "metrics"}}
    container = {
        "ports": [{"name": "metrics", "containerPort": 9836}],
        "startupProbe": probe,
        "livenessProbe": {"httpGet": {"path": "/-/healthy", "port": 9836}},
        "readinessProbe": probe,
    }
    assert probes(container) == {
        "startupProbe": (9836, "/-/ready"),
        "livenessProbe": (9836, "/-/healthy"),
        "readinessProbe": (9836, "/-/ready"),
    }
