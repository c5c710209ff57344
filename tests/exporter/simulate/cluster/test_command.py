"""``gpuscope simulate cluster`` as its users run it."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
import yaml

from gpuscope.cli import main
from gpuscope.demo.programs import find
from gpuscope.demo.prometheus import Prometheus
from gpuscope.workloads.slurm import SlurmSource

ROOT = Path(__file__).parents[4]
WAIT_S = 150.0


@contextlib.contextmanager
def _running(*arguments: str, log: Path) -> Iterator[str]:
    """Its address; it must end by itself when it is told to, and have said one line."""
    command = [sys.executable, "-m", "gpuscope", "simulate", "cluster", "--listen-address", "127.0.0.1:0", *arguments]
    with log.open("w") as stream:
        process = subprocess.Popen(command, stderr=stream, stdout=stream, cwd=ROOT)
    end = time.monotonic() + WAIT_S
    try:
        while not (found := re.search(r"http://([\d.]+:\d+)/", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < end
            time.sleep(0.1)
        yield found[1]
    finally:
        process.terminate()
        code = process.wait(timeout=30)
    assert code == 0
    assert len(log.read_text().splitlines()) == 1


def test_it_lists_what_it_serves_and_serves_it(tmp_path: Path) -> None:
    with _running("--nodes", "1", "--source", "dcgm-classic", log=tmp_path / "log") as address:
        listed = requests.get(f"http://{address}/", timeout=20)
        paths = re.findall(r"href='([^']+)'", listed.text)
        assert paths == ["/sim/dcgm-classic/gpu-001/metrics"]
        answer = requests.get(f"http://{address}{paths[0]}", timeout=20)
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert answer.text.startswith("# HELP DCGM_FI_DEV_SM_CLOCK ")
        assert requests.get(f"http://{address}/metrics", timeout=20).status_code == 404


@pytest.mark.parametrize("profiles", [("efa", "amd", "kube-state-pair"), ("slurm",)], ids="+".join)
def test_prometheus_scrapes_all_of_it_and_drops_nothing(
    profiles: tuple[str, ...], tmp_path: Path, free_port: Callable[[], int]
) -> None:
    config = tmp_path / "prometheus.yml"
    flags = [part for name in profiles for part in ("--profile", name)]
    flags += ["--write-scrape-config", str(config), "--scrape-interval", "4s"]
    with _running(*flags, log=tmp_path / "log") as address:
        jobs = yaml.safe_load(config.read_text())["scrape_configs"]
        expected = sum(len(job["static_configs"]) for job in jobs)
        own = f"127.0.0.1:{free_port()}"
        program = find("prometheus", ROOT / ".cache")
        command = [str(program), f"--config.file={config}", f"--web.listen-address={own}", "--log.level=warn"]
        command += [f"--storage.tsdb.path={tmp_path / 'tsdb'}"]
        with (tmp_path / "prometheus.log").open("w") as stream:
            process = subprocess.Popen(command, stdout=stream, stderr=stream)
        try:
            prometheus = Prometheus(own)
            end = time.monotonic() + WAIT_S
            while not prometheus.ready() or _up(prometheus) < expected:
                assert process.poll() is None, (tmp_path / "prometheus.log").read_text()
                assert time.monotonic() < end, (_up(prometheus), expected)
                time.sleep(1.0)
            text = requests.get(f"http://{own}/metrics", timeout=20).text
            scraped = sum(point.value for point in prometheus.query("sum(scrape_samples_scraped)"))
        finally:
            process.terminate()
            process.wait(timeout=30)
        assert address in config.read_text()
    dropped = re.findall(
        r"^prometheus_target_scrapes_(?:sample_\w+|exceeded_\w+|cache_flush_forced)_total (\S+)$", text, re.MULTILINE
    )
    assert len(dropped) > 3
    assert {float(count) for count in dropped} == {0}
    assert scraped > 5000


def _up(prometheus: Prometheus) -> float:
    return sum(point.value for point in prometheus.query("sum(up)"))


def test_the_written_configuration_has_rules_agents_and_labels(tmp_path: Path) -> None:
    config = tmp_path / "new" / "prometheus.yml"
    scenarios = tmp_path / "scenarios"
    flags = ["--write-scrape-config", str(config), "--rules", "rules/*.yaml", "--agent", "gpu-001=127.0.0.1:9841"]
    flags += ["--cluster", "east", "--nodes", "2", "--write-scenarios", str(scenarios)]
    with _running(*flags, log=tmp_path / "log"):
        pass
    document = yaml.safe_load(config.read_text())
    assert document["rule_files"] == ["rules/*.yaml"]
    jobs = {job["job_name"]: job for job in document["scrape_configs"]}
    assert jobs["gpuscope"]["static_configs"] == [
        {"targets": ["127.0.0.1:9841"], "labels": {"cluster": "east", "node": "gpu-001"}}
    ]
    labels = jobs["dcgm-classic"]["static_configs"][1]["labels"]
    assert labels["job"] == "nvidia-dcgm-exporter"
    assert labels["__metrics_path__"] == "/east/dcgm-classic/gpu-002/metrics"
    assert (labels["cluster"], labels["namespace"]) == ("east", "gpu-operator")
    assert jobs["kube-state"]["honor_labels"] is True
    assert "honor_labels" not in jobs["dcgm-classic"]
    assert sorted(path.name for path in scenarios.iterdir()) == ["gpu-001.yaml", "gpu-002.yaml"]


def test_a_collector_finds_the_jobs_of_the_written_slurm(tmp_path: Path) -> None:
    flags = ["--profile", "slurm", "--nodes", "3", "--source", "slurm", "--write-slurm", str(tmp_path / "slurm")]
    with _running(*flags, "--write-scenarios", str(tmp_path / "nodes"), log=tmp_path / "log") as address:
        seen = SlurmSource(tmp_path / "slurm").observe(time.time())
        text = requests.get(f"http://{address}/sim/slurm/jobs/metrics", timeout=20).text
    assert (seen.complete, dict(seen.problems)) == (True, {})
    living = [job for job in seen.jobs if job.outcome is None]
    assert {job.facts.name for job in living} == {"llama-pretrain", "vit-large"}
    assert "\nslurm_jobs_running 2\n" in text
    written = yaml.safe_load((tmp_path / "nodes" / "gpu-001.yaml").read_text())
    assert str(written["jobs"][0]["id"]) in {job.key.uid for job in living}
    assert 0 <= time.time() - written["began"] < 2 * WAIT_S


def _fails(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as exit_:
        main(["simulate", "cluster", *arguments])
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert isinstance(exit_.value.code, int)
    return exit_.value.code, error


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--profile", "slurn"], "--profile 'slurn': there is no such; did you mean slurm?"),
        (["--source", "dcgm"], "--source 'dcgm': there is no such"),
        (["--nodes", "0"], "--nodes"),
        (["--nodes", "1251"], "--nodes"),
        (["--ago", "soon"], "--ago 'soon': must be a duration like 90s, 30m, 6h or 2d"),
        (["--scrape-interval", "0"], "--scrape-interval: must be longer than 0"),
        (["--speed", "0"], "--speed"),
        (["--listen-address", "9840"], "--listen-address '9840': must be HOST:PORT"),
        (["--listen-address", "127.0.0.1:99999"], "must be HOST:PORT"),
        (["--scenario", "a"], "--scenario 'a': must be NODE=SCENARIO"),
        (["--scenario", "a=h100x8", "--scenario", "a=l40s"], "there is a node a already"),
        (["--scenario", "a=h101"], "--scenario: scenario 'h101': neither a shipped scenario nor a file"),
        (["--scenario", "a=h100x8", "--write-scenarios", "x"], "--write-scenarios: the fleet of --scenario"),
        (["--agent", "a"], "--agent 'a': must be NODE=HOST:PORT"),
        (["--cluster", "a/b"], "--cluster 'a/b': must be made of letters"),
        (["--nodes", "1", "--write-scenarios", "/dev/null/x"], "--write-scenarios /dev/null/x"),
        (["--nodes", "1", "--write-slurm", "x"], "--write-slurm: there is no Slurm in this cluster"),
        (["--nodes", "1", "--profile", "slurm", "--write-slurm", "/dev/null/x"], "--write-slurm /dev/null/x: "),
    ],
)  # fmt: skip
def test_a_bad_flag_is_told_in_one_line(flags: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = _fails(capsys, *flags)
    assert code == 2
    assert said in error


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    with _running("--nodes", "1", "--source", "fsx", log=tmp_path / "log") as address:
        code, error = _fails(capsys, "--nodes", "1", "--listen-address", address)
    for number, handler in before.items():
        signal.signal(number, handler)
    assert code == 1
    assert f"--listen-address {address}" in error


def test_profiles_and_sources_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", "cluster", "--profiles"])
    said = capsys.readouterr().out
    assert "  kube-state-pair     two kube-state-metrics say everything twice" in said
    assert "  nvsentinel " in said
    text = (ROOT / "docs/simulate.md").read_text(encoding="utf-8")
    from gpuscope.simulate.cluster.profiles import PROFILES

    assert {name for name in PROFILES if f"`{name}`" not in text} == set()


def test_it_ends_with_ctrl_c(tmp_path: Path) -> None:
    with _running("--nodes", "1", log=tmp_path / "log"):
        children = [int(one.name) for one in Path("/proc").glob("[0-9]*") if _is_child(one)]
        for pid in children:
            os.kill(pid, signal.SIGINT)
        end = time.monotonic() + 30
        while any(_is_child(Path(f"/proc/{pid}")) for pid in children):
            assert time.monotonic() < end
            time.sleep(0.05)
    assert len(children) == 1


def _is_child(folder: Path) -> bool:
    try:
        status = (folder / "status").read_text()
        line = (folder / "cmdline").read_bytes()
    except OSError:
        return False
    return f"PPid:\t{os.getpid()}\n" in status and b"\0cluster\0" in line and "State:\tZ" not in status
