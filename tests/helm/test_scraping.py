"""Everything is scraped once, with labels that mean what they say, and helm test finds out when it is not."""

import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.helm.charts import CASES, CHART, LEAN, arguments, objects, of_kind, only, pods

SCRIPT = CHART / "files/scrape.py"


def _annotated(found: tuple[dict[str, object], ...]) -> list[str]:
    texts = []
    for one in found:
        if one["kind"] in {"DaemonSet", "Deployment"}:
            annotations = one["spec"]["template"]["metadata"].get("annotations", {})  # type: ignore[index]
            texts += [one["kind"] for key in annotations if key == "prometheus.io/scrape"]
    return texts


@pytest.mark.parametrize("case", ["", *CASES])
def test_either_monitors_or_annotations(case: str) -> None:
    found = objects(case)
    monitors = of_kind("PodMonitor", found) + of_kind("ServiceMonitor", found)
    assert bool(monitors) != bool(_annotated(found))
    scraped = {one["metadata"]["labels"]["app.kubernetes.io/component"] for one in monitors}
    assert not monitors or scraped == {name for name in pods(found) if name != "test"}
    services = of_kind("Service", found)
    assert not any("prometheus.io/scrape" in one["metadata"].get("annotations", {}) for one in services)


@pytest.mark.parametrize("kind", ["PodMonitor", "ServiceMonitor"])
def test_auto_asks_what_the_cluster_has(kind: str) -> None:
    more = ("--api-versions", f"monitoring.coreos.com/v1/{kind}")
    found = objects("", f"monitor.kind={kind}", more=more)
    assert len(of_kind(kind, found)) == 2
    assert _annotated(found) == []
    assert of_kind(kind, objects("", f"monitor.kind={kind}")) == []


@pytest.mark.parametrize("case", ["mig", "no-grafana", "all-access"])
def test_targets_have_a_node_a_job_and_no_labels_of_holders(case: str) -> None:
    found = objects(case, "cluster=prod", *LEAN)
    for one in of_kind("PodMonitor", found) + of_kind("ServiceMonitor", found):
        (endpoint,) = one["spec"].get("podMetricsEndpoints") or one["spec"]["endpoints"]
        assert endpoint["honorLabels"] is True
        steps = endpoint["relabelings"]
        assert {
            "action": "replace",
            "sourceLabels": ["__meta_kubernetes_pod_node_name"],
            "targetLabel": "node",
        } in steps
        assert {"action": "replace", "targetLabel": "cluster", "replacement": "prod"} in steps
        (drop,) = [step for step in steps if step.get("action") == "labeldrop"]
        assert all(
            re.fullmatch(drop["regex"], label) for label in ("namespace", "pod", "container", "service", "endpoint")
        )
        assert not any(re.fullmatch(drop["regex"], label) for label in ("node", "job", "instance", "cluster"))
        assert one["spec"]["namespaceSelector"] == {"matchNames": ["monitoring"]}


def test_monitors_select_pods_and_services_that_are_there() -> None:
    for case, kind, named in (
        ("mig", "PodMonitor", ("DaemonSet", "Deployment")),
        ("no-grafana", "ServiceMonitor", ("Service",)),
    ):
        found = objects(case)
        for monitor in of_kind(kind, found):
            wanted = monitor["spec"]["selector"]["matchLabels"].items()
            labels = [one["spec"].get("template", one)["metadata"]["labels"] for one in found if one["kind"] in named]
            assert sum(wanted <= one.items() for one in labels) == 1


def test_the_collector_asks_the_agents_of_the_release() -> None:
    assert "--agents=http://gpu-gpuscope-agent.monitoring.svc:9836" in arguments("collector", objects())
    service = only("Service", "gpu-gpuscope-agent", objects())
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert not any(one.startswith("--agents") for one in arguments("collector", objects("dcgm-exporter")))
    secured = arguments("collector", objects("all-access"))
    assert "--agents.password-file=/etc/gpuscope/agents/password" in secured
    assert "--agents.ca-file=/etc/gpuscope/agents/ca.crt" in secured


def test_counters_are_held_at_zero_for_two_rare_scrapes() -> None:
    assert not any("counter-hold" in one for one in arguments("collector", objects()))
    rare = objects("", "monitor.collector.interval=1m30s", *LEAN)
    assert "--counter-hold=180s" in arguments("collector", rare)


def test_agents_go_to_nodes_with_gpus_and_are_let_in() -> None:
    spec = pods(objects())["agent"]
    assert {"key": "nvidia.com/gpu", "operator": "Exists"} in spec["tolerations"]
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert all(len(term["matchExpressions"]) == 1 for term in terms)
    keys = {term["matchExpressions"][0]["key"] for term in terms}
    assert {"nvidia.com/gpu.present", "feature.node.kubernetes.io/pci-10de.present"} <= keys
    for name in ("collector", "test"):
        assert {"key": "nvidia.com/gpu", "operator": "Exists"} in pods(objects())[name]["tolerations"]
    assert "affinity" not in pods(objects("simulated"))["agent"]


