"""A container that runs."""

import json
from pathlib import Path
from typing import Any

from tests.image.engine import Engine
from tests.image.network import Network

__all__ = ["Container"]


class Container:
    """What can be asked of a container from outside of it."""

    def __init__(self, engine: Engine, network: Network, name: str) -> None:
        self._engine, self._network, self.name = engine, network, name

    def get(self, port: int, path: str) -> tuple[int, str]:
        """Status and body of what a server in it answers."""
        return self._network.get(port, path)

    def logs(self) -> str:
        """What it wrote so far, to both streams."""
        return self._engine.logs(self.name)

    def running(self) -> bool:
        """Whether its first process lives."""
        return bool(self._state()["Running"])

    def exit_code(self) -> int:
        """Of its first process, once that has ended."""
        return int(self._state()["ExitCode"])

    def stop(self, grace_s: int) -> None:
        """SIGTERM, and after the grace SIGKILL, as kubelet does it."""
        self._engine.podman("stop", "--time", str(grace_s), self.name)

    def execute(self, *command: str) -> str:
        """Output of a command inside."""
        return self._engine.podman("exec", self.name, *command)

    def status(self) -> dict[str, str]:
        """Lines of ``/proc/PID/status`` of its first process."""
        lines = (Path("/proc") / str(self._state()["Pid"]) / "status").read_text(encoding="utf-8").splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def root_is_read_only(self) -> bool:
        """Whether what is mounted at ``/`` can be written."""
        lines = (Path("/proc") / str(self._state()["Pid"]) / "mountinfo").read_text(encoding="utf-8").splitlines()
        (options,) = [fields[5] for fields in (line.split() for line in lines) if fields[4] == "/"]
        return "ro" in options.split(",")

    def most_memory_bytes(self) -> int:
        """The most that its first process ever had in memory (VmHWM)."""
        return int(self.status()["VmHWM"].removesuffix(" kB")) * 1024

    def limit_bytes(self) -> int:
        """Memory that its control group allows."""
        return int(self._inspect()["HostConfig"]["Memory"])

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._inspect()["State"]
        return state

    def _inspect(self) -> dict[str, Any]:
        (found,) = json.loads(self._engine.podman("container", "inspect", self.name))
        return dict(found)
