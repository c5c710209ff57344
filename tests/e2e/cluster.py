"""helm and kubectl on the cluster that KUBECONFIG names."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["Cluster", "Failed", "Unusable", "find_program"]

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 900
Object = dict[str, Any]


class Failed(Exception):
    """The chart did not do what it must; the text says what."""


class Unusable(Exception):
    """Nothing could be tried; the text says in one line what is missing."""


def find_program(name: str) -> Path:
    """helm or kubectl: on PATH, else the newest of the cache.

    Raises:
        Unusable: it is nowhere.
    """
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path)
    found = sorted(
        (ROOT / ".cache" / name).glob(f"*/{name}"), key=lambda path: [int(part) for part in path.parent.name.split(".")]
    )
    if not found:
        raise Unusable(f"{name}: not on PATH and not in .cache; make programs fetches it")
    return found[-1]


class Cluster:
    """A release in a namespace of its own."""

    def __init__(self, release: str, namespace: str, helm: Path, kubectl: Path) -> None:
        self.release, self.namespace = release, namespace
        self._helm, self._kubectl = helm, kubectl

    def helm(self, *arguments: str) -> str:
        """Runs helm in the namespace; gives its output."""
        return self._run(self._helm, [*arguments, "--namespace", self.namespace])

    def kubectl(self, *arguments: str) -> str:
        """Runs kubectl; gives its output."""
        return self._run(self._kubectl, [*arguments, "--request-timeout=60s"])

    def get(self, *arguments: str) -> Object:
        """Runs ``kubectl get ... -o json``."""
        return dict(json.loads(self.kubectl("get", *arguments, "--output=json")))

    def list(self, *arguments: str) -> list[Object]:
        """The items of ``kubectl get``; none where the cluster has no such objects."""
        said = self.kubectl("get", *arguments, "--output=json", "--ignore-not-found")
        return list(json.loads(said).get("items", [])) if said.strip() else []

    def raw(self, path: str) -> str:
        """Asks the API server for a path, such as the proxy of a pod."""
        return self.kubectl("get", "--raw", path)

    def has(self, kind: str, group: str) -> bool:
        """Whether the cluster has a kind."""
        return f"{kind}.{group}" in self.kubectl("api-resources", f"--api-group={group}", "--output=name").split()

    def kinds(self, *, namespaced: bool) -> list[str]:
        """Names of all kinds that can be listed and deleted."""
        flags = ("--verbs=list,delete", f"--namespaced={str(namespaced).lower()}", "--output=name")
        return sorted(set(self.kubectl("api-resources", *flags).split()))

    def _run(self, program: Path, arguments: Sequence[str]) -> str:
        try:
            done = subprocess.run(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{program.name} {' '.join(arguments)}: no end after {TIMEOUT_S} s") from None
        if done.returncode:
            raise Failed(f"{program.name} {' '.join(arguments)}: {(done.stderr or done.stdout).strip()[-2000:]}")
        return done.stdout
