"""Builds the chart's variant for EKS add-ons, and checks the static rules that AWS has for them.

EKS applies an add-on itself, by server-side apply of what ``helm template`` renders: a hook would never run, ``lookup``
finds nothing, and of ``.Release`` only name and namespace exist. What helm calls a test is a hook, so that it is left
out here; the same questions can be asked with ``helm test`` on the chart itself.

    python -m gpuscope_generator.eks_addon [--destination dist/eks] [--registry HOST] [--digest sha256:...]
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

__all__ = ["EksError", "build", "images", "violations"]

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm/gpuscope"
RENDERED = (".yaml", ".yml", ".tpl", ".txt")
RULES = (
    (re.compile(r"helm\.sh/hook"), "a hook, which EKS does not run"),
    (re.compile(r"\{\{.*?\blookup\s"), "lookup, which finds nothing"),
    (re.compile(r"\{\{(?:.*?[^.\w\"$-])?(?:rand(?:AlphaNum|Alpha|Numeric|Ascii|Bytes|Int)|uuidv4|genCA\w*|genSelfSignedCert\w*|"
                r"genSignedCert\w*|genPrivateKey|derivePassword|now|htpasswd|bcrypt)\b"), "another text each time"),
    (re.compile(r"\.Release\.(?!Name\b|Namespace\b)\w+"), "of .Release only Name and Namespace are there"),
    (re.compile(r"\.Capabilities\.(?!KubeVersion\b|APIVersions\b)\w+"), "of .Capabilities only what EKS gives"),
)  # fmt: skip
TIMEOUT_S = 120


class EksError(Exception):
    """The chart cannot be an add-on; the text names what is in the way, a line each."""


def build(
    helm: Path, destination: Path, image: Mapping[str, str] | None = None, chart: Path = CHART, hooks: bool = False
) -> Path:
    """Writes the packaged variant.

    Args:
        helm: the program.
        destination: folder of the package, which is replaced as a whole or not at all.
        image: fields of ``image`` that become defaults: ``registry``, ``repository``, ``tag``, ``digest``.
        chart: folder of the chart.
        hooks: leave hooks in it; for a test of the rules.

    Raises:
        EksError: a rule is broken, or Helm refuses the chart.
    """
    with tempfile.TemporaryDirectory() as work:
        variant = Path(work) / chart.name
        shutil.copytree(chart, variant)
        if not hooks:
            _leave_out_hooks(variant)
        _set_defaults(variant / "values.yaml", image or {})
        found = violations(variant)
        found += [f"Chart.yaml: dependency {name} is not in the chart" for name in _outside(variant)]
        if found:
            raise EksError("\n".join(found))
        _run(helm, "lint", "--strict", "--with-subcharts", str(variant))
        wanted = images(rendered(helm, variant))
        if len(wanted) != 1:
            raise EksError(f"one image is wanted, which values name: {', '.join(sorted(wanted))}")
        _run(helm, "package", str(variant), "--destination", work)
        (package,) = Path(work).glob("*.tgz")
        destination.mkdir(parents=True, exist_ok=True)
        target = destination / package.name
        part = target.with_suffix(".part")
        shutil.copyfile(package, part)
        part.replace(target)
    return target


def violations(chart: Path) -> list[str]:
    """What breaks the rules, as ``FILE:LINE: what``, in the chart and in charts inside it."""
    found = []
    for path in _sources(chart):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{path.relative_to(chart)}:{number}: {why}" for rule, why in RULES if rule.search(line)]
    return found


def rendered(helm: Path, chart: Path, *flags: str) -> list[dict[str, Any]]:
    """Manifests as EKS renders them: without hooks and without a cluster to look at."""
    text = _run(
        helm, "template", "gpuscope", str(chart), "--namespace", "gpuscope", "--include-crds", "--no-hooks",
        "--kube-version", "1.33.1", *flags,
    )  # fmt: skip
    return [document for document in yaml.safe_load_all(text) if document]


def images(manifests: Sequence[Mapping[str, Any]]) -> set[str]:
    """Images that manifests name."""

    def look(node: object) -> Iterator[str]:
        if isinstance(node, Mapping):
            if isinstance(node.get("image"), str):
                yield node["image"]
            node = list(node.values())
        if isinstance(node, list):
            for one in node:
                yield from look(one)

    return {image for manifest in manifests for image in look(manifest)}


def _sources(chart: Path) -> list[Path]:
    found = [path for path in chart.rglob("*") if path.is_file() and path.suffix in RENDERED]
    return sorted(path for path in found if "templates" in path.relative_to(chart).parts)


def _leave_out_hooks(variant: Path) -> None:
    shutil.rmtree(variant / "ci", ignore_errors=True)
    shutil.rmtree(variant / "files", ignore_errors=True)
    for path in _sources(variant):
        if RULES[0][0].search(path.read_text(encoding="utf-8")) and "tests" in path.relative_to(variant).parts:
            path.unlink()


def _set_defaults(values: Path, image: Mapping[str, str]) -> None:
    """Changes defaults in place, so that comments stay."""
    text = values.read_text(encoding="utf-8")
    text, changed = re.subn(r"^managedBy: .*$", "managedBy: EKS", text, flags=re.MULTILINE)
    # Notes speak of the test, which is not in here.
    text = re.sub(r"(^tests:\n(?:  #.*\n)*  enabled: )true$", r"\1false", text, flags=re.MULTILINE)
    start = text.find("\nimage:\n") + 1
    end = re.compile(r"^\S", re.MULTILINE).search(text, start + len("image:\n"))
    if changed != 1 or not start or not end:
        raise EksError(f"{values.name}: managedBy and image are not where they were")
    block = text[start : end.start()]
    for name, value in image.items():
        block, changed = re.subn(rf"^  {name}: .*$", f'  {name}: "{value}"', block, flags=re.MULTILINE)
        if changed != 1:
            raise EksError(f"{values.name}: image.{name} is not there")
    values.write_text(text[:start] + block + text[end.start() :], encoding="utf-8")


def _outside(chart: Path) -> list[str]:
    """Dependencies that Helm would have to fetch."""
    about = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    return [
        one["name"]
        for one in about.get("dependencies", [])
        if not one.get("repository", "").startswith("file://") and not (chart / "charts" / one["name"]).is_dir()
    ]


def _run(helm: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603
        [helm, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S
    )
    if done.returncode:
        raise EksError(f"helm {arguments[0]}: {(done.stderr + done.stdout).strip()}")
    return done.stdout


def find_helm() -> Path:
    """The newest Helm of the cache, or the one on PATH.

    Raises:
        EksError: there is none.
    """
    cached = (ROOT / ".cache/helm").glob("*/helm")
    newest = sorted(cached, key=lambda path: [int(part) for part in path.parent.name.split(".")])
    on_path = shutil.which("helm")
    if not newest and not on_path:
        raise EksError("helm: not on PATH and not in .cache/helm; make programs fetches it")
    return newest[-1] if newest else Path(on_path or "")


def main() -> None:
    """Builds it, or says what is in the way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--destination", type=Path, default=ROOT / "dist/eks", help="folder of the package")
    parser.add_argument("--registry", help="registry that becomes the default, such as one of ECR")
    parser.add_argument("--repository", help="path of the image in it")
    parser.add_argument("--tag", help="tag of the image")
    parser.add_argument("--digest", help="digest of the image, sha256:...")
    options = parser.parse_args()
    names = ("registry", "repository", "tag", "digest")
    image = {name: value for name in names if (value := getattr(options, name)) is not None}
    try:
        print(build(find_helm(), options.destination, image))
    except EksError as error:
        sys.exit(f"package-eks: {error}")


if __name__ == "__main__":
    main()
