"""Renders the chart with real Helm, each combination once."""

import functools
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm/gpuscope"
CONTENT = CHART / "charts/content"
CACHE = ROOT / ".cache/helm"
HELMS = ("3.17.3", "4.3.1")
"""Versions that `make programs` fetches; the newest is the last."""
NEWEST = HELMS[-1]
CASES = tuple(sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").glob("*-values.yaml")))
"""Names of the ways to run the chart."""
LEAN = (
    "rules.enabled=false,rules.configMap.enabled=false",
    "dashboards.enabled=false,dashboards.grafanaOperator.enabled=false",
)
"""Settings that leave rules and boards away, where a test asks about the rest: they are most of the work."""
RELEASE, NAMESPACE = "gpu", "monitoring"
TIMEOUT_S = 120

Object = dict[str, Any]
_SEPARATOR = re.compile(r"^---$", re.MULTILINE)


class Loader(yaml.CSafeLoader):
    """Reads a bare ``=``, which YAML 1.1 has a type for, as the text that everybody means."""


Loader.add_constructor("tag:yaml.org,2002:value", Loader.construct_yaml_str)


def program(version: str) -> Path:
    """The Helm of a version.

    Raises:
        AssertionError: ``make programs`` did not run.
    """
    found = CACHE / version / "helm"
    assert found.exists(), f"no {found}: run make programs"
    return found


def helm(version: str, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs Helm, which sees nothing of the user's own settings."""
    command = [str(program(version)), *(str(one) for one in arguments)]
    environment = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"} | options.pop("env", {})
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=environment, **options
    )


def values_of(case: str) -> Path:
    """The values file of a case; the empty name is none."""
    return CHART / f"ci/{case}-values.yaml"


@functools.cache
def rendered(
    case: str = "", *settings: str, version: str = NEWEST, chart: Path = CHART, more: tuple[str, ...] = ()
) -> str:
    """The manifests of a case, with ``--set`` settings, as text.

    Raises:
        AssertionError: Helm refused them.
    """
    done = attempt(case, *settings, version=version, chart=chart, more=more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def attempt(
    case: str = "", *settings: str, version: str = NEWEST, chart: Path = CHART, more: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Renders, whatever comes of it."""
    files = ["--values", values_of(case)] if case else []
    chosen = [word for one in settings for word in ("--set", one)]
    return helm(version, "template", RELEASE, chart, "--namespace", NAMESPACE, *files, *chosen, *more)


def documents(text: str) -> tuple[str, ...]:
    """The parts of rendered manifests, each as text, in an order that does not depend on Helm's version."""
    parts = (re.sub(r"^# Source: .*\n", "", part, flags=re.MULTILINE).strip() for part in _SEPARATOR.split(text))
    return tuple(sorted(f"{part}\n" for part in parts if part))


@functools.cache
def _parsed(document: str) -> Object | None:
    found: Object | None = yaml.load(document, Loader)
    return found


def objects(case: str = "", *settings: str, **options: Any) -> tuple[Object, ...]:
    """The objects of a case; they are shared, and nobody may change them."""
    parsed = (_parsed(document) for document in documents(rendered(case, *settings, **options)))
    return tuple(one for one in parsed if one)


def of_kind(kind: str, found: Sequence[Object]) -> list[Object]:
    """The objects of one kind."""
    return [one for one in found if one["kind"] == kind]


def only(kind: str, name: str, found: Sequence[Object]) -> Object:
    """The one object of that kind and name."""
    (one,) = [one for one in of_kind(kind, found) if one["metadata"]["name"] == name]
    return one


def pods(found: Sequence[Object]) -> Mapping[str, Object]:
    """Specifications of pods, by component."""
    found_pods = {}
    for one in found:
        spec = one.get("spec", {})
        template = (
            spec.get("template")
            if one["kind"] in {"DaemonSet", "Deployment"}
            else one
            if one["kind"] == "Pod"
            else None
        )
        if template:
            found_pods[template["metadata"]["labels"]["app.kubernetes.io/component"]] = template["spec"]
    return found_pods


def arguments(component: str, found: Sequence[Object]) -> list[str]:
    """What the container of a component is started with."""
    (container,) = pods(found)[component]["containers"]
    return list(container["args"])
