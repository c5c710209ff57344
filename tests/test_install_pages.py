"""Pages about the chart name only what is there: values, metrics, files of values that Helm takes."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuscope.catalogue import CLUSTER_METRICS, METRICS
from gpuscope_generator.eks_addon import CHART, find_helm

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs" / f"{name}.md" for name in ("install", "upgrade", "permissions", "troubleshooting", "image")]
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
EXAMPLE = re.compile(r"^ *```yaml\n( *# values\.yaml\n.*?)^ *```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(EXAMPLE.findall(page.read_text(encoding="utf-8")))
]
# What begins like a value of ours and belongs to somebody else's chart.
FOREIGN = {"image.tag", "collector.yaml", "agent.yaml"}


def test_there_are_examples() -> None:
    assert len(BLOCKS) > 10


@pytest.mark.parametrize("block", BLOCKS)
def test_examples_are_taken_by_the_chart(block: str, tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(block, encoding="utf-8")
    command = [str(find_helm()), "template", "gpuscope", str(CHART), "--values", str(tmp_path / "values.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def _has(values: Any, path: list[str]) -> bool:
    if not path:
        return True
    # Below an empty mapping anything may stand; * is any key.
    if values == {}:
        return True
    if path[0] == "*":
        return any(_has(one, path[1:]) for one in values.values())
    return isinstance(values, dict) and path[0] in values and _has(values[path[0]], path[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_values_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-zA-Z]+(?:\.[a-zA-Z*]+)+)(?:[=:][^`]*)?`", text)) - FOREIGN
    ours = {name for name in named if name.partition(".")[0] in VALUES}
    assert [name for name in sorted(ours) if not _has(VALUES, name.split("."))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_metrics_that_are_named_exist(page: Path) -> None:
    known = {metric.name for metric in (*METRICS, *CLUSTER_METRICS)}
    named = set(re.findall(r"\b(gpuscope_[a-z_]+[a-z])", page.read_text(encoding="utf-8")))
    # A pattern of grep may be the beginning of several.
    assert [name for name in sorted(named) if not any(f"{one}_".startswith(f"{name}_") for one in known)] == []
