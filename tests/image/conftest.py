"""The image, built once, and containers of it that run as the chart's manifests say."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.image import programs
from tests.image.container import Container
from tests.image.engine import Engine
from tests.image.manifest import flags
from tests.image.network import Network

ROOT = programs.ROOT
IMAGE = "localhost/gpuscope:test"
SOURCES = ("Dockerfile", ".dockerignore", "pyproject.toml", "README.md", "LICENSE", "exporter", "generator", "wheels")
EPOCH = "1735689600"


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    with Engine() as made:
        yield made


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone would give to a build, with wheels in it."""
    folder = tmp_path_factory.mktemp("context")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *SOURCES]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    for wheel in programs.fetch_wheels().glob("*.whl"):
        shutil.copy2(wheel, folder / "wheels")
    return folder


@pytest.fixture(scope="session")
def arguments(engine: Engine) -> dict[str, str]:
    """Arguments of a build on the base that this run uses."""
    base = os.environ.get("BASE", "")
    if not base:
        base = f"localhost/gpuscope-base:{programs.SUITE}"
        engine.commit(programs.fetch_base(), base)
    return {"BASE": base, "REVISION": "0123abcd", "SOURCE_DATE_EPOCH": EPOCH}


@pytest.fixture(scope="session")
def image(engine: Engine, context: Path, arguments: dict[str, str]) -> Iterator[str]:
    engine.build(context, IMAGE, arguments, ["--layers=false", "--timestamp", EPOCH])
    yield IMAGE
    engine.podman("rmi", "--force", IMAGE)


@pytest.fixture
def network() -> Iterator[Network]:
    with Network() as made:
        yield made


class Pods:
    """Starts a container as kubelet would."""

    def __init__(self, engine: Engine, image: str, network: Network, folder: Path) -> None:
        self._engine, self._image, self._network, self._folder = engine, image, network, folder
        self._started: list[Container] = []

    def start(
        self, pod: dict[str, Any], folders: dict[str, Path] | None = None, more: tuple[str, ...] = ()
    ) -> Container:
        """Starts the only container of a pod.

        Args:
            pod: ``spec.template.spec`` of a workload.
            folders: what stands for its volumes; empty folders for those that are not named.
            more: further flags of ``podman run``.
        """
        (spec,) = pod["containers"]
        places = dict(folders or {})
        for volume in pod.get("volumes", []):
            if "emptyDir" not in volume and volume["name"] not in places:
                places[volume["name"]] = self._folder / volume["name"]
                places[volume["name"]].mkdir()
        command = ["run", "--detach", "--network", f"ns:{self._network.path}", *flags(pod, spec, places), *more]
        name = self._engine.podman(*command, self._image, *spec["args"]).strip()
        self._started.append(Container(self._engine, self._network, name))
        return self._started[-1]

    def close(self) -> None:
        for container in self._started:
            self._engine.remove(container.name)


@pytest.fixture
def pods(engine: Engine, image: str, network: Network, tmp_path: Path) -> Iterator[Pods]:
    made = Pods(engine, image, network, tmp_path)
    yield made
    made.close()


def helm() -> Path:
    """The newest Helm of the cache, or the one on PATH."""
    found = sorted(
        (ROOT / ".cache/helm").glob("*/helm"), key=lambda path: [int(n) for n in path.parent.name.split(".")]
    )
    if found:
        return found[-1]
    on_path = shutil.which("helm")
    assert on_path, "no Helm: make programs fetches it"
    return Path(on_path)


def pod_spec(component: str, *settings: str) -> dict[str, Any]:
    """The pod that the chart makes of a component, ``agent`` or ``collector``, with some values set."""
    command = [str(helm()), "template", "gpuscope", str(ROOT / "helm/gpuscope"), "--namespace", "gpuscope"]
    command += [word for setting in settings for word in ("--set", setting)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    (found,) = [
        document["spec"]["template"]["spec"]
        for document in yaml.safe_load_all(text)
        if document
        and document["kind"] in ("DaemonSet", "Deployment", "StatefulSet")
        and document["metadata"]["labels"]["app.kubernetes.io/component"] == component
    ]
    return found


def wait_for(
    container: Container, port: int, path: str, until: Callable[[str], object] = bool, seconds: float = 240
) -> str:
    """Body of the answer 200 of a path, once it is as wanted; fails with what the container said when time is up."""
    end = time.monotonic() + seconds
    said = ""
    while time.monotonic() < end:
        assert container.running(), container.logs()
        try:
            status, said = container.get(port, path)
        except OSError as failure:
            status, said = 0, str(failure)
        if status == 200 and until(said):
            return said
        time.sleep(0.3)
    raise AssertionError(f"{path}: {said}\n{container.logs()}")
