"""One real Slurm for all tests of this folder, with what happens on it and a collector that watches from the start."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.exporter.collector.conftest import Running, wait_for
from tests.exporter.workloads.slurm.real.cluster import Cluster

from gpuscope.workloads.observation import ObservedJob
from gpuscope.workloads.slurm import SlurmSource

_CACHE = Path(__file__).parents[5] / ".cache/slurm"
_AFTER_A_RESTART = '[ -n "$SLURM_RESTART_COUNT" ]'
TEAM = "story"


class Watch:
    """A collector's source that saw everything, and others that start only now."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.source = self.fresh()

    def fresh(self, *, use_json: bool = True, log: bool = True) -> SlurmSource:
        """A source that has seen nothing yet."""
        path = self.cluster.completion_log if log else None
        return SlurmSource(self.cluster.commands, completion_log=path, use_json=use_json, timeout_s=60.0)

    def until(self, uid: str, condition: Callable[[ObservedJob], bool]) -> ObservedJob:
        """The job, once it is as wanted."""
        found: list[ObservedJob] = []

        def look() -> bool:
            seen = self.source.observe(time.time())
            assert seen.complete, seen.problems
            found[:] = [one for one in seen.jobs if one.key.uid == uid and condition(one)]
            return bool(found)

        self.cluster.wait(f"job {uid}", look)
        return found[0]


class Collectors:
    """``gpuscope collector`` on the cluster, one after the other, with one state file."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._started: list[Running] = []

    @property
    def now(self) -> Running:
        """The one that runs."""
        return self._started[-1]

    def start(self) -> None:
        """Starts one, and waits until it has an address."""
        folder = self._cluster.folder
        log = folder / f"collector-{len(self._started)}.log"
        command = [sys.executable, "-m", "gpuscope", "collector", "--web.listen-address", "127.0.0.1:0", "--slurm"]
        command += ["--slurm.commands", str(self._cluster.commands), "--state-file", str(folder / "book")]
        command += ["--slurm.completion-log", str(self._cluster.completion_log)]
        command += ["--interval", "1s", "--counter-hold", "0s"]
        with log.open("wb") as stderr:
            environment = os.environ | self._cluster.environment
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=stderr, stderr=stderr)
        one = Running(process, log)
        self._started.append(one)
        wait_for(lambda: one.url or process.poll() is not None, "an address of the collector")
        assert process.poll() is None, one.log

    def stop(self) -> None:
        """Ends it, and closes all."""
        for one in self._started:
            one.session.close()
            if one.process.poll() is None:
                one.process.kill()
                one.process.wait(timeout=30)


@dataclass
class Story:
    """What was begun at the start and takes its time; the other tests run while it goes on.

    Attributes:
        jobs: what happens to it -> id.
        past: chapters that are over, and how they failed.
    """

    cluster: Cluster
    watch: Watch
    collectors: Collectors
    jobs: dict[str, str] = field(default_factory=dict)
    past: "dict[Chapter, BaseException | None]" = field(default_factory=dict)

    def begin(self) -> None:
        """Submits all jobs, and kills a node and what ran there once they run."""
        submit, one_gpu = self._submit, "--gres=gpu:1"
        time.sleep(1.1)  # Slurm knows seconds: a job of the second of the first look may be older than that
        submit("succeeds", "true", "--gres=gpu:h100:2", "-J", "good = job")
        submit("fails", "exit 3")
        submit("crashes", "kill -SEGV $$")
        submit("is cancelled", "sleep 600", "-N2", "--gres=gpu:4")
        submit("is held", "true", "--hold", one_gpu)
        submit("runs out of time", "sleep 600", "-t", "1", one_gpu)
        submit("is requeued", f"{_AFTER_A_RESTART} || sleep 600", "--gres=gpu:2")
        submit("requeues itself", f"{_AFTER_A_RESTART} || exit 99")
        submit("loses its node", f"{_AFTER_A_RESTART} || sleep 600", "-p", "weak", "--gres=gpu:2")
        submit("loses its node for good", "sleep 600", "-p", "weak", "--no-requeue")
        alive = [self.jobs[one] for one in ("is cancelled", "runs out of time", "is requeued")]
        lost = [self.jobs[one] for one in ("loses its node", "loses its node for good")]
        for job in (*alive, *lost):
            self.watch.until(job, lambda one: bool(one.attempts))
        run = self.cluster.run
        self.cluster.kill_node("gpu-3", *lost)
        # Slurm's shortest limit is a minute, and it looks twice a minute.
        self.cluster.update(f"jobid={alive[1]}", f"EndTime={time.strftime('%FT%T', time.localtime(time.time() + 2))}")
        run("scancel", alive[0])
        run("scontrol", "requeue", alive[2])

    def once(self, chapter: "Chapter") -> None:
        """Goes through a chapter, unless it was done: tests come in any order, on several workers."""
        if chapter not in self.past:
            self.past[chapter] = None
            try:
                chapter(self)
            except BaseException as error:
                self.past[chapter] = error
                raise
        error = self.past[chapter]
        assert error is None, f"{chapter.__name__} failed: {error}"

    def _submit(self, fate: str, script: str, *arguments: str) -> None:
        self.jobs[fate] = self.cluster.submit(script, "-A", TEAM, *arguments)


Chapter = Callable[[Story], None]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that is ready; ``SLURM_ROOT`` names another folder of Slurm's programs than the fetched one."""
    root = Path(os.environ.get("SLURM_ROOT") or _CACHE).resolve()
    assert (root / "usr/bin/scontrol").exists(), f"no Slurm in {root}: run `make programs`, which fetches it"
    slurm = Cluster(root, tmp_path_factory.mktemp("slurm"))
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()


@pytest.fixture(scope="session")
def story(cluster: Cluster) -> Iterator[Story]:
    """What happens on the cluster, with a source and a collector that watch it from the beginning."""
    collectors = Collectors(cluster)
    try:
        collectors.start()
        collectors.now.wait(Running.ready, "an answer of Slurm")
        told = Story(cluster, Watch(cluster), collectors)
        with pytest.MonkeyPatch.context() as patch:
            _reach(cluster, patch)
            told.begin()
        yield told
    finally:
        collectors.stop()


@pytest.fixture
def watch(story: Story, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """A source of the cluster that has seen everything."""
    _reach(story.cluster, monkeypatch)
    return story.watch


def _reach(cluster: Cluster, patch: pytest.MonkeyPatch) -> None:
    """Sources run in this process: its environment leads to the cluster, for one test at a time."""
    for name, value in cluster.environment.items():
        patch.setenv(name, value)
