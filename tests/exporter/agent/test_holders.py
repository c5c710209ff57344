"""A whole agent on simulated machines with pods and jobs: who holds what, and every metric about it."""

import re
from collections.abc import Iterable
from pathlib import Path

from gpuscope.catalogue import attribution
from gpuscope.catalogue.processes import METRICS as PROCESSES

FAST = ("--interval.attribution", "500ms", "--interval.processes", "500ms", "--interval.slow", "1s")


class _Seen:
    """The last value of every series that an agent has published."""

    def __init__(self, agent) -> None:
        self._agent = agent
        self.series: dict[str, float] = {}

    def has(self, *wanted: str) -> bool:
        """Whether each text stood in some series by now."""
        self.series.update(self._agent.metrics())
        return all(any(part in series for series in self.series) for part in wanted)

    def names(self) -> set[str]:
        """The metrics of these series; the agent has done its work then, and ends."""
        assert self._agent.stop() == 0
        return {re.split(r"[{]", series)[0] for series in self.series}


def _labels(series: Iterable[str], name: str, label: str) -> set[str]:
    return {
        match[1] for one in series if one.startswith(f"{name}{{") and (match := re.search(rf'{label}="(.*?)"', one))
    }


def test_every_metric_about_holders_comes_from_some_simulated_machine(agent, wait_for, tmp_path: Path) -> None:
    names: set[str] = set()
    pods = _Seen(agent(*FAST, "--simulate.speed", "20", simulate="h100-mig+kubelet-restarts"))
    wait_for(
        lambda: pods.has("gpuscope_pod_memory_used_bytes{", 'source="kubelet",reason=', "gpuscope_podresources_errors"),
        "pods, and a kubelet that goes away",
    )
    wait_for(lambda: pods.has('pod="rerank-0"', 'resource="nvidia.com/mig-1g.10gb"', 'replica="1"'), "MIG and shares")
    names |= pods.names()
    jobs = _Seen(agent(*FAST, simulate="l40s"))
    wait_for(lambda: jobs.has("gpuscope_job_memory_used_bytes{", "gpuscope_unowned_memory_used_bytes{"), "jobs")
    assert {"mei", "otto", "nora", "kim"} >= _labels(jobs.series, "gpuscope_job_allocation_info", "user") >= {"mei"}
    names |= jobs.names()
    (tmp_path / "proc").mkdir()
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "odd").touch()
    flags = ("--path.procfs", str(tmp_path / "proc"), "--job-mapping-dir", str(tmp_path / "jobs"))
    blind = _Seen(agent(*FAST, *flags, simulate="l40s"))
    wait_for(lambda: blind.has('reason="odd_name"', "gpuscope_process_visibility_failure_info"), "what cannot be seen")
    names |= blind.names()
    assert {metric.name for metric in (*attribution.METRICS, *PROCESSES)} - names == set()


def test_no_gpu_is_held_by_more_than_it_has(agent, wait_for) -> None:
    seen = _Seen(agent(*FAST, simulate="h100x8"))
    wait_for(lambda: seen.has('pod="chat-warm-standby-0"', "gpuscope_pod_memory_used_bytes{"), "pods")
    values = seen.series
    held = {one: value for one, value in values.items() if one.startswith("gpuscope_allocations{")}
    assert sorted(held.values()) == [1.0] * 7 + [4.0]
    # The notebook of GPU 7 takes more memory and less, between one reading and the other.
    for gpu in range(7):
        pods = [v for k, v in values.items() if k.startswith(f'gpuscope_pod_memory_used_bytes{{gpu="{gpu}",')]
        (used,) = (v for k, v in values.items() if k.startswith(f'gpuscope_gpu_memory_used_bytes{{gpu="{gpu}",'))
        assert 0 < sum(pods) <= used
