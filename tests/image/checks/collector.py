"""The collector in the image, under the security context of the chart's Deployment, with a service account."""

import re
from pathlib import Path

from tests.exporter.workloads.kubernetes.conftest import pod, running, workload
from tests.exporter.workloads.kubernetes.test_session import Secured
from tests.image.conftest import Pods, pod_spec, wait_for
from tests.image.manifest import memory_bytes, probes
from tests.image.network import Network

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class InCluster(Secured):
    """A Kubernetes API as a pod of the cluster sees it; it listens where it was made, in the network of the pod."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        job = workload("Job")
        self.server.put(job)
        self.server.put(running(pod("train-0", job), 30))
        self.account = folder / "serviceaccount"
        self.account.mkdir()
        (self.account / "token").write_text(self.server.token, encoding="utf-8")
        (self.account / "ca.crt").write_bytes(self.authority)
        (self.account / "namespace").write_text("gpuscope", encoding="utf-8")

    def flags(self) -> tuple[str, ...]:
        """What kubelet adds to the containers of a pod that mounts its token."""
        host, port = self.server.url.removeprefix("https://").split(":")
        variables = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
        given = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        return (*given, "--volume", f"{self.account}:{ACCOUNT}:ro")


def test_collector_follows_jobs_under_the_charts_security_context(pods: Pods, network: Network, tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    cluster = network.inside(lambda: InCluster(folder))
    try:
        spec = pod_spec("collector")
        (container,) = spec["containers"]
        started = pods.start(spec, more=cluster.flags())
        paths = probes(container)
        for port, path in paths.values():
            wait_for(started, port, path)
        text = wait_for(started, paths["readinessProbe"][0], "/metrics")
        assert re.search(r"^gpuscope_collector_source_up(?:{[^}]*})? 1$", text, re.MULTILINE), text[:3000]
        assert 'workload_kind="Job"' in text

        status = started.status()
        assert status["Uid"].split() == ["65532"] * 4
        assert status["CapEff"] == status["CapBnd"] == "0" * 16
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        assert started.root_is_read_only()
        limit = memory_bytes(container["resources"]["limits"]["memory"])
        assert started.limit_bytes() == limit
        assert started.most_memory_bytes() < limit

        started.stop(spec["terminationGracePeriodSeconds"])
        assert started.exit_code() == 0, started.logs()
    finally:
        cluster.stop()
        cluster.server.away()
