"""A real Slurm with two GPU nodes on the loopback, as the user who runs the tests."""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_WAIT_S = 90.0
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
GresTypes=gpu
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.log
ReturnToService=2
SlurmdTimeout=6
RequeueExit=99
SchedulerParameters=requeue_delay=1,sched_interval=2
SlurmctldPort={ports[0]}
NodeName=DEFAULT CPUs={cpus} RealMemory=1 Gres=gpu:h100:8 State=UNKNOWN
NodeName=gpu-1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]}
NodeName=gpu-2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]}
PartitionName=ml Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    """Starts the daemons and runs commands.

    Args:
        root: folder with ``usr/bin`` and the rest.
        folder: for state and logs.
        ports: three that are free.
    """

    def __init__(self, root: Path, folder: Path, ports: tuple[int, ...]) -> None:
        self.root = root
        self.folder = folder
        self.commands = root / "usr/bin"
        libraries = sorted((root / "usr/lib").glob("*-linux-gnu"))
        self._env = os.environ | {
            "SLURM_CONF": f"{folder}/slurm.conf",
            "LD_LIBRARY_PATH": ":".join(str(one / part) for one in libraries for part in ("", "slurm-wlm")),
        }
        for part in ("state", "munge"):
            (folder / part).mkdir()
        (folder / "munge").chmod(0o755)
        key = folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        plugins = ":".join(str(one / "slurm-wlm") for one in libraries if (one / "slurm-wlm").is_dir())
        names = {"host": socket.gethostname(), "user": getpass.getuser(), "folder": folder, "plugins": plugins}
        text = _CONF.format(**names, ports=ports, cpus=os.cpu_count())
        (folder / "slurm.conf").write_text(text, encoding="utf-8")
        (folder / "dev").mkdir()
        for number in range(8):  # Slurm wants to see a device file for each GPU
            (folder / f"dev/nvidia{number}").symlink_to("/dev/null")
        (folder / "gres.conf").write_text(
            f"NodeName=gpu-[1-2] Name=gpu Type=h100 File={folder}/dev/nvidia[0-7]\n", encoding="utf-8"
        )
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to talk to this cluster."""
        return {name: self._env[name] for name in ("SLURM_CONF", "LD_LIBRARY_PATH")}

    def run(self, program: str, *arguments: str) -> str:
        """Output of one of Slurm's commands."""
        command = [str(self.commands / program), *arguments]
        result = subprocess.run(command, env=self._env, capture_output=True, text=True, check=False, timeout=60)
        assert result.returncode == 0, f"{command}: {result.stderr}"
        return result.stdout.strip()

    def submit(self, script: str, *arguments: str) -> str:
        """Submits a job; returns its id."""
        return self.run("sbatch", "--parsable", "-D", "/tmp", "-o", "/dev/null", *arguments, "--wrap", script)

    def start(self) -> None:
        """Starts everything and waits until both nodes are idle."""
        munge = self.folder / "munge"
        self._daemon(
            "munged", f"--key-file={munge}/key", f"--socket={munge}/socket", f"--pid-file={munge}/munged.pid",
            f"--log-file={munge}/log", f"--seed-file={munge}/seed", "--force",
        )  # fmt: skip
        self.start_controller()
        for node in ("gpu-1", "gpu-2"):
            self.start_node(node)
        self.wait("both nodes are idle", lambda: self.run("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * 2)

    def start_controller(self) -> None:
        """Starts slurmctld on its saved state, and waits until it answers."""
        self._daemon("slurmctld", "-f", str(self.folder / "slurm.conf"))
        self.wait("slurmctld answers", lambda: "UP" in self.run("scontrol", "ping"))

    def start_node(self, node: str) -> None:
        """Starts the slurmd of a node."""
        stepd = self.root / "usr/sbin/slurmstepd"
        self._daemon("slurmd", "-f", str(self.folder / "slurm.conf"), "-N", node, "-d", str(stepd))

    def kill_node(self, node: str, *jobs: str) -> None:
        """What a node that loses its power does to its slurmd and its jobs: nobody is told anything."""
        self._kill(f"{node}.pid", signal.SIGKILL)
        ours = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        starts = tuple(f"slurmstepd: [{job}.".encode() for job in jobs)
        # The step daemons first, or they report that the script has died.
        for is_it in (lambda command: command.startswith(starts), lambda command: f"spool-{node}/".encode() in command):
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    if is_it((process / "cmdline").read_bytes()) and ours in (process / "environ").read_bytes():
                        os.kill(int(process.name), signal.SIGKILL)

    def stop_controller(self) -> None:
        """Ends slurmctld in order."""
        self._kill("slurmctld.pid", signal.SIGTERM)

    def stop(self) -> None:
        """Ends everything, whatever state it is in."""
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            self.run("scancel", "--user", getpass.getuser())
            time.sleep(1.0)
        for name in ("gpu-1.pid", "gpu-2.pid", "slurmctld.pid", "munge/munged.pid"):
            self._kill(name, signal.SIGKILL)

    def wait(self, what: str, condition: Callable[[], bool]) -> None:
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
        command = [str(self.root / "usr/sbin" / name), *arguments]
        result = subprocess.run(command, env=self._env, capture_output=True, text=True, check=False, timeout=60)
        assert result.returncode == 0, f"{name}: {result.stderr}"

    def _kill(self, name: str, number: signal.Signals) -> None:
        try:
            pid = int((self.folder / name).read_text())
            os.kill(pid, number)
        except (OSError, ValueError):
            return
        until = time.monotonic() + 30.0
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that is ready; the folder of Slurm's programs is in ``SLURM_ROOT``."""
    root = os.environ.get("SLURM_ROOT") or ("/" if shutil.which("scontrol") else "")
    assert root, "no Slurm: run `make test-slurm`, which fetches it, or set SLURM_ROOT"
    ports: list[int] = []
    with contextlib.ExitStack() as open_ones:
        for _ in range(3):
            probe = open_ones.enter_context(socket.socket())
            probe.bind(("127.0.0.1", 0))
            ports.append(probe.getsockname()[1])
    slurm = Cluster(Path(root).resolve(), tmp_path_factory.mktemp("slurm"), tuple(ports))
    try:
        slurm.start()
        yield slurm
    finally:
        slurm.stop()
