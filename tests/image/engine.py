"""buildah and podman with a store of their own: what this machine has of images and containers is not touched."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tests.image.programs import CACHE, programs

__all__ = ["Engine", "EngineError"]

TIMEOUT_S = 900
CONTAINERS = """
[containers]
seccomp_profile = "{tools}/usr/share/containers/seccomp.json"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "runc"
conmon_path = ["{tools}/usr/bin/conmon"]
static_dir = "{work}/static"
tmp_dir = "{work}/tmp"
[engine.runtimes]
runc = ["{tools}/usr/sbin/runc"]
"""
STORAGE = """
[storage]
driver = "{driver}"
graphroot = "{store}"
runroot = "{work}/run"
"""


class EngineError(Exception):
    """A command of buildah or podman failed; the text is what it said last."""


class Engine:
    """Builds and runs images as root, without a daemon.

    The store of images stays in the cache. What belongs to running containers lies in a short-lived folder, since
    sockets in it have a limit to the length of their names.
    """

    def __init__(self, cache: Path = CACHE) -> None:
        self.tools = programs(cache)
        self.work = Path(tempfile.mkdtemp(prefix="gpuscope-image-"))
        known = Path("/proc/filesystems").read_text(encoding="utf-8")
        fields = {
            "tools": self.tools,
            "work": self.work,
            "store": cache / "store",
            "driver": "overlay" if "\toverlay\n" in known else "vfs",
        }
        (self.work / "containers.conf").write_text(CONTAINERS.format(**fields), encoding="utf-8")
        (self.work / "storage.conf").write_text(STORAGE.format(**fields), encoding="utf-8")
        libraries = sorted({str(path.parent) for path in (self.tools / "usr/lib").glob("*/lib*.so.*")})
        self._env = os.environ | {
            "PATH": f"{self.tools}/usr/bin:{self.tools}/usr/sbin:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": ":".join(libraries),
            "CONTAINERS_CONF": str(self.work / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(self.work / "storage.conf"),
            "CONTAINERS_REGISTRIES_CONF": str(self.tools / "etc/containers/registries.conf"),
        }
        self.policy = self.tools / "etc/containers/policy.json"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends and removes the containers that it started."""
        self.podman("rm", "--force", "--all", "--time", "1")
        shutil.rmtree(self.work, ignore_errors=True)

    def buildah(self, *arguments: str) -> str:
        """Runs buildah; gives its output."""
        return self._run("buildah", arguments)

    def podman(self, *arguments: str) -> str:
        """Runs podman; gives its output."""
        return self._run("podman", arguments)

    def commit(self, folder: Path, image: str) -> None:
        """Makes an image of a root folder, unless there is one of that name."""
        if image in self.podman("images", "--format", "{{.Repository}}:{{.Tag}}").splitlines():
            return
        container = self.buildah("from", "scratch").strip()
        try:
            mounted = self.buildah("mount", container).strip()
            subprocess.run(["cp", "--archive", f"{folder}/.", mounted], check=True, timeout=TIMEOUT_S)
            self.buildah("umount", container)
            self.buildah("commit", "--quiet", "--signature-policy", str(self.policy), container, image)
        finally:
            self.buildah("rm", container)

    def build(self, context: Path, image: str, arguments: dict[str, str], options: Sequence[str] = ()) -> None:
        """Builds the Dockerfile of a folder; steps get no network and no more rights than runc gives."""
        command = ["bud", "--isolation", "oci", "--runtime", str(self.tools / "usr/sbin/runc"), "--network", "none"]
        command += ["--signature-policy", str(self.policy), "--pull" if os.environ.get("BASE") else "--pull-never"]
        command += [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
        self.buildah(*command, *options, "--tag", image, str(context))

    def remove(self, container: str) -> None:
        """Ends and removes a container. On a busy machine podman does not always wait for the end long enough."""
        for left in range(4, -1, -1):
            try:
                self.podman("rm", "--force", "--ignore", "--time", "5", container)
            except EngineError:
                if not left:
                    raise
                time.sleep(2)
            else:
                return

    def logs(self, container: str) -> str:
        """What a container wrote so far, to both streams."""
        return self._run("podman", ("logs", container), both=True)

    def _run(self, program: str, arguments: Sequence[str], *, both: bool = False) -> str:
        done = subprocess.run(
            [self.tools / "usr/bin" / program, *arguments],
            env=self._env,
            # conmon notes in its working folder that a container ran out of memory.
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip()
            raise EngineError(f"{program} {arguments[0]}: exit code {done.returncode}: {said[-2000:]}")
        return done.stdout + (done.stderr if both else "")
