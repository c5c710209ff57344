"""Names, numbers and empty lists that mean something else in YAML, in Kubernetes or in Helm than their user thought."""

import re

import pytest
import yaml
from tests.helm.charts import (
    CHART,
    HELMS,
    LEAN,
    NAMESPACE,
    Loader,
    Object,
    arguments,
    attempt,
    helm,
    objects,
    of_kind,
    only,
    pods,
)  # fmt: skip

NUMBERS = ("123", "1e5", "0x10", "true", "on", "null")
"""Names that Helm and Kubernetes take, and that are no texts in YAML."""
WRONG = [
    ("fullnameOverride=My.App", "fullnameOverride"),
    ("nameOverride=my app", "nameOverride"),
    ("namespaceOverride=a_b", "namespaceOverride"),
    ("image.registry=https://registry.example.org", "image.registry"),
    ("global.imageRegistry=https://registry.example.org", "global.imageRegistry"),
    ("rules.extraLabels.a\\.b=c", "a.b"),
    ("rules.extraAnnotations.a-b=c", "a-b"),
    ("rules.perAlert.GpuFirmwareFault.labels.1a=c", "1a"),
    ("rules.extraGroups[0].rules[0].alert=Ours", "name"),
    ("rules.extraGroups[0].name=ours", "rules"),
    ("agent.gpuNodes[0].value=x", "agent.gpuNodes"),
    ("agent.gpuNodes[0].values={a}", "agent.gpuNodes"),
]
APART = [
    ("categories.activity.interval=0s", "categories.activity.interval"),
    ("categories.accelerator.processesInterval=0m0s", "categories.accelerator.processesInterval"),
    ("monitor.agent.interval=0s,monitor.agent.scrapeTimeout=0s", "monitor.agent.interval"),
    ("agent.config.interval.fast=1s", "agent.config.interval.fast"),
    ("agent.config.expected-gpus=8,agent.expectedGpus=4", "agent.config.expected-gpus"),
    ("agent.config.collector.ecc=true,categories.health.level=off", "agent.config.collector.ecc"),
    ("agent.config.web.telemetry-path=/x", "agent.config.web.telemetry-path"),
    ("agent.config.web=text", "agent.config.web"),
    ("collector.config.web.listen-address=:1", "collector.config.web.listen-address"),
    ("collector.config.max-jobs=5", "collector.config.max-jobs"),
    ("collector.extraArgs={--web.listen-address=:1}", "collector.extraArgs"),
    ("collector.persistence.existingClaim=mine", "collector.persistence.existingClaim"),
    ("collector.serviceAccount.create=false", "collector.serviceAccount.name"),
]


@pytest.mark.parametrize("version", HELMS)
@pytest.mark.parametrize(("setting", "key"), WRONG, ids=[one for one, _ in WRONG])
def test_what_others_would_refuse_later_is_refused_now(setting: str, key: str, version: str) -> None:
    done = attempt("", setting, version=version)
    assert done.returncode != 0
    assert key in done.stderr.replace("/", ".")


@pytest.mark.parametrize(("setting", "key"), APART, ids=[one for one, _ in APART])
def test_what_would_be_ignored_is_refused(setting: str, key: str) -> None:
    done = attempt("", setting)
    assert done.returncode != 0
    assert re.search(rf"^- {re.escape(key)}: .{{20,}}", done.stderr, re.MULTILINE), done.stderr


def test_settings_that_no_flag_overrules_are_taken() -> None:
    found = objects("", "agent.config.web.max-connections=9", "agent.config.collector.ecc=false", *LEAN)
    assert "--config=/etc/gpuscope/agent/agent.yaml" in arguments("agent", found)
    # Said on purpose behind the chart's own flag, which the last one overrules.
    assert arguments("agent", objects("", "agent.extraArgs={--interval.fast=1s}", *LEAN))[-1] == "--interval.fast=1s"


def _texts(node: object) -> list[str]:
    """Keys and values that have to be texts, wherever they stand."""
    texts = {"name", "namespace", "serviceAccountName", "claimName", "secretName", "storageClassName"}
    found: list[str] = []
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"labels", "matchLabels", "annotations"} and isinstance(value, dict):
                assert all(isinstance(one, str) for one in value.values()), value
            if key in texts | {"priorityClassName", "runtimeClassName"}:
                assert isinstance(value, str), (key, value)
                found.append(value)
            if key in {"args", "matchNames", "resourceNames"}:
                assert all(isinstance(one, str) for one in value), value
            found += _texts(value)
    elif isinstance(node, list):
        for one in node:
            found += _texts(one)
    return found