def test_agents_see_gpus_without_taking_one() -> None:
    for case in ("", *CASES):
        for spec in pods(objects(case)).values():
            for container in spec["containers"]:
                named = {**container["resources"].get("limits", {}), **container["resources"].get("requests", {})}
                assert set(named) <= {"cpu", "memory"}
    environment = {one["name"]: one.get("value") for one in pods(objects())["agent"]["containers"][0]["env"]}
    assert environment["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert environment["NVIDIA_DRIVER_CAPABILITIES"] == "utility"
    assert pods(objects("mig"))["agent"]["runtimeClassName"] == "nvidia"


def test_probes_are_patient_and_only_readiness_asks_about_the_driver() -> None:
    for spec in pods(objects()).values():
        for container in spec["containers"]:
            for name in ("startupProbe", "livenessProbe", "readinessProbe"):
                if name in container:
                    assert container[name]["timeoutSeconds"] >= 5
                    assert container[name]["httpGet"]["path"] == (
                        "/-/ready" if name == "readinessProbe" else "/-/healthy"
                    )
    ready = pods(objects("restricted"))["collector"]["containers"][0]["readinessProbe"]
    assert ready["httpGet"]["path"] == "/-/healthy"
    assert "tcpSocket" in pods(objects("all-access"))["agent"]["containers"][0]["livenessProbe"]


def test_kubelet_is_not_asked_for_a_password() -> None:
    """It has none: it would be told 401, and restart the pod for ever."""
    for component in ("agent", "collector"):
        secret = f"{component}.web.configSecret=web"
        for setting, kind in ((secret, "tcpSocket"), (f"{secret},{component}.probes.handler=http", "httpGet")):
            found = pods(objects("", setting, *LEAN))
            for name, spec in found.items():
                for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                    for container in spec["containers"]:
                        wanted = kind if name == component else "httpGet"
                        assert name == "test" or wanted in container[probe]


def _port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def _agent(scenario: str) -> Iterator[str]:
    """A real agent with the arguments of the chart, on a simulated driver."""
    port = _port()
    given = [
        one for one in arguments("agent", objects("simulated")) if not one.startswith(("--web.listen", "--simulate"))
    ]
    command = [
        sys.executable,
        "-m",
        "gpuscope",
        *given,
        f"--web.listen-address=127.0.0.1:{port}",
        f"--simulate={scenario}",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + 60
            while time.monotonic() < until:
                try:
                    urllib.request.urlopen(f"{url}/-/healthy", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield url
        finally:
            process.terminate()
            process.wait(20)


def _test_pod(*targets: str, patience_s: int) -> subprocess.CompletedProcess[str]:
    text = SCRIPT.read_text(encoding="utf-8").replace("PATIENCE_S = 120", f"PATIENCE_S = {patience_s}")
    command = [sys.executable, "-c", text, *targets]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_test_pod_finds_a_good_agent_good(tmp_path: Path) -> None:
    with _agent("h100-mig") as url:
        done = _test_pod(f"agents={url}", patience_s=30)
        assert (done.returncode, done.stdout) == (0, "agents: 1 scraped, all well\n")
        wrong = _test_pod(f"collector={url}", patience_s=0)
        assert wrong.returncode == 1
        assert "has no gpuscope_collector_source_up" in wrong.stdout


def test_the_test_pod_says_that_the_driver_is_away() -> None:
    with _agent("no-driver") as url:
        done = _test_pod(f"agents={url}", patience_s=0)
        assert done.returncode == 1
        assert "gpuscope_up is 0: the driver cannot be reached; see agent.gpu.access" in done.stdout


def test_the_test_pod_fails_where_nobody_answers() -> None:
    done = _test_pod(f"agents=http://127.0.0.1:{_port()}", patience_s=0)
    assert done.returncode == 1
    assert "does not answer" in done.stdout
    nobody = _test_pod("agents=http://gpuscope.invalid:1", "agents?=http://gpuscope.invalid:1", patience_s=0)
    assert nobody.returncode == 1
    assert "has no addresses: no pod runs" in nobody.stdout
    assert _test_pod("agents?=http://gpuscope.invalid:1", patience_s=0).returncode == 0


def test_the_test_pod_says_it_before_its_time_is_over() -> None:
    """Several targets share one patience; else the pod would be ended at its deadline with nothing said."""
    (pod,) = [one for one in of_kind("Pod", objects()) if one["metadata"]["name"] == "gpu-gpuscope-test"]
    numbers = {name: int(value) for name, value in re.findall(r"^([A-Z_]+) = (\d+)", SCRIPT.read_text("utf-8"), re.M)}
    longest = numbers["PATIENCE_S"] + 4 * numbers["TIMEOUT_S"]
    assert longest < pod["spec"]["activeDeadlineSeconds"]
    silent = [f"{kind}=http://127.0.0.1:{_port()}" for kind in ("agents", "collector")]
    done = _test_pod(*silent, patience_s=2)
    assert done.returncode == 1
    assert done.stdout.count("1 of 1 are not well") == 2


def test_the_test_pod_takes_an_answer_that_breaks_off_for_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\ngpuscope_up 1\n")

        thread = threading.Thread(target=answer)
        thread.start()
        done = _test_pod(f"agents=http://127.0.0.1:{server.getsockname()[1]}", patience_s=0)
        thread.join(60)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("case", ["", *CASES])
def test_the_test_pod_runs_that_script_on_what_is_installed(case: str) -> None:
    found = objects(case)
    tests = [one for one in of_kind("Pod", found) if "helm.sh/hook" in one["metadata"].get("annotations", {})]
    if case == "eks":
        assert tests == []
        return
    (pod,) = tests
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    text, *targets = pod["spec"]["containers"][0]["args"]
    assert text == SCRIPT.read_text(encoding="utf-8")
    kinds = {target.partition("=")[0].rstrip("?") for target in targets}
    assert kinds == {{"agent": "agents", "collector": "collector"}[name] for name in pods(found) if name != "test"}
