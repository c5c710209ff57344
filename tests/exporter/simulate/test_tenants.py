"""Files and socket of a simulated machine's pods and jobs, read by the parts that read a real machine's."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from grpclib.client import Channel, UnaryUnaryMethod
from grpclib.exceptions import GRPCError

from gpuscope import simulate
from gpuscope.attribution.pod_names import PodNames
from gpuscope.attribution.process_owner import Owner, ProcessOwners, Unknown
from gpuscope.attribution.slurm import read_job_files
from gpuscope.errors import ConfigError
from gpuscope.podresources import LIST_METHOD, ListPodResourcesRequest, ListPodResourcesResponse
from gpuscope.simulate.driver import SimulatedDriver
from gpuscope.simulate.tenants import SimulatedTenants

MACHINE = """
gpus:
  - {model: h100-sxm, count: 2, job: training}
  - {model: h100-sxm, replicas: 2, job: inference}
  - {model: h100-sxm, job: notebook}
  - model: h100-sxm
    mig: [{profile: 3g.40gb, job: inference}, {profile: 2g.20gb, job: batch}, {profile: 1g.10gb, job: notebook}]
pods:
  - namespace: team-a
    name: trainer
    end: 60
    containers:
      - {name: main, gpus: [0]}
      - {name: log-shipper}
  - {namespace: team-b, name: share-0, gpus: [2]}
  - {namespace: team-b, name: share-1, gpus: [2]}
  - {namespace: team-a, name: successor, gpus: [0], begin: 60}
  - {namespace: team-c, name: idle, mig: [4/0], activity: idle}
jobs:
  - {id: 42, user: mei, account: imaging, partition: h100, gpus: [1], mig: [4/1], end: 60}
  - {id: 43, user: otto, gpus: [1], begin: 60, shared: true}
  - {id: 44, user: kim, gpus: [1], begin: 60, shared: true}
