"""What each pod may do: read from the rendered manifests, not from the templates."""

import pytest
from tests.helm.charts import CASES, LEAN, Object, objects, of_kind, only, pods

from gpuscope.workloads.kubernetes.resources import BATCH_JOB, CLAIM, EVENT, NODE, POD, QUEUE_WORKLOAD, WORKLOADS

VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
"""Kinds of volumes that the Pod Security Standard "restricted" admits."""
OPEN = ("all-access", "folders", "mig", "slurm", "grafana-operator")
"""Cases that ask for more of the node; CDI needs nothing more, but its case has pod resources on."""


def violations(spec: Object) -> set[str]:
    """What of a pod "restricted" does not admit, each in a word."""
    found = {name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)}
    pod = spec.get("securityContext", {})
    for volume in spec.get("volumes", []):
        kind = next(key for key in volume if key != "name")
        if kind not in VOLUMES:
            found.add(f"{kind}: {volume[kind].get('path', '')}")
    for container in [*spec["containers"], *spec.get("initContainers", [])]:
        own = container.get("securityContext", {})
        context = pod | own
        if own.get("privileged"):
            found.add("privileged")
        if own.get("allowPrivilegeEscalation") is not False:
            found.add("allowPrivilegeEscalation")
        if own.get("capabilities", {}).get("drop") != ["ALL"] or set(own["capabilities"].get("add", [])):
            found.add("capabilities")
        if context.get("runAsNonRoot") is not True:
            found.add("runAsNonRoot")
        if context.get("runAsUser") == 0:
            found.add("runAsUser: 0")
        if context.get("seccompProfile", {}).get("type") not in {"RuntimeDefault", "Localhost"}:
            found.add("seccompProfile")
        if any("hostPort" in port for port in container.get("ports", [])):
            found.add("hostPort")
        if context.get("procMount", "Default") != "Default" or context.get("seLinuxOptions", {}).get("type"):
            found.add("procMount or seLinuxOptions")
    return found


SOCKET = {"runAsNonRoot", "runAsUser: 0", "hostPath: /var/lib/kubelet/pod-resources"}
"""The two exceptions of pod resources: user id 0, which is two fields, and one folder of the node."""


@pytest.mark.parametrize("case", ["", *(case for case in CASES if case not in OPEN)])
def test_every_pod_is_restricted_without_pod_resources(case: str) -> None:
    found = pods(objects(case, "podResources.enabled=false", *LEAN))
    assert {name: violations(spec) for name, spec in found.items()} == {name: set() for name in found}


@pytest.mark.parametrize("case", ["", *(case for case in CASES if case not in (*OPEN, "restricted"))])
def test_pod_resources_cost_two_exceptions_in_the_agent_alone(case: str) -> None:
    found = pods(objects(case))
    wanted = {name: SOCKET if name == "agent" else set() for name in found}
    assert {name: violations(spec) for name, spec in found.items()} == wanted


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ((), set()),
        (("hostAccess.processes=true",), {"hostPID"}),
        (("hostAccess.podLogs=true",), {"hostPath: /var/log/pods"}),
        (("hostAccess.kernelLog=file",), {"hostPath: /var/log", "runAsUser: 0", "runAsNonRoot"}),
        (
            ("hostAccess.kernelLog=device",),
            {"hostPath: /dev/kmsg", "privileged", "runAsUser: 0", "runAsNonRoot", "capabilities"}
            | {"allowPrivilegeEscalation"},
        ),
        (("hostAccess.mounts=true",), {"hostPath: /proc", "hostPath: /sys", "hostPath: /"}),
        (
            ("hostAccess.mounts=true", "hostAccess.mountsOf={/lustre}"),
            {"hostPath: /proc", "hostPath: /sys", "hostPath: /lustre"},
        ),
        (("agent.jobMappingDir=/run/jobs",), {"hostPath: /run/jobs"}),
        (("agent.gpu.access=volume-mounts",), {"hostPath: /dev/null"}),
        (("agent.gpu.access=cdi",), set()),
        (
            ("agent.gpu.access=host",),
            {"hostPath: /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "hostPath: /dev", "privileged", "capabilities"}
            | {"allowPrivilegeEscalation"},
        ),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, tuple) else "",
)
def test_each_opt_in_adds_what_is_said_of_it_and_nothing_else(settings: tuple[str, ...], more: set[str]) -> None:
    found = pods(objects("", "podResources.enabled=false", *settings, *LEAN))
    assert violations(found["agent"]) == more
    assert all(violations(spec) == set() for name, spec in found.items() if name != "agent")


