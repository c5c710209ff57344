"""What Helm prints after an installation fits what was installed, and its commands are ones that kubectl takes."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.helm.api_server import api_server
from tests.helm.charts import CHART, LEAN, NAMESPACE, NEWEST, RELEASE, ROOT, helm

KUBECTL = ROOT / ".cache/kubectl/1.37.1/kubectl"
GKE = "v1.33.4-gke.1234000"
SECURED = "agent.web.scheme=https,agent.web.configSecret=web"


def _notes(folder: Path, *settings: str, version: str = "v1.33.4") -> str:
    chosen = [word for one in (*settings, *LEAN) for word in ("--set", one)]
    with api_server(folder, version=version) as (_, config):
        done = helm(NEWEST, "install", RELEASE, CHART, "--namespace", NAMESPACE, "--kubeconfig", config,
                    "--disable-openapi-validation", *chosen)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split("NOTES:")[1]


@pytest.mark.parametrize(
    ("settings", "version", "said"),
    [
        ("agent.gpu.access=runtime", GKE, ["priority class system-node-critical", "GKE has no NVIDIA runtime"]),
        ("agent.gpu.access=host,agent.priorityClassName=", GKE, []),
        ("agent.simulate=h100", GKE, ["priority class system-node-critical"]),
        ("agent.enabled=false", GKE, []),
        ("agent.enabled=true", "v1.33.4", []),
        (SECURED, "v1.33.4", ["monitor.tlsConfig is empty"]),
        (f"{SECURED},monitor.tlsConfig.insecureSkipVerify=true", "v1.33.4", []),
        ("networkPolicy.enabled=true,collector.slurm.enabled=true", "v1.33.4", ["networkPolicy.extraEgress is empty"]),
    ],
)
def test_what_would_fail_in_silence_is_a_warning(settings: str, version: str, said: list[str], tmp_path: Path) -> None:
    notes = _notes(tmp_path, settings, "monitor.labels.release=x", version=version)
    warnings = re.findall(r"^WARNING: (.*)", notes, re.MULTILINE)
    assert len(warnings) == len(said)
    assert all(text in warning for text, warning in zip(said, warnings, strict=True))


def test_only_what_is_there_is_to_be_looked_at(tmp_path: Path) -> None:
    nothing = _notes(tmp_path, "agent.enabled=false,collector.enabled=false")
    for text in ("helm test", "gpuscope_up", "/d/gpuscope-cluster", "daemonset"):
        assert text not in nothing


def test_the_address_has_the_scheme_of_the_agent(tmp_path: Path) -> None:
    assert "curl -s -k https://127.0.0.1:9836/metrics" in _notes(tmp_path, SECURED)


def test_the_upgrade_that_is_proposed_names_the_namespace(tmp_path: Path) -> None:
    assert f"helm upgrade {RELEASE} CHART --namespace {NAMESPACE} --reset-then-reuse-values " in _notes(tmp_path)


def _commands(text: str) -> list[str]:
    return [line.strip(" $") for line in text.splitlines() if re.match(r"\s*\$? ?kubectl .*get ", line)]


def test_kubectl_takes_the_commands(tmp_path: Path) -> None:
    """As far as it can without a kubelet: flags that exclude each other are refused before anything is asked."""
    pages = [(ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("troubleshooting", "install")]
    commands = [one for text in (_notes(tmp_path), *pages) for one in _commands(text)]
    assert len(commands) > 6
    with api_server(tmp_path) as (_, config):
        for command in commands:
            # A shell would expand what is not quoted, or refuse it.
            assert not re.search(r"[*\[]", re.sub(r"'[^']*'", "", command)), command
            given = [str(KUBECTL), *shlex.split(command)[1:], "--kubeconfig", str(config)]
            done = subprocess.run(given, capture_output=True, text=True, timeout=60, check=False)
            wrong = done.returncode and not re.search("NotFound|doesn't have a resource type|not found", done.stderr)
            assert not wrong, f"{command}: {done.stderr}"
