"""What is in the image, and what is not."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.image.conftest import EPOCH, IMAGE
from tests.image.engine import Engine, EngineError

from gpuscope import __version__

ALONE = ("run", "--rm", "--network", "none", "--read-only", "--cap-drop=ALL", "--user", "65532:65532")


@pytest.fixture(scope="module")
def described(engine: Engine, image: str) -> dict[str, Any]:
    (found,) = json.loads(engine.podman("image", "inspect", image))
    return dict(found)


def test_it_is_gpuscope(engine: Engine, image: str) -> None:
    assert engine.podman(*ALONE, image, "--version") == f"gpuscope, version {__version__}\n"


def test_it_runs_as_nobody_by_default(described: dict[str, Any]) -> None:
    assert described["Config"]["User"] == "65532:65532"
    assert described["Config"]["Entrypoint"] == ["/opt/gpuscope/bin/gpuscope"]
    assert described["Config"]["Cmd"] == ["agent"]


def test_it_says_where_it_comes_from(described: dict[str, Any]) -> None:
    labels = described["Config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == __version__
    assert labels["org.opencontainers.image.revision"] == "0123abcd"
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"


def test_toolkit_is_asked_for_nvml_alone(described: dict[str, Any]) -> None:
    variables = dict(one.split("=", 1) for one in described["Config"]["Env"])
    assert variables["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert variables["NVIDIA_DRIVER_CAPABILITIES"] == "utility"


def test_nothing_that_only_builds_or_generates_is_in_it(engine: Engine, image: str) -> None:
    look = (
        "import importlib.util, os, sys\n"
        "names = ['pip', 'hatchling', 'grafanalib', '_jsonnet', 'gpuscope_generator', 'rich', 'pytest']\n"
        "print([name for name in names if importlib.util.find_spec(name)])\n"
        "print(sorted(name for name in os.listdir('/opt/gpuscope/bin') if not name.startswith('python')))\n"
        "print([path for path in ('/src', '/dist', '/wheels', '/tools') if os.path.exists(path)])\n"
    )
    said = engine.podman(*ALONE, "--entrypoint", "/opt/gpuscope/bin/python", image, "-c", look)
    assert said == "[]\n['gpuscope']\n[]\n"


def test_its_parts_fit_together(engine: Engine, image: str) -> None:
    look = (
        "import compileall, importlib, pkgutil, gpuscope\n"
        "names = [one.name for one in pkgutil.walk_packages(gpuscope.__path__, 'gpuscope.')]\n"
        "skipped = ('gpuscope.__main__',)\n"
        "missing = set()\n"
        "for name in names:\n"
        "    if name not in skipped and not name.endswith('__main__'):\n"
        "        try:\n"
        "            importlib.import_module(name)\n"
        "        except ModuleNotFoundError as failure:\n"
        "            missing.add(failure.name)\n"
        "print(sorted(missing))\n"
    )
    said = engine.podman(*ALONE, "--entrypoint", "/opt/gpuscope/bin/python", image, "-c", look)
    assert said == "[]\n"


def test_it_adds_little_to_its_base(engine: Engine, image: str, arguments: dict[str, str]) -> None:
    sizes = {
        name: int(engine.podman("image", "inspect", "--format", "{{.Size}}", name))
        for name in (image, arguments["BASE"])
    }
    added = sizes[image] - sizes[arguments["BASE"]]
    print(f"base {sizes[arguments['BASE']] / 1e6:.0f} MB, gpuscope {added / 1e6:.0f} MB")
    assert 5e6 < added < 50e6


def test_no_file_of_it_belongs_to_its_user(engine: Engine, image: str) -> None:
    look = (
        "import os\n"
        "for folder, folders, files in os.walk('/opt/gpuscope'):\n"
        "    for name in folders + files:\n"
        "        status = os.lstat(os.path.join(folder, name))\n"
        "        if status.st_uid or (status.st_mode & 0o6002 and not os.path.islink(os.path.join(folder, name))):\n"
        "            print(folder, name)\n"
    )
    assert engine.podman(*ALONE, "--entrypoint", "/opt/gpuscope/bin/python", image, "-c", look) == ""


def test_two_builds_of_one_commit_are_alike(
    engine: Engine, image: str, context: Path, arguments: dict[str, str], described: dict[str, Any]
) -> None:
    again = f"{IMAGE}-again"
    engine.build(context, again, arguments, ["--layers=false", "--timestamp", EPOCH])
    (other,) = json.loads(engine.podman("image", "inspect", again))
    assert other["RootFS"]["Layers"] == described["RootFS"]["Layers"]
    engine.podman("rmi", again)


def test_memory_limit_is_enforced_here(engine: Engine, image: str) -> None:
    hungry = ("--entrypoint", "/opt/gpuscope/bin/python", image, "-c", "bytearray(200_000_000)")
    with pytest.raises(EngineError, match="exit code 137"):
        engine.podman(*ALONE, "--memory", "67108864", "--memory-swap", "67108864", *hungry)
    assert os.geteuid() == 0