@pytest.mark.parametrize("version", HELMS)
@pytest.mark.parametrize("name", NUMBERS)
def test_names_that_look_like_numbers_stay_texts(name: str, version: str) -> None:
    keys = (
        "namespaceOverride", "nameOverride", "monitor.namespace", "agent.priorityClassName",
        "agent.gpu.runtimeClassName", "collector.kubernetes.teamLabel",
        "agent.serviceAccount.name", "collector.serviceAccount.name", "collector.priorityClassName",
        "collector.agents.secret", "collector.web.configSecret", "agent.web.configSecret", "agent.simulate",
        "collector.persistence.storageClassName", "collector.kubernetes.namespaces[0]",
        "commonLabels.a", "commonAnnotations.a",
    )  # fmt: skip
    settings = ",".join(f"{key}={name}" for key in keys)
    more = (
        "--set-string", settings, "--set", "fullnameOverride=g,collector.persistence.enabled=true,monitor.enabled=true",
        "--set", "collector.lease=true", "--set", ",".join(LEAN),
    )  # fmt: skip
    done = helm(version, "template", name, CHART, "--namespace", NAMESPACE, *more)
    assert done.returncode == 0, done.stderr
    found = tuple(_parsed(done.stdout))
    assert found
    for one in found:
        assert name in _texts(one) or one["kind"].startswith("Cluster")


def _parsed(text: str) -> list[Object]:
    """The objects in rendered text."""
    return [one for one in yaml.load_all(text, Loader) if one]


@pytest.mark.parametrize("release", ["a.b", "1st"])
def test_a_release_whose_name_no_service_can_have_needs_another(release: str) -> None:
    done = helm(HELMS[-1], "template", release, CHART, "--set", ",".join(LEAN))
    assert done.returncode != 0
    assert re.search(r"^- fullnameOverride: .* begins with a letter", done.stderr, re.MULTILINE)
    done = helm(HELMS[-1], "template", release, CHART, "--set", ",".join(LEAN), "--set", "fullnameOverride=gpuscope")
    assert done.returncode == 0, done.stderr


def test_an_own_tag_or_digest_of_the_collector_beats_the_digest_of_the_agent() -> None:
    digests = [f"sha256:{one * 64}" for one in "ab"]
    settings = (f"image.digest={digests[0]}", *LEAN)
    assert _image("collector", *settings).endswith(f"@{digests[0]}")
    assert _image("collector", *settings, "collector.image.tag=v2") == "ghcr.io/gpuscope/gpuscope:v2"
    assert _image("agent", *settings, "collector.image.tag=v2").endswith(f"@{digests[0]}")
    assert _image("collector", *settings, f"collector.image.digest={digests[1]}").endswith(f"@{digests[1]}")
    assert _image("agent", "image.registry=r.example.org:5000/x/", *LEAN).startswith("r.example.org:5000/x/gpuscope/")


def _image(component: str, *settings: str) -> str:
    image: str = pods(objects("", *settings))[component]["containers"][0]["image"]
    return image


def test_pods_go_to_linux_alone_and_keep_it_beside_other_labels() -> None:
    found = pods(objects("", "agent.nodeSelector.pool=gpu", *LEAN))
    assert {name: spec["nodeSelector"].get("kubernetes.io/os") for name, spec in found.items()} == {
        "agent": "linux", "collector": "linux", "test": "linux",
    }  # fmt: skip
    assert found["agent"]["nodeSelector"]["pool"] == "gpu"


def test_of_a_folder_of_the_node_only_nvml_comes_in() -> None:
    """The node's libc beside it would be loaded by a Python that was built for another one."""
    for given in ("/usr/lib/x86_64-linux-gnu", "/opt/nvidia/"):
        spec = pods(objects("", "agent.gpu.access=host", f"agent.gpu.driverRoot={given}", *LEAN))["agent"]
        (volume,) = [one["hostPath"] for one in spec["volumes"] if one["name"] == "driver"]
        assert volume == {"path": f"{given.rstrip('/')}/libnvidia-ml.so.1", "type": "File"}
        (mount,) = [one for one in spec["containers"][0]["volumeMounts"] if one["name"] == "driver"]
        assert mount["mountPath"] == "/host/driver/libnvidia-ml.so.1"


@pytest.mark.parametrize("key", ["apiServerPorts", "dnsPorts"])
def test_an_empty_list_of_ports_does_not_open_all(key: str) -> None:
    done = attempt("", more=("--set-json", f"networkPolicy.{key}=[]"))
    assert done.returncode != 0
    assert key in done.stderr


def _egress(*settings: str) -> list[Object]:
    found = objects("", "networkPolicy.enabled=true", *settings, *LEAN)
    rules: list[Object] = only("NetworkPolicy", "gpu-gpuscope-collector", found)["spec"]["egress"]
    return rules


def test_the_collector_may_reach_those_agents_that_it_asks() -> None:
    own = [one for one in _egress() if "to" in one]
    assert len(own) == 1
    assert own[0]["ports"] == [{"port": 9836, "protocol": "TCP"}]
    assert [one for one in _egress("categories.training.level=basic") if "to" in one] == []
    others = _egress("collector.agents.urls={https://a.example.org,http://b:1234}", "agent.enabled=false")
    assert others[-1] == {"ports": [{"port": port, "protocol": "TCP"} for port in (443, 1234)]}
    assert [one["port"] for one in _egress()[0]["ports"]] == [53, 53, 5353, 5353]
    assert of_kind("NetworkPolicy", objects("", *LEAN)) == []