@pytest.mark.parametrize("case", ["", *CASES])
def test_nothing_is_written_but_to_volumes(case: str) -> None:
    for spec in pods(objects(case)).values():
        paths = {volume["name"] for volume in spec.get("volumes", []) if "hostPath" in volume}
        for container in spec["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            for mount in container.get("volumeMounts", []):
                assert "subPath" not in mount
                if mount["name"] in paths - {"state", "dev"}:
                    assert mount["readOnly"] is True


@pytest.mark.parametrize("case", ["", *CASES])
def test_only_the_collector_of_kubernetes_has_a_token(case: str) -> None:
    for name, spec in pods(objects(case)).items():
        wanted = name == "collector" and case != "slurm"
        assert spec["automountServiceAccountToken"] is wanted
        assert spec["enableServiceLinks"] is False


@pytest.mark.parametrize("case", ["", *CASES])
def test_memory_is_limited_and_cpu_is_not(case: str) -> None:
    for spec in pods(objects(case)).values():
        for container in spec["containers"]:
            assert "memory" in container["resources"]["limits"]
            assert "cpu" not in container["resources"]["limits"]


def _rules(*settings: str, case: str = "") -> dict[str, set[str]]:
    """Resources that may be read, by group, and verbs on them, over all roles."""
    found: dict[str, set[str]] = {}
    for one in objects(case, *settings):
        if one["kind"] in {"Role", "ClusterRole"}:
            for rule in one["rules"]:
                assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
                for resource in rule["resources"]:
                    found.setdefault(f"{'/'.join(rule['apiGroups'])}/{resource}", set()).update(rule["verbs"])
    return found


def test_roles_hold_what_the_collector_watches_and_no_more() -> None:
    kinds = (POD, NODE, EVENT, BATCH_JOB, CLAIM, QUEUE_WORKLOAD, *WORKLOADS)
    watched = {f"{kind.group}/{kind.plural}" for kind in kinds}
    found = _rules()
    assert set(found) == watched
    assert set.union(*found.values()) == {"get", "list", "watch"}


def test_what_is_switched_off_needs_no_role() -> None:
    assert "resource.k8s.io/resourceclaims" not in _rules("collector.kubernetes.resourceClaims=false")
    assert "/nodes" not in _rules("collector.kubernetes.nodes=false")
    assert _rules("collector.rbac.create=false") == {}
    assert _rules("collector.enabled=false") == {}
    assert _rules(case="slurm") == {}
    kinds = {one["kind"] for one in objects("restricted")}
    assert "ClusterRole" not in kinds
    assert {one["metadata"]["namespace"] for one in of_kind("Role", objects("restricted"))} >= {"team-a", "team-b"}


def test_several_collectors_may_hold_their_own_lease() -> None:
    role = only("Role", "gpu-gpuscope-collector-lease", objects("restricted"))
    named = [rule for rule in role["rules"] if "resourceNames" in rule]
    assert [rule["resourceNames"] for rule in named] == [["gpu-gpuscope-collector"]]
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "create", "update"}
    assert "coordination.k8s.io/leases" not in _rules()


def test_every_binding_names_an_account_that_is_there() -> None:
    for case in ("", *CASES):
        found = objects(case)
        accounts = {one["metadata"]["name"] for one in of_kind("ServiceAccount", found)}
        for one in found:
            if one["kind"] in {"RoleBinding", "ClusterRoleBinding"}:
                assert {subject["name"] for subject in one["subjects"]} <= accounts


def test_network_policies_let_in_the_port_of_metrics_alone() -> None:
    found = of_kind("NetworkPolicy", objects("air-gapped"))
    assert {one["metadata"]["name"] for one in found} == {"gpu-gpuscope-agent", "gpu-gpuscope-collector"}
    for one in found:
        assert one["spec"]["policyTypes"] == ["Ingress", "Egress"]
        (rule,) = one["spec"]["ingress"]
        assert rule["ports"] == [{"port": "metrics", "protocol": "TCP"}]
        assert len(rule["from"]) == 2
    agent = only("NetworkPolicy", "gpu-gpuscope-agent", found)
    assert agent["spec"]["egress"] == []
    collector = only("NetworkPolicy", "gpu-gpuscope-collector", found)
    assert {"to": [{"ipBlock": {"cidr": "10.0.0.1/32"}}], "ports": [
        {"port": 443, "protocol": "TCP"}, {"port": 6443, "protocol": "TCP"},
    ]} in collector["spec"]["egress"]  # fmt: skip
    assert of_kind("NetworkPolicy", objects()) == []


def test_files_of_secrets_can_be_read_by_the_user_that_runs() -> None:
    """They belong to root and to the group of the pod, and nobody else may read them."""
    for settings in ((), ("podResources.enabled=false",)):
        chosen = (*settings, "agent.web.configSecret=web", "collector.web.configSecret=web", *LEAN)
        for name, spec in pods(objects("", *chosen)).items():
            secrets = [volume["secret"] for volume in spec.get("volumes", []) if "secret" in volume]
            context = spec["securityContext"]
            assert bool(secrets) == (name != "test")
            assert not secrets or context.get("runAsUser") == 0 or context["fsGroup"] == 65532
            assert all(secret["defaultMode"] == 0o440 for secret in secrets)
