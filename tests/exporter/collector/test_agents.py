"""The collector beside an agent that wants to know who asks."""

from collections.abc import Callable
from pathlib import Path

from tests.exporter.collector.conftest import RecordedSlurm, Running
from tests.exporter.workloads.test_agent_access import Guarded, guarded

__all__ = ["guarded"]

ANSWERING = 'gpuscope_collector_agents{state="answering"}'
FAILURES = "gpuscope_collector_agent_failures_total"


def test_agent_with_a_password_and_certificates_is_read(
    collector: Callable[..., Running], recorded: RecordedSlurm, guarded: Guarded, tmp_path: Path
) -> None:
    cert, key = guarded.authority.issue("cluster-collector")
    password = tmp_path / "password"
    password.write_text("sesame\n")
    flags = ["--slurm", "--slurm.commands", str(recorded.commands), "--agents", guarded.url]
    flags += ["--agents.ca-file", str(guarded.authority.file)]
    flags += ["--agents.cert-file", str(cert), "--agents.key-file", str(key)]
    one = collector(*flags, "--agents.user", "joe", "--agents.password-file", str(password))
    one.wait(lambda one: one.value(ANSWERING) == 1, "the agent's answer")
    assert one.total(FAILURES) == 0
    assert one.value(f'{FAILURES}{{reason="unauthorized"}}') == 0
    assert "sesame" not in one.log
    two = collector(*flags)
    two.wait(lambda two: two.value(f'{FAILURES}{{reason="unauthorized"}}') == 1, "the refusal")
    assert two.log.count("cannot be used: unauthorized") == 1
