"""The variant of the chart for EKS add-ons, and the rules that AWS has for them."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuscope_generator.eks_addon import CHART, EksError, build, find_helm, images, rendered, violations

# Defaults that say all explicitly, as AWS renders without a cluster to look at.
EXPLICIT = ("--set", "monitor.enabled=true", "--set", "rules.enabled=true")


@pytest.fixture(scope="module")
def helm() -> Path:
    return find_helm()


@pytest.fixture(scope="module")
def variant(helm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("eks")
    image = {"registry": "123456789012.dkr.ecr.eu-west-1.example", "digest": f"sha256:{'0' * 64}"}
    with tarfile.open(build(helm, folder, image)) as package:
        # Early releases of Python 3.11 have no filters; this archive is our own.
        filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        package.extractall(folder, **filtered)
    return folder / "gpuscope"


def test_rules_hold(variant: Path) -> None:
    assert violations(variant) == []


def test_chart_itself_breaks_only_the_rule_about_hooks() -> None:
    broken = violations(CHART)
    assert broken
    assert all("/tests/" in one and "hook" in one for one in broken)


@pytest.mark.parametrize("flags", [(), EXPLICIT], ids=["as it comes", "explicit"])
def test_all_but_the_test_is_rendered_as_by_the_chart(helm: Path, variant: Path, flags: tuple[str, ...]) -> None:
    def names(chart: Path) -> set[tuple[str, str]]:
        return {(one["kind"], one["metadata"]["name"]) for one in rendered(helm, chart, *flags)}

    assert names(variant) == names(CHART)
    assert ("DaemonSet", "gpuscope-agent") in names(variant)


def test_every_image_is_the_one_that_is_named(helm: Path, variant: Path) -> None:
    wanted = f"123456789012.dkr.ecr.eu-west-1.example/gpuscope/gpuscope@sha256:{'0' * 64}"
    assert images(rendered(helm, variant)) == {wanted}


def test_objects_say_who_manages_them(helm: Path, variant: Path) -> None:
    found = {one["metadata"]["labels"]["app.kubernetes.io/managed-by"] for one in rendered(helm, variant)}
    assert found == {"EKS"}


def test_nothing_speaks_of_the_test_that_was_left_out(variant: Path) -> None:
    values = yaml.safe_load((variant / "values.yaml").read_text(encoding="utf-8"))
    assert values["tests"]["enabled"] is False
    assert not (variant / "files").exists()
    assert not (variant / "templates/tests").exists() or not list((variant / "templates/tests").iterdir())


def test_configuration_values_are_checked(helm: Path, variant: Path) -> None:
    # EKS serves this file to those who configure the add-on.
    assert (variant / "values.schema.json").is_file()
    with pytest.raises(EksError, match="loglevel"):
        rendered(helm, variant, "--set", "agent.loglevel=debug")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("a: {{ .Release.Service }}", "of .Release only"),
        ("a: {{ .Release.IsInstall }}", "of .Release only"),
        ('a: {{ lookup "v1" "Secret" "a" "b" }}', "lookup"),
        ('a: {{ (lookup "v1" "Secret" "a" "b").data }}', "lookup"),
        ("helm.sh/hook: pre-install", "a hook"),
        ("a: {{ .Capabilities.HelmVersion }}", "of .Capabilities only"),
        ("a: {{ randAlphaNum 8 }}", "another text each time"),
        ('a: {{ genCA "a" 1 }}', "another text each time"),
    ],
)
def test_what_breaks_a_rule_is_named_with_its_line(helm: Path, tmp_path: Path, line: str, why: str) -> None:
    chart = tmp_path / "gpuscope"
    shutil.copytree(CHART, chart)
    (chart / "templates/more.yaml").write_text(f"# first\n{line}\n", encoding="utf-8")
    with pytest.raises(EksError, match=rf"templates/more\.yaml:2: {why}"):
        build(helm, tmp_path / "out", chart=chart)
    assert not (tmp_path / "out").exists()


def test_names_that_only_look_like_a_function_are_let_through(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    text = "a: {{ .Values.now }}\nb: {{ .Release.Name }}-{{ .Release.Namespace }}\nlookup: nothing\n"
    (tmp_path / "templates/a.yaml").write_text(text, encoding="utf-8")
    assert violations(tmp_path) == []


def test_charts_from_elsewhere_are_refused(helm: Path, tmp_path: Path) -> None:
    chart = tmp_path / "gpuscope"
    shutil.copytree(CHART, chart)
    about = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    about.setdefault("dependencies", []).append(
        {"name": "other", "version": "1.0.0", "repository": "https://a.example"}
    )
    (chart / "Chart.yaml").write_text(yaml.safe_dump(about), encoding="utf-8")
    with pytest.raises(EksError, match="dependency other is not in the chart"):
        build(helm, tmp_path / "out", chart=chart)


def test_images_beside_the_one_are_refused(helm: Path, tmp_path: Path) -> None:
    chart = tmp_path / "gpuscope"
    shutil.copytree(CHART, chart)
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: other:1}]}\n"
    (chart / "templates/more.yaml").write_text(pod, encoding="utf-8")
    with pytest.raises(EksError, match="one image is wanted"):
        build(helm, tmp_path / "out", chart=chart)


def test_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gpuscope_generator.eks_addon", "--destination", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert Path(done.stdout.strip()).is_file()
    wrong = subprocess.run([*command, "--digest", "latest"], capture_output=True, text=True, timeout=120, check=False)
    assert wrong.returncode == 1
    assert "digest" in wrong.stderr
