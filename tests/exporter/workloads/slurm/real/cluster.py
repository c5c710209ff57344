"""A real Slurm with four GPU nodes on the loopback, as the user who runs the tests."""

import contextlib
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.exporter.workloads.slurm.real.sweep import processes, sweep

__all__ = ["NODES", "Cluster"]

NODES = ("gpu-1", "gpu-2", "gpu-3", "gpu-4")
_WAIT_S = 120.0
_ENOUGH = 64  # CPUs of a node, so that no job waits for one
_CONF = """
ClusterName=dev
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser={user}
SlurmdUser={user}
PluginDir={plugins}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
GresTypes=gpu
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.log
ReturnToService=2
SlurmdTimeout=10
MessageTimeout=8
KillWait=2
RequeueExit=99
SlurmdParameters=config_overrides
SchedulerParameters=requeue_delay=1,sched_interval=1,batch_sched_delay=0,sched_min_interval=0,bf_interval=1
SlurmctldPort={ports[0]}
NodeName=DEFAULT CPUs={cpus} RealMemory=1 Gres=gpu:h100:8 State=UNKNOWN
NodeName=gpu-1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]}
NodeName=gpu-2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]}
NodeName=gpu-3 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[3]}
NodeName=gpu-4 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[4]}
PartitionName=ml Nodes=gpu-[1-2] Default=YES MaxTime=INFINITE State=UP
PartitionName=weak Nodes=gpu-3 MaxTime=INFINITE State=UP
PartitionName=spare Nodes=gpu-4 MaxTime=INFINITE State=UP
"""


class Cluster:
    """Starts the daemons and runs commands.

    Args:
        root: folder with ``usr/bin`` and the rest.
        folder: for state and logs.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder
        self.commands = root / "usr/bin"
        self.completion_log = folder / "jobcomp.log"
        libraries = sorted((root / "usr/lib").glob("*-linux-gnu"))
        self._conf = f"{folder}/slurm.conf"
        self.environment = {
            "SLURM_CONF": self._conf,
            "LD_LIBRARY_PATH": ":".join(str(one / part) for one in libraries for part in ("", "slurm-wlm")),
        }
        for part in ("state", "munge", "dev"):
            (folder / part).mkdir()
        (folder / "munge").chmod(0o755)
        key = folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        plugins = ":".join(str(one / "slurm-wlm") for one in libraries if (one / "slurm-wlm").is_dir())
        user = pwd.getpwuid(os.geteuid()).pw_name
        text = _CONF.format(
            host=socket.gethostname(), user=user, folder=folder, plugins=plugins, cpus=_ENOUGH, ports=_free(5)
        )
        (folder / "slurm.conf").write_text(text, encoding="utf-8")
        for number in range(8):  # Slurm wants to see a device file for each GPU
            (folder / f"dev/nvidia{number}").symlink_to("/dev/null")
        gres = f"NodeName=gpu-[1-4] Name=gpu Type=h100 File={folder}/dev/nvidia[0-7]\n"
        (folder / "gres.conf").write_text(gres, encoding="utf-8")
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")
        # Tests that are killed end nothing: this sees that they are gone.
        guard = [sys.executable, str(Path(__file__).with_name("sweep.py")), self._conf]
        self._guardian = subprocess.Popen(guard, stdin=subprocess.PIPE, start_new_session=True)

    def run(self, program: str, *arguments: str) -> str:
        """Output of one of Slurm's commands."""
        return self._run(str(self.commands / program), *arguments)

    def submit(self, script: str, *arguments: str) -> str:
        """Submits a job; returns its id."""
        return self.run("sbatch", "--parsable", "-D", "/tmp", "-o", "/dev/null", *arguments, "--wrap", script)

    def update(self, *what: str) -> None:
        """``scontrol update``."""
        self.run("scontrol", "update", *what)

    def start(self) -> None:
        """Starts everything and waits until all nodes are idle."""
        munge = self.folder / "munge"
        self._daemon(
            "munged", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/munged.pid",
            f"--log-file={munge}/log", f"--seed-file={munge}/seed", "--force",
        )  # fmt: skip
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        self.wait("all nodes are idle", lambda: self.run("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * 4)

    def start_controller(self) -> None:
        """Starts slurmctld on its saved state, and waits until it answers."""
        self._daemon("slurmctld", "-f", self._conf)
        self.wait("slurmctld answers", lambda: "UP" in self.run("scontrol", "ping"))

    def stop_controller(self) -> None:
        """Ends slurmctld in order, so that it saves its state."""
        pid = int((self.folder / "slurmctld.pid").read_text())
        os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + 60.0
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            time.sleep(0.05)

    def start_node(self, node: str) -> None:
        """Starts the slurmd of a node."""
        stepd = self.root / "usr/sbin/slurmstepd"
        self._daemon("slurmd", "-f", self._conf, "-N", node, "-d", str(stepd))

    def kill_node(self, node: str, *jobs: str) -> None:
        """What a node that loses its power does to its slurmd and its jobs: nobody is told anything."""
        os.kill(int((self.folder / f"{node}.pid").read_text()), signal.SIGKILL)
        starts = tuple(f"slurmstepd: [{job}.".encode() for job in jobs)
        # The step daemons first, or they report that the script has died.
        for is_it in (lambda command: command.startswith(starts), lambda command: f"spool-{node}/".encode() in command):
            for process in processes(self._conf):
                with contextlib.suppress(OSError):
                    if is_it((process / "cmdline").read_bytes()):
                        os.kill(int(process.name), signal.SIGKILL)

    def stop(self) -> None:
        """Kills everything that belongs to this cluster, whatever state it is in."""
        left = sweep(self._conf)
        self._guardian.communicate(timeout=60)
        assert not left, left

    def wait(self, what: str, condition: Callable[[], object]) -> None:
        """Waits until something is so, as long as is patient on a busy machine."""
        until = time.monotonic() + _WAIT_S
        while time.monotonic() < until:
            with contextlib.suppress(AssertionError):
                if condition():
                    return
            time.sleep(0.3)
        log = (self.folder / "slurmctld.log").read_text(encoding="utf-8", errors="replace")
        pytest.fail(f"not within {_WAIT_S:.0f} s: {what}\n{log[-2000:]}")

    def _daemon(self, name: str, *arguments: str) -> None:
        self._run(str(self.root / "usr/sbin" / name), *arguments)

    def _run(self, *command: str) -> str:
        result = subprocess.run(
            command, env=os.environ | self.environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert result.returncode == 0, f"{command}: {result.stderr}"
        return result.stdout.strip()


def _free(count: int) -> tuple[int, ...]:
    with contextlib.ExitStack() as open_ones:
        probes = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return tuple(probe.getsockname()[1] for probe in probes)