"""


class _Machine:
    """A simulated machine and the parts of an agent that read it."""

    def __init__(self, scenario: str, folder: Path) -> None:
        self.clock = simulate.ManualClock()
        self.driver = SimulatedDriver(simulate.load(scenario), clock=self.clock)
        self.proc = folder / "proc"
        self.driver.write_procfs(self.proc)
        self.tenants = SimulatedTenants(self.driver.node, folder, self.proc, "node-a")
        logs = self.tenants.pod_logs
        names = PodNames(logs, logs.with_name("containers"), min_interval_s=0) if logs else None
        self.owners = ProcessOwners(self.proc, names)

    def owned(self, gpu: int) -> list[Owner | Unknown]:
        """Owners of the processes on a GPU."""
        one = self.driver.node.gpus[gpu]
        self.driver.node.tick()
        with one.lock:
            one.advance(self.clock.now())
            pids = [process.pid for process in one.processes()]
        return [self.owners.find(pid) for pid in pids]

    def pods(self) -> list[str]:
        """Names that kubelet tells over its socket."""

        async def ask() -> list[str]:
            async with Channel(path=str(self.tenants.pod_resources_socket)) as channel:
                method = UnaryUnaryMethod(channel, LIST_METHOD, ListPodResourcesRequest, ListPodResourcesResponse)
                answer = await method(ListPodResourcesRequest(), timeout=60)
                return [pod.name for pod in answer.pod_resources]

        return asyncio.run(ask())

    def close(self) -> None:
        self.tenants.close()
        self.driver.close()


@pytest.fixture
def machine(write, tmp_path: Path) -> Iterator[_Machine]:
    one = _Machine(write(MACHINE), tmp_path)
    yield one
    one.close()


def _names(owner: Owner | Unknown) -> tuple[str, str, str]:
    assert isinstance(owner, Owner)
    return owner.namespace, owner.pod, owner.container


def test_every_process_has_its_owner_s_cgroup(machine: _Machine) -> None:
    assert {_names(owner) for owner in machine.owned(0)} == {("team-a", "trainer", "main")}
    assert {(owner.job_id, owner.user) for owner in machine.owned(1)} == {("42", machine.driver.node.runs()[-1].uid)}
    assert {_names(owner)[1] for owner in machine.owned(2)} == {"share-0", "share-1"}
    # Programs outside of pods and jobs have owners that are neither.
    assert machine.owned(3) == [Owner(), Owner()]
    assert [owner.job_id for owner in machine.owned(4)] == ["42", ""]
    uids = {run.name: run.uid for run in machine.driver.node.runs()}
    assert machine.owned(0)[0].pod_uid == uids["trainer"]


def test_no_process_is_newer_than_a_list_that_names_it(machine: _Machine) -> None:
    pid = machine.driver.node.gpus[0].processes()[0].pid
    assert isinstance(machine.owners.find(pid, listed_at=time.clock_gettime(time.CLOCK_BOOTTIME)), Owner)
    assert machine.owners.find(pid, listed_at=0.0) is Unknown.GONE


def test_job_files_are_those_of_a_prolog(machine: _Machine) -> None:
    folder = machine.tenants.job_mapping_dir
    files = read_job_files(folder)
    assert files.problems == ()
    assert files.jobs == {("1", None): ("42",), ("4", machine.driver.node.gpus[4].mig[1].gi): ("42",)}
    facts = files.facts["42"]
    assert (facts.user, facts.account, facts.partition) == ("mei", "imaging", "h100")
    machine.clock.advance(61)
    machine.driver.node.tick()
    files = read_job_files(folder)
    assert files.jobs == {("1", None): ("43", "44")}
    assert set(files.facts) == {"43", "44"}


def test_files_and_socket_follow_the_pods(machine: _Machine) -> None:
    assert machine.pods() == ["trainer", "share-0", "share-1", "idle"]
    stat = machine.proc / "20034" / "stat"
    began = stat.stat().st_mtime_ns, stat.read_text(encoding="utf-8")
    old = [process.pid for process in machine.driver.node.gpus[0].processes()]
    machine.clock.advance(61)
    # kubelet's answer alone moves the story on.
    assert machine.pods() == ["share-0", "share-1", "idle", "successor"]
    assert {_names(owner) for owner in machine.owned(0)} == {("team-a", "successor", "main")}
    assert [machine.owners.find(pid) for pid in old] == [Unknown.GONE, Unknown.GONE]
    # A process that goes on keeps the time at which it began.
    assert (stat.stat().st_mtime_ns, stat.read_text(encoding="utf-8")) == began
    logs = machine.tenants.pod_logs
    assert {path.name.split("_")[1] for path in logs.iterdir()} == {"successor", "idle", "share-0", "share-1"}
    assert all(link.exists() for link in logs.with_name("containers").iterdir())


def test_a_mig_change_moves_processes_of_the_host_too(machine: _Machine) -> None:
    machine.driver.inject("mig", gpu=4, instances=[{"profile": "7g.80gb", "job": "finetune"}])
    assert machine.owned(4) == [Owner()]
    assert machine.owned(1) == []
    machine.driver.inject("mig", gpu=4, instances=[])
    assert machine.owned(4) == []
    machine.driver.inject("mig", gpu=3, instances=[{"profile": "7g.80gb", "job": "finetune"}])
    assert machine.owned(3) == [Owner()]


def test_the_story_can_stop_kubelet_and_let_it_refuse(machine: _Machine) -> None:
    machine.driver.inject("kubelet_stops")
    deadline = time.monotonic() + 60
    while machine.tenants.pod_resources_socket.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(OSError, match=r"."):
        machine.pods()
    machine.driver.inject("kubelet_starts")
    machine.driver.inject("kubelet_refuses", calls=1)
    while True:
        try:
            machine.pods()
        except GRPCError as error:
            refused = error.message
            break
        except OSError:
            assert time.monotonic() < deadline
    assert refused == "rejected by rate limit"
    assert machine.pods() == ["trainer", "share-0", "share-1", "idle"]


def test_without_a_kubelet_there_is_none_to_stop(write) -> None:
    text = "gpus: [{model: l40s}]\nevents:\n  - {at: 5, do: kubelet_stops}"
    with pytest.raises(ConfigError, match=r"mine.yaml:3: events.0.do: a machine without pods has no kubelet"):
        simulate.load(write(text))
    driver = SimulatedDriver(simulate.load("l40s"), clock=simulate.ManualClock())
    for kind, arguments in (("kubelet_stops", {}), ("kubelet_starts", {}), ("kubelet_refuses", {"calls": 1})):
        driver.inject(kind, **arguments)
    driver.close()


@pytest.mark.parametrize("scenario", ["h100x8", "h100-pretrain", "h100-mig", "a100-mig", "gb200", "l40s"])
def test_every_process_of_a_shipped_machine_has_files(scenario: str, tmp_path: Path) -> None:
    one = _Machine(scenario, tmp_path)
    for _ in range(8):
        for gpu in one.driver.node.gpus:
            owners = one.owned(gpu.index)
            assert all(isinstance(owner, Owner) for owner in owners)
            if gpu.tenants:
                assert all(owner.job_id or owner.container for owner in owners)
        one.clock.advance(190)
    one.close()


def test_a_machine_without_pods_has_no_kubelet_and_no_job_files(write, tmp_path: Path) -> None:
    one = _Machine(write("gpus: [{model: l40s, job: batch}]"), tmp_path)
    assert (one.tenants.pod_resources_socket, one.tenants.pod_logs, one.tenants.job_mapping_dir) == (None, None, None)
    assert one.owned(0) == [Owner(), Owner()]
    one.close()


def test_a_socket_that_cannot_be_made_costs_kubelet_only(write, tmp_path: Path, caplog) -> None:
    (tmp_path / "kubelet.sock").mkdir()
    one = _Machine(write(MACHINE), tmp_path)
    assert "no simulated kubelet: " in caplog.text
    assert one.tenants.kubelet is None
    assert {_names(owner) for owner in one.owned(0)} == {("team-a", "trainer", "main")}
    one.close()


def test_files_that_cannot_be_written_are_told_and_stop_nothing(machine: _Machine, caplog) -> None:
    folder = machine.tenants.job_mapping_dir
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    folder.rmdir()
    folder.touch()
    machine.clock.advance(61)
    assert machine.pods() == ["share-0", "share-1", "idle", "successor"]
    assert "files of simulated pods and jobs" in caplog.text


def test_closing_leaves_no_thread_and_no_socket(machine: _Machine) -> None:
    assert machine.tenants.pod_resources_socket.exists()
    machine.tenants.close()
    machine.tenants.close()
    assert not machine.tenants.pod_resources_socket.exists()
    assert "simulated kubelet" not in [thread.name for thread in threading.enumerate()]
    machine.clock.advance(61)
    machine.driver.node.tick()


def test_a_machine_without_pods_loads_neither_grpc_nor_protobuf(write, tmp_path: Path) -> None:
    text = (
        "import sys, pathlib\n"
        "from gpuscope import simulate\n"
        "driver = simulate.SimulatedDriver(simulate.load(sys.argv[1]))\n"
        "folder = pathlib.Path(sys.argv[2])\n"
        "tenants = simulate.SimulatedTenants(driver.node, folder, folder / 'proc', 'n')\n"
        "print(sorted({'asyncio', 'grpclib', 'google.protobuf'} & set(sys.modules)))\n"
        "tenants.close()\n"
    )
    seen = {}
    for name in (write("gpus: [{model: l40s}]"), "gb200"):
        done = subprocess.run(
            [sys.executable, "-c", text, name, str(tmp_path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        seen[name] = done.stdout.strip()
    assert list(seen.values()) == ["[]", "['asyncio', 'google.protobuf', 'grpclib']"]
